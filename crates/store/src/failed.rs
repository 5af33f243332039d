//! The errors of the database, without any row's data.

use std::fmt;

/// The database did not do what was asked. What it prints holds codes and names of the schema, never a row's data.
#[derive(Clone, thiserror::Error)]
pub enum Failed {
    /// It cannot be reached, or did not answer in time.
    #[error("the database cannot be reached: {0}")]
    Unreachable(String),
    /// Two transactions stood in each other's way; the same again may go through.
    #[error("the transaction collided with another one (SQLSTATE {0})")]
    Collided(String),
    /// A rule of the schema was broken.
    #[error("the constraint {0} was violated")]
    Constraint(String),
    /// Any other refusal of the database.
    #[error("the database refused a statement: {0}")]
    Refused(String),
    /// Not the database's fault: stored data that this program cannot read, or data of its own that it cannot write.
    #[error("internal error: {0}")]
    Internal(&'static str),
}

impl Failed {
    /// Whether the named constraint was violated.
    #[must_use]
    pub fn violates(&self, constraint: &str) -> bool {
        matches!(self, Self::Constraint(violated) if violated == constraint)
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
                    // The server gave up waiting, takes no writes, or takes no connections.
                    ("55P03" | "25006" | "55000", _) => Self::Unreachable(format!("SQLSTATE {code}")),
                    // The connection broke, the server is out of something, is going down or coming up, or its disk fails.
                    (trouble, _) if ["08", "53", "57", "58"].iter().any(|class| trouble.starts_with(class)) => {
                        Self::Unreachable(format!("SQLSTATE {code}"))
                    }
                    (_, Some(constraint)) => Self::Constraint(constraint.to_owned()),
                    (_, None) => Self::Refused(format!("SQLSTATE {code}")),
                }
            }
            sqlx::Error::Io(error) => Self::Unreachable(error.to_string()),
            sqlx::Error::Tls(_) => Self::Unreachable("TLS failed".to_owned()),
            sqlx::Error::PoolTimedOut => Self::Unreachable("no connection became free in time".to_owned()),
            sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => Self::Unreachable("the pool is closed".to_owned()),
            sqlx::Error::Configuration(_) => Self::Refused("the database's address is not understood".to_owned()),
            sqlx::Error::RowNotFound => Self::Refused("a row that must be there is absent".to_owned()),
            sqlx::Error::ColumnDecode { index, .. } => Self::Refused(format!("the column {index} does not decode")),
            _ => Self::Refused("unexpected answer".to_owned()),
        }
    }
}
