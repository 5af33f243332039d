//! The carriers that we can buy labels from.

use std::fmt;
use std::str::FromStr;

/// A carrier, or somebody who buys from many of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// EasyPost, and whoever speaks its API.
    EasyPost,
}

/// Why a word is no [`Carrier`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a carrier is easypost")]
pub struct NoCarrier;

impl Carrier {
    /// Its word on the command line and in the database.
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
