//! The carriers that labels are bought from.

use std::fmt;
use std::str::FromStr;

/// A carrier, or an aggregator of carriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// EasyPost, or any service with the same API.
    EasyPost,
}

/// The text is not a [`Carrier`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown carrier; the only one is easypost")]
pub struct NoCarrier;

impl Carrier {
    /// The name on the command line and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EasyPost => "easypost",
        }
    }
}

impl fmt::Display for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Carrier {
    type Err = NoCarrier;

    fn from_str(word: &str) -> Result<Self, NoCarrier> {
        if word == Self::EasyPost.as_str() { Ok(Self::EasyPost) } else { Err(NoCarrier) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_carrier_is_written_and_read_back() {
        assert_eq!((Carrier::EasyPost.to_string().as_str(), "easypost".parse()), ("easypost", Ok(Carrier::EasyPost)));
        for wrong in ["", "EasyPost", "ups"] {
            assert_eq!(wrong.parse::<Carrier>(), Err(NoCarrier), "{wrong:?}");
        }
    }
}
