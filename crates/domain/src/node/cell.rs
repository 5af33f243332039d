//! The state of a cell in the directory.

use std::fmt;
use std::str::FromStr;

/// A cell's readiness for new merchants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellState {
    /// New merchants are put here.
    Open,
    /// No new merchants are put here; those that are here stay.
    Draining,
}

impl CellState {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Draining => "draining",
        }
    }
}

impl fmt::Display for CellState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is no state of a cell.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no state of a cell; it is `open` or `draining`")]
pub struct NoCellState(String);

impl FromStr for CellState {
    type Err = NoCellState;

    fn from_str(word: &str) -> Result<Self, NoCellState> {
        [Self::Open, Self::Draining].into_iter().find(|state| state.as_str() == word).ok_or_else(|| NoCellState(word.to_owned()))
    }
}
