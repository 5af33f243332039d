//! The error when no temporary PostgreSQL can be run.

use std::io;
use std::path::PathBuf;

/// An error from starting, stopping or copying a temporary PostgreSQL.
#[derive(Debug, thiserror::Error)]
pub enum NoPostgres {
    /// A program is neither on the PATH nor in Debian's directory.
    #[error(
        "`{0}` is not installed: install PostgreSQL 15 or newer (Debian, Ubuntu: `apt-get install postgresql`; Fedora: \
         `dnf install postgresql-server`; macOS: `brew install postgresql@17`, and put its `bin` on the PATH), or set DATABASE_URL \
         to a running one"
    )]
    NotInstalled(&'static str),
    #[error(
        "PostgreSQL refuses to run as root, and there is neither a `postgres` nor a `nobody` account to run it under: run this as \
         another user, or set DATABASE_URL to a running PostgreSQL"
    )]
    NoAccount,
    #[error("`{program}` failed: {said}")]
    Failed {
        program: &'static str,
        /// Its output, both stdout and stderr.
        said: String,
    },
    #[error("{0}: {1}")]
    Io(PathBuf, #[source] io::Error),
}
