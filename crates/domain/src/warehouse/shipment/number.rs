//! The ASN numbers of a shipment and of its parts.

use std::fmt;
use std::str::FromStr;

use crate::warehouse::asn::{LONGEST_NUMBER, is_number};

/// The characters reserved for the suffix of a part, `_999999`.
const SUFFIX: usize = 7;

/// The number of a shipment. Its messages carry it, with a suffix if there are several.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AsnNumber(String);

/// The text is not a valid [`AsnNumber`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an ASN number must be 1 to 248 letters, digits, hyphens or underscores")]
pub struct NoAsnNumber;

impl AsnNumber {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The numbers in the messages of a shipment of `parts` messages: the number itself for one, with the suffixes `_1`, `_2`, …
    /// for several.
    pub fn sent(&self, parts: u32) -> impl Iterator<Item = String> {
        (1..=parts).map(move |part| self.of_part(part, parts))
    }

    /// The number of the message `part`, from 1, of a shipment of `parts` messages.
    #[must_use]
    pub fn of_part(&self, part: u32, parts: u32) -> String {
        if parts == 1 { self.0.clone() } else { format!("{}_{part}", self.0) }
    }
}

impl FromStr for AsnNumber {
    type Err = NoAsnNumber;

    fn from_str(text: &str) -> Result<Self, NoAsnNumber> {
        let leaves_room = text.len() + SUFFIX <= LONGEST_NUMBER;
        if is_number(text) && leaves_room { Ok(Self(text.to_owned())) } else { Err(NoAsnNumber) }
    }
}

impl fmt::Display for AsnNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
