//! The time that a migration waits for its locks, and the error when that is not enough.

use std::time::Duration;

use sqlx::migrate::MigrateError as SqlxError;

/// The time that a migration waits for a lock. Whoever comes after it waits as long.
pub(in crate::node) const LOCK_TIMEOUT: &str = "set lock_timeout = '100ms'";
/// The pause before the next try, and the number of tries: ten minutes.
pub(in crate::node) const AGAIN_AFTER: Duration = Duration::from_secs(1);
pub(in crate::node) const TRIES: u32 = 600;

/// An error from applying a migration.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotApplied(pub(super) String);

impl From<SqlxError> for NotApplied {
    fn from(error: SqlxError) -> Self {
        Self(error.to_string())
    }
}

impl From<sqlx::Error> for NotApplied {
    fn from(error: sqlx::Error) -> Self {
        Self(error.to_string())
    }
}

/// True if the migration ended because of a lock timeout or a deadlock.
pub(super) fn was_busy(error: &SqlxError) -> bool {
    let (SqlxError::Execute(error) | SqlxError::ExecuteMigration(error, _)) = error else { return false };
    is_busy(error)
}

/// True for a lock timeout or a deadlock.
pub(in crate::node) fn is_busy(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(error) if matches!(error.code().as_deref(), Some("55P03" | "40P01")))
}
