//! `backhaul doctor`: checks the installation, and says how to fix what is wrong.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use sandbox::postgres;

use crate::app::App;
use crate::cli::dev::database::explain;
use crate::cli::output::{self, Format};
use crate::node::health::{self, Check};
use crate::node::{certificate, database};
use crate::platform::clock::Clock;
use crate::platform::config::Settings;
use crate::platform::entropy::Entropy;

#[derive(Args)]
pub(in crate::cli) struct Doctor {
    /// Check only that this machine can run `backhaul dev`: PostgreSQL's programs and a writable temporary directory.
    #[arg(long)]
    dev: bool,
}

pub(in crate::cli) async fn run(doctor: Doctor, settings: anyhow::Result<Settings>, format: Format) -> anyhow::Result<ExitCode> {
    let checks = if doctor.dev { machine() } else { installation(settings).await };
    output::list(format, &checks, "", &["OK", "CHECK", "FOUND", "WHAT TO DO"], |check| {
        let sign = if check.ok { "yes" } else { "no" };
        vec![sign.to_owned(), check.name.to_owned(), check.found.clone(), check.mend.clone().unwrap_or_default()]
    })?;
    Ok(if checks.iter().all(|check| check.ok) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn installation(settings: anyhow::Result<Settings>) -> Vec<Check> {
    let app = settings.and_then(|settings| Ok(App::new(settings, Clock::system(), Entropy::system())?));
    match app {
        Ok(app) => {
            let mut checks = vec![Check::good("settings", "valid")];
            checks.push(database::protection(&app.settings));
            checks.extend(health::examine(&app).await);
            checks.extend(database::examine(&app).await);
            checks.extend(certificate::examine(&app.settings, app.clock.wall()));
            checks.extend(certificate::examine_hosts(&app).await);
            checks
        }
        Err(error) => {
            vec![Check::bad("settings", format!("{error:#}"), "correct the setting; `backhaul config default` explains all of them")]
        }
    }
}

/// Checks that `backhaul dev` can start a temporary PostgreSQL.
fn machine() -> Vec<Check> {
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
