//! Labels that are bought for returns.

use super::rma::word::words;

words! {
    /// The states of a label's purchase.
    LabelState, "state of a label" {
        /// It is being bought.
        Ordered = "ordered",
        Bought = "bought",
        /// The carrier refuses it for good. Somebody can ask again, or the shopper hands the goods over without a label.
        Refused = "refused",
        /// It is no longer needed: the return was cancelled, or refunded before there was a label.
        Withdrawn = "withdrawn",
    }
}

/// Refusals of a carrier are believed from this attempt on. Carriers also answer so when their own systems are in trouble.
pub const BELIEVED_FROM: i16 = 3;

/// The status of a purchase that the carrier refuses: repeating the request is pointless.
pub const REFUSED: u16 = 422;
