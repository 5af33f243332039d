//! Whether an installation is the real thing.

use std::fmt;
use std::str::FromStr;

/// Written into the database by its first migration, and never changed: a sandbox cannot become production by a
/// setting, nor can production be given a movable clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Real merchants, real shoppers.
    Production,
    /// For trying things out.
    Sandbox,
}

/// A word that names no [`Mode`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the mode is either `production` or `sandbox`")]
pub struct NoMode;

impl Mode {
    /// The word used in the configuration and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Production => "production",
            Self::Sandbox => "sandbox",
        }
    }
}

impl FromStr for Mode {
    type Err = NoMode;

    fn from_str(text: &str) -> Result<Self, NoMode> {
        match text {
            "production" => Ok(Self::Production),
            "sandbox" => Ok(Self::Sandbox),
            _ => Err(NoMode),
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
