//! The errors of the database, without any row's data.

use std::fmt;

/// An error from the database. Its text holds codes and names of the schema, never a row's data.
#[derive(Clone, thiserror::Error)]
pub enum Failed {
    /// The database is unreachable, or did not answer in time.
    #[error("the database is unreachable: {0}")]
    Unreachable(String),
    /// A serialization failure or a deadlock. Trying again may succeed.
    #[error("the transaction collided with another one (SQLSTATE {0})")]
    Collided(String),
    #[error("the constraint {0} was violated")]
    Constraint(String),
    /// Any other error that the database reported.
    #[error("the database refused a statement: {0}")]
    Refused(String),
    /// Our own fault: stored data that this program cannot read, or data that it cannot write.
    #[error("internal error: {0}")]
    Internal(&'static str),
}

const LOCK_TIMEOUT: &str = "SQLSTATE 55P03";
const STATEMENT_TIMEOUT: &str = "SQLSTATE 57014";

impl Failed {
    /// True if the named constraint was violated.
    #[must_use]
    pub fn violates(&self, constraint: &str) -> bool {
        matches!(self, Self::Constraint(violated) if violated == constraint)
    }

    /// The error of a transaction that took too long.
    #[must_use]
    pub fn took_too_long() -> Self {
        Self::Unreachable(STATEMENT_TIMEOUT.to_owned())
    }

    /// The error of the database that a text tells of. Errors of flows pass it on without a word of their own.
    #[must_use]
    pub fn told_by(text: &str) -> Option<Self> {
        let after = |words: &str| text.split_once(words).map(|(_, why)| why.to_owned());
        after("the database is unreachable: ")
            .map(Self::Unreachable)
            .or_else(|| after("the transaction collided with another one (SQLSTATE ").map(Self::Collided))
            .or_else(|| after("the database refused a statement: ").map(Self::Refused))
            .or_else(|| after("the constraint ").filter(|why| why.ends_with(" was violated")).map(Self::Constraint))
            .or_else(|| after("internal error: ").map(|_| Self::Internal("a command failed")))
    }

    /// True if a statement or a transaction took too long.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        matches!(self, Self::Unreachable(why) if why == STATEMENT_TIMEOUT)
    }

    /// True if the database is out of reach. False if a row is locked, or a statement takes too long or is refused: then others may
    /// succeed.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Unreachable(why) => why != LOCK_TIMEOUT && why != STATEMENT_TIMEOUT,
            Self::Collided(_) | Self::Constraint(_) | Self::Refused(_) | Self::Internal(_) => false,
        }
    }
}

impl fmt::Debug for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<sqlx::Error> for Failed {
    fn from(error: sqlx::Error) -> Self {
        match error {
            sqlx::Error::Database(error) => {
                let code = error.code().unwrap_or_default().into_owned();
                match (code.as_str(), error.constraint()) {
                    ("40001" | "40P01", _) => Self::Collided(code),
                    // Lock timeout, read-only transaction, a transaction that was idle for too long, or an object that is not ready.
                    ("55P03" | "25006" | "25P03" | "55000", _) => Self::Unreachable(format!("SQLSTATE {code}")),
                    // Connection failure, insufficient resources, operator intervention (shutdown, start-up), system error.
                    (code, _) if ["08", "53", "57", "58"].iter().any(|class| code.starts_with(class)) => {
                        Self::Unreachable(format!("SQLSTATE {code}"))
                    }
                    (_, Some(constraint)) => Self::Constraint(constraint.to_owned()),
                    (_, None) => Self::Refused(format!("SQLSTATE {code}")),
                }
            }
            sqlx::Error::Io(error) => Self::Unreachable(error.to_string()),
            // What arrives is cut off or mixed up: the connection is of no use.
            sqlx::Error::Protocol(_) => Self::Unreachable("the connection broke".to_owned()),
            sqlx::Error::Tls(_) => Self::Unreachable("TLS failed".to_owned()),
            sqlx::Error::PoolTimedOut => Self::Unreachable("no connection became free in time".to_owned()),
            sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => Self::Unreachable("the pool is closed".to_owned()),
            sqlx::Error::Configuration(_) => Self::Refused("the URL of the database is invalid".to_owned()),
            sqlx::Error::RowNotFound => Self::Refused("an expected row is missing".to_owned()),
            sqlx::Error::ColumnDecode { index, .. } => Self::Refused(format!("the column {index} could not be decoded")),
            _ => Self::Refused("an unexpected error from the database client".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_breaks_within_an_answer_makes_the_database_unreachable() {
        let failed = Failed::from(sqlx::Error::Protocol("a message ends too early".to_owned()));
        assert!(matches!(failed, Failed::Unreachable(_)) && failed.is_outage(), "{failed}");
    }

    #[test]
    fn a_text_tells_of_the_error_that_is_in_it() {
        let all = [
            Failed::took_too_long(),
            Failed::Collided("40001".to_owned()),
            Failed::Constraint("operator_email_is_unique".to_owned()),
            Failed::Refused("SQLSTATE 42501".to_owned()),
            Failed::Internal("a stored role is unknown"),
        ];
        for failed in all {
            let told = Failed::told_by(&format!("the erasure is incomplete: {failed}"));
            let same = told.as_ref().map(std::mem::discriminant) == Some(std::mem::discriminant(&failed));
            assert!(same && told.is_some_and(|told| told.timed_out() == failed.timed_out()), "{failed}");
        }
        assert!(Failed::told_by("there is no merchant `acme`").is_none());
    }

    #[test]
    fn a_transaction_that_took_too_long_is_no_outage() {
        assert!(!Failed::took_too_long().is_outage());
    }
}
