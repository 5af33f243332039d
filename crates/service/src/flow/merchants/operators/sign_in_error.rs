//! The reasons that a sign-in fails.

use chrono::{DateTime, Utc};
use store::Failed;

use crate::platform::keys::password::NotHashed;

/// The reasons that a sign-in fails.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// Also when there is no such account, or it is disabled.
    #[error("the e-mail address or the password is wrong")]
    Wrong,
    #[error("the code is wrong, or was used before")]
    WrongCode,
    /// The password was changed, or the ticket is too old.
    #[error("the sign-in took too long")]
    Outdated,
    #[error("too many tries failed; the next one is possible at {0}")]
    TooSoon(DateTime<Utc>),
    #[error(transparent)]
    Failed(#[from] Failed),
}

impl From<NotHashed> for SignInError {
    fn from(_: NotHashed) -> Self {
        Self::Failed(Failed::Internal("a password cannot be compared"))
    }
}
