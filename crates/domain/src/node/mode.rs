//! The mode of an installation: production or sandbox.

use std::fmt;
use std::str::FromStr;

/// The mode of an installation. The first migration writes it into the database, and it never changes: no setting can turn a
/// sandbox into production, or give production a movable clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Production,
    Sandbox,
}

/// The text is not a [`Mode`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the mode must be `production` or `sandbox`")]
pub struct NoMode;

impl Mode {
    /// The name in the configuration and in the database.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_written_and_read_back() {
        for (mode, word) in [(Mode::Production, "production"), (Mode::Sandbox, "sandbox")] {
            assert_eq!((mode.to_string().as_str(), word.parse()), (word, Ok(mode)));
        }
        for wrong in ["", "Production", "test"] {
            assert_eq!(wrong.parse::<Mode>(), Err(NoMode), "{wrong:?}");
        }
    }
}
