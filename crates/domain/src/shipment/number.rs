//! The number of a shipment, and the numbers of its parts.

use std::fmt;
use std::str::FromStr;

use crate::asn::{LONGEST_NUMBER, is_number};

/// How many characters are kept free for the suffix of a part, `_999999`.
const SUFFIX: usize = 7;

/// The number under which a shipment was made: what its messages carry, or what theirs begin with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AsnNumber(String);

/// Why a text is no [`AsnNumber`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an ASN number is 1 to 248 letters, digits, hyphens or underscores")]
pub struct NoAsnNumber;

impl AsnNumber {
    /// The number as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The numbers as they are sent, of a shipment that is told in `parts` messages: its own for one, and with the suffixes
    /// `_1`, `_2`, … for several.
    pub fn sent(&self, parts: u32) -> impl Iterator<Item = String> {
        (1..=parts).map(move |part| self.of_part(part, parts))
    }

    /// The number of the part `part`, counted from 1, of a shipment that is told in `parts` messages.
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
