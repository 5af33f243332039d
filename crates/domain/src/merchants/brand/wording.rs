//! The texts that a merchant can word itself.

use crate::returns::rma::word::words;

words! {
    /// A text that a merchant can word itself, in each language on its own.
    Wording, "text" {
        /// The line below the heading of the first page.
        Welcome = "welcome",
        /// A line more in the list of what the merchant promises.
        Promise = "promise",
        /// When somebody answers the phone or a mail.
        HelpHours = "help-hours",
    }
}

impl Wording {
    /// The most characters of such a text.
    pub const LONGEST: usize = 200;
}
