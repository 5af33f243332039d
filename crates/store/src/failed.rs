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
    /// The merchant lives in another cell, or is just moving there. Nothing was written; there it will be taken.
    #[error("the merchant is moving to another cell, or lives there already")]
    Moved,
    /// The directory names a cell that the settings of this process do not.
    #[error("the merchant lives in the cell `{0}`, which this process does not know; add it to `[[cells]]` in the settings")]
    UnknownCell(String),
    #[error("the constraint {0} was violated")]
    Constraint(String),
    /// Any other error that the database reported.
    #[error("the database refused the request: {0}")]
    Refused(String),
    /// Our own fault: stored data that this program cannot read, or data that it cannot write.
    #[error("internal error: {0}")]
    Internal(&'static str),
}

/// The code with which the schema refuses to write the data of a merchant that lives in another cell.
const MOVED: &str = "BH001";

/// The code with which a node refuses to work in a cell that has just left it.
pub(crate) const LEFT: &str = "BH002";

const LOCK_TIMEOUT: &str = "SQLSTATE 55P03";
const STATEMENT_TIMEOUT: &str = "SQLSTATE 57014";

/// The beginning of the text of a TLS connection that was not made.
const NO_TLS: &str = "TLS failed";

/// The codes of errors that do not go away by waiting: somebody has to change a setting.
const PERMANENT: [&str; 4] = ["28P01", "28000", "3D000", "42501"];

/// What an error of the database means, and what to do about it.
fn explain(code: &str) -> Option<&'static str> {
    Some(match code {
        "28P01" => "the password of this role is wrong; correct the user and the password in DATABASE_URL",
        "28000" => "this role does not exist, or may not connect from here; correct the role in DATABASE_URL, or pg_hba.conf",
        "3D000" => "there is no database of this name; create it with `createdb`, or correct the name in DATABASE_URL",
        "42P01" => "a table is missing; run `backhaul migrate`",
        "42703" => "a column is missing; run `backhaul migrate`",
        "42501" => "this role lacks a right; run `backhaul migrate --grant-to ROLE` as the owner of the tables",
        "53100" => "its disk is full; free some space on the database's machine",
        "53200" => "it is out of memory; see its log",
        "53300" => "it has no connection to spare; raise max_connections in postgresql.conf, or lower database.connections",
        "25006" => "it is read-only; set DATABASE_URL to the primary, or promote the standby",
        "57P01" | "57P02" => "it is shutting down; start it again",
        "57P03" => "it is starting up or shutting down; wait until it is ready",
        _ => return None,
    })
}

/// True for what Citus appends to a name on a shard, such as `_102008`.
fn is_shard_suffix(rest: &str) -> bool {
    rest.strip_prefix('_').is_some_and(|shard| !shard.is_empty() && shard.bytes().all(|byte| byte.is_ascii_digit()))
}

/// True for the text of an error of Citus, which has no code of its own: the node that holds the cell broke the connection to the node
/// that passed the statement on.
fn lost_a_node(message: &str) -> bool {
    ["server closed the connection unexpectedly", "failure on connection marked as essential"].iter().any(|text| message.starts_with(text))
}

/// The code, with what it means if that is known.
fn told(code: &str) -> String {
    explain(code).map_or_else(|| format!("SQLSTATE {code}"), |told| format!("{told} (SQLSTATE {code})"))
}

impl Failed {
    /// True if the named constraint was violated. Keys of a table that Citus distributes carry the number of the shard after their
    /// name.
    #[must_use]
    pub fn violates(&self, constraint: &str) -> bool {
        let Self::Constraint(violated) = self else { return false };
        violated.strip_prefix(constraint).is_some_and(|rest| rest.is_empty() || is_shard_suffix(rest))
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
            .or_else(|| after("the merchant is moving to another cell").map(|_| Self::Moved))
            .or_else(|| {
                after("the merchant lives in the cell `").and_then(|why| Some(Self::UnknownCell(why.split_once('`')?.0.to_owned())))
            })
            .or_else(|| after("the database refused the request: ").map(Self::Refused))
            .or_else(|| after("the constraint ").filter(|why| why.ends_with(" was violated")).map(Self::Constraint))
            .or_else(|| after("internal error: ").map(|_| Self::Internal("a command failed")))
    }

    /// True if a statement or a transaction took too long.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        matches!(self, Self::Unreachable(why) if why == STATEMENT_TIMEOUT)
    }

    /// True if waiting does not help, because somebody has to change a setting: the password, the name of the database, TLS.
    #[must_use]
    pub fn is_permanent(&self) -> bool {
        match self {
            Self::Unreachable(why) | Self::Refused(why) => {
                why.starts_with(NO_TLS) || PERMANENT.iter().any(|code| why.ends_with(&format!("(SQLSTATE {code})")))
            }
            Self::Collided(_) | Self::Moved | Self::UnknownCell(_) | Self::Constraint(_) | Self::Internal(_) => false,
        }
    }

    /// True if the database is out of reach. False if a row is locked, or a statement takes too long or is refused: then others may
    /// succeed.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Unreachable(why) => why != LOCK_TIMEOUT && why != STATEMENT_TIMEOUT,
            Self::Collided(_) | Self::Moved | Self::UnknownCell(_) | Self::Constraint(_) | Self::Refused(_) | Self::Internal(_) => false,
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
                    (MOVED, _) => Self::Moved,
                    (LEFT, _) => Self::Unreachable("the cell is moving to another node".to_owned()),
                    // Lock timeout, read-only transaction, a transaction that was idle for too long, or an object that is not ready.
                    ("55P03" | "25006" | "25P03" | "55000", _) => Self::Unreachable(told(&code)),
                    // Connection failure, insufficient resources, operator intervention (shutdown, start-up), system error.
                    (code, _) if ["08", "53", "57", "58"].iter().any(|class| code.starts_with(class)) => Self::Unreachable(told(code)),
                    ("XX000", _) if lost_a_node(error.message()) => {
                        Self::Unreachable("a node of the cluster broke its connection".to_owned())
                    }
                    (_, Some(constraint)) => Self::Constraint(constraint.to_owned()),
                    (code, None) => Self::Refused(told(code)),
                }
            }
            sqlx::Error::Io(error) => Self::Unreachable(error.to_string()),
            // What arrives is cut off or mixed up: the connection is of no use.
            sqlx::Error::Protocol(_) => Self::Unreachable("the connection broke".to_owned()),
            // The texts of TLS are about certificates and versions.
            sqlx::Error::Tls(error) => Self::Unreachable(format!(
                "{NO_TLS}: {error}; correct sslmode and sslrootcert in DATABASE_URL, or the certificate of the server"
            )),
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
    fn a_node_that_lost_the_one_it_passed_a_statement_on_to_is_recognised() {
        assert!(lost_a_node("server closed the connection unexpectedly\n\tThis probably means the server terminated abnormally"));
        assert!(lost_a_node("failure on connection marked as essential: 127.0.0.1:5433"));
        assert!(!lost_a_node("cache lookup failed for type 0"));
    }

    #[test]
    fn a_constraint_is_known_by_its_name_on_a_shard_too() {
        let violated = |name: &str| Failed::Constraint(name.to_owned());
        for name in ["rma_by_identifier", "rma_by_identifier_102008"] {
            assert!(violated(name).violates("rma_by_identifier"), "{name}");
        }
        for name in ["rma_by_identifier_", "rma_by_identifier_2_102008", "rma_by_identifier_old", "rma_by"] {
            assert!(!violated(name).violates("rma_by_identifier"), "{name}");
        }
        assert!(!Failed::Refused("rma_by_identifier".to_owned()).violates("rma_by_identifier"));
    }

    #[test]
    fn a_text_tells_of_the_error_that_is_in_it() {
        let all = [
            Failed::took_too_long(),
            Failed::Collided("40001".to_owned()),
            Failed::Moved,
            Failed::UnknownCell("b".to_owned()),
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
    fn what_waiting_does_not_mend_is_permanent() {
        for code in PERMANENT {
            let failed = Failed::Refused(told(code));
            assert!(failed.is_permanent() && failed.to_string().contains("; "), "{failed}");
        }
        assert!(Failed::from(sqlx::Error::Tls("the server does not support TLS".into())).is_permanent());
        for passing in [Failed::took_too_long(), Failed::Unreachable(told("57P03")), Failed::from(sqlx::Error::PoolTimedOut)] {
            assert!(!passing.is_permanent(), "{passing}");
        }
    }

    #[test]
    fn a_transaction_that_took_too_long_is_no_outage() {
        assert!(!Failed::took_too_long().is_outage());
    }
}
