//! Keys kept outside the database, and the tokens and secrets made with them.

pub mod bearer;
pub mod fingerprint;
pub mod password;
pub mod ring;
pub mod sealing;
pub mod source;
pub mod totp;

/// The kinds of keys of an installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Seals secrets.
    Sealing,
    /// Computes the fingerprints of shoppers.
    Fingerprint,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Sealing, Self::Fingerprint];

    /// The name in the database and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sealing => "sealing",
            Self::Fingerprint => "fingerprint",
        }
    }
}

/// The error for a text that is not a [`Kind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a kind of keys is `sealing` or `fingerprint`")]
pub struct NoKind;

impl std::str::FromStr for Kind {
    type Err = NoKind;

    fn from_str(text: &str) -> Result<Self, NoKind> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or(NoKind)
    }
}

/// A key as the database knows it: by its id, and by a value with which a wrong key is noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    pub kind: Kind,
    pub id: String,
    /// A keyed hash of the id, which says nothing about the key.
    pub check: [u8; 16],
}
