//! Whether this machine can run `backhaul dev`.

use std::path::Path;

use sandbox::postgres;

use super::database::explain;
use crate::node::health::Check;

/// Checks that `backhaul dev` can start a temporary PostgreSQL.
pub(in crate::cli) fn machine() -> Vec<Check> {
    let programs = match postgres::installed() {
        Ok(initdb) => Check::good("postgresql", initdb.display().to_string()),
        Err(missing) => {
            let message = missing.to_string();
            let (found, mend) = message.split_once(": ").unwrap_or((message.as_str(), "install PostgreSQL 15 or newer"));
            Check::bad("postgresql", found, mend)
        }
    };
    vec![programs, temporary_directory(&std::env::temp_dir())]
}

/// Checks that a file of one megabyte can be written to `dir`.
fn temporary_directory(dir: &Path) -> Check {
    let file = dir.join(format!("backhaul-doctor-{}", std::process::id()));
    let written = std::fs::write(&file, vec![0; 1 << 20]);
    let removed = std::fs::remove_file(&file);
    match written.and(removed) {
        Ok(()) => Check::good("temporary directory", dir.display().to_string()),
        Err(error) => {
            let message = explain(postgres::NoPostgres::Io(dir.to_owned(), error)).to_string();
            let (found, mend) = message.rsplit_once(": ").unwrap_or((message.as_str(), "set TMPDIR to a writable directory"));
            Check::bad("temporary directory", found, mend)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_temporary_directory_is_explained() {
        let check = temporary_directory(Path::new("/nowhere/at/all"));
        assert!(!check.ok);
        assert_eq!(check.mend.as_deref(), Some("set TMPDIR to an existing directory"));
        assert!(temporary_directory(&std::env::temp_dir()).ok);
    }
}
