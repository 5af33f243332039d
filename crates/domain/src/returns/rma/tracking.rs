//! Tracking numbers.

use std::fmt;
use std::str::FromStr;

/// A carrier's tracking number: 1 to 255 characters without control characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrackingNumber(String);

/// The text is not a valid [`TrackingNumber`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a tracking number must be 1 to 255 characters, without control characters")]
pub struct NoTrackingNumber;

impl TrackingNumber {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TrackingNumber {
    type Err = NoTrackingNumber;

    fn from_str(text: &str) -> Result<Self, NoTrackingNumber> {
        let text = text.trim();
        let fits = (1..=255).contains(&text.chars().count()) && !text.chars().any(char::is_control);
        if fits { Ok(Self(text.to_owned())) } else { Err(NoTrackingNumber) }
    }
}

impl fmt::Display for TrackingNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
