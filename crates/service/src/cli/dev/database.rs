//! The database of `backhaul dev`: a temporary PostgreSQL, or the one named by `DATABASE_URL`.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use domain::node::mode::Mode;
use sandbox::postgres::{Cluster, NoPostgres};
use store::node::installation;

use super::leftovers::Place;
use super::paint::Steps;
use crate::app::App;
use crate::cli::confirm::Confirmation;
use crate::cli::output;
use crate::platform::clock::Clock;
use crate::platform::config::Settings;
use crate::platform::entropy::Entropy;

/// The database of this run.
pub(super) enum Database {
    /// Removed when `backhaul dev` ends.
    Temporary(Cluster, #[expect(dead_code, reason = "its lock is held for as long as the cluster runs")] Place),
    /// The developer's own, named by `DATABASE_URL`; it stays.
    Given(String),
}

impl Database {
    /// Starts or opens the database, and makes sure that it may be written to. With `reset`, an existing sandbox is emptied first.
    pub(super) async fn open(settings: &Settings, reset: Option<&Confirmation>, steps: &Steps) -> anyhow::Result<Self> {
        if std::env::var_os("DATABASE_URL").is_none_or(|url| url.is_empty()) {
            if reset.is_some() {
                output::line("  --reset has no effect without DATABASE_URL: the temporary PostgreSQL is always empty.");
            }
            return Self::temporary(steps).await;
        }
        let url = settings.database.url().to_owned();
        let admitted = admit(settings, reset).await?;
        steps.take("Database of DATABASE_URL", admitted.prepare()).await?;
        Ok(Self::Given(url))
    }

    /// Starts a temporary PostgreSQL.
    pub(super) async fn temporary(steps: &Steps) -> anyhow::Result<Self> {
        let (cluster, place) = steps.take("Temporary PostgreSQL", start_temporary()).await?;
        Ok(Self::Temporary(cluster, place))
    }

    pub(super) fn url(&self) -> String {
        match self {
            Self::Temporary(cluster, _) => cluster.url("postgres"),
            Self::Given(url) => url.clone(),
        }
    }

    /// Stops a temporary PostgreSQL and removes its data.
    pub(super) fn close(&self) -> anyhow::Result<()> {
        match self {
            Self::Temporary(cluster, _) => Ok(cluster.stop()?),
            Self::Given(_) => Ok(()),
        }
    }
}

/// Leaves no PostgreSQL behind, however the process ends.
impl Drop for Database {
    fn drop(&mut self) {
        if let Self::Temporary(cluster, _) = self {
            // It may have been stopped already.
            let _ = cluster.stop();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "starting PostgreSQL blocks, and Ctrl-C must still be handled")]
async fn start_temporary() -> anyhow::Result<(Cluster, Place)> {
    let start = || -> Result<(Cluster, Place), NoPostgres> {
        let place = Place::take(&std::env::temp_dir())?;
        place.remove_leftovers();
        Ok((Cluster::start(&place.dir)?, place))
    };
    tokio::task::spawn_blocking(move || start().map_err(explain)).await?
}

/// Turns an error from starting the temporary PostgreSQL into one that says what to do.
pub(super) fn explain(error: NoPostgres) -> anyhow::Error {
    let temporary = std::env::temp_dir();
    match &error {
        NoPostgres::Io(path, io) => anyhow!("{}", place(path, io.kind(), &io.to_string())),
        NoPostgres::Failed { program, said } if said.contains("No space left") => {
            anyhow!(
                "`{program}` failed, there is no space left in {}: free some space, or set TMPDIR to a directory that has some",
                temporary.display()
            )
        }
        NoPostgres::Failed { program, said } if said.contains("Permission denied") => anyhow!(
            "`{program}` has no access to {} (for root, it runs as another user): set TMPDIR to a directory such as /tmp\n{said}",
            temporary.display()
        ),
        NoPostgres::NotInstalled(_) | NoPostgres::NoAccount | NoPostgres::Failed { .. } => error.into(),
    }
}

fn place(path: &Path, kind: ErrorKind, said: &str) -> String {
    let what = match kind {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "there is no space left: free some space, or set TMPDIR to a directory that has some"
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => "it is not writable: set TMPDIR to a writable directory",
        ErrorKind::NotFound => "there is no such directory: set TMPDIR to an existing directory",
        _ => said,
    };
    format!("{}: {what}", path.display())
}

/// A given database that may be written to.
struct Admitted {
    app: App,
    /// The tables to drop.
    reset: Option<i64>,
}

impl Admitted {
    /// Empties the sandbox if it is to be reset.
    async fn prepare(self) -> anyhow::Result<()> {
        self.app.cell().close().await;
        if let Some(tables) = self.reset {
            installation::forget_sandbox(self.app.settings.database.url()).await.context("emptying the sandbox failed")?;
            output::line(&format!("  --reset: all {tables} tables of this sandbox were dropped."));
        }
        Ok(())
    }
}

/// Makes sure that the given database is a sandbox or empty; with `reset`, asks whether a sandbox may be emptied.
async fn admit(settings: &Settings, reset: Option<&Confirmation>) -> anyhow::Result<Admitted> {
    let mut settings = settings.clone();
    settings.mode = Mode::Sandbox;
    let app = App::new(settings, Clock::system(), Entropy::system())?;
    let unreachable = "the database that DATABASE_URL names is unreachable; start it, or unset DATABASE_URL to use a temporary PostgreSQL";
    app.cell().reach().await.context(unreachable)?;
    let mode = app.cell().mode().await.context(unreachable)?;
    match mode {
        Some(Mode::Production) => bail!(
            "DATABASE_URL names a production database, and `backhaul dev` never touches one: set it to an empty database or a sandbox, \
             or unset it to use a temporary PostgreSQL"
        ),
        Some(Mode::Sandbox) => {
            let Some(confirmation) = reset else { return Ok(Admitted { app, reset: None }) };
            let (tables, name) = (app.cell().count_tables().await?, app.cell().name().await?);
            let preview = format!(
                "--reset drops all {tables} tables and all functions of the database {name}, whoever made them. It cannot be undone."
            );
            confirmation.ask(&preview, &name)?;
            Ok(Admitted { app, reset: Some(tables) })
        }
        None => {
            let tables = app.cell().count_tables().await?;
            if tables > 0 {
                bail!(
                    "DATABASE_URL names a database with {} of another program: set it to an empty database (`createdb`), \
                     or unset it to use a temporary PostgreSQL",
                    output::counted(tables, "table")
                );
            }
            Ok(Admitted { app, reset: None })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_storage_error_says_what_to_do() {
        for (kind, word) in [
            (ErrorKind::StorageFull, "free some space"),
            (ErrorKind::PermissionDenied, "not writable"),
            (ErrorKind::NotFound, "no such directory"),
        ] {
            let message = place(Path::new("/tmp/x"), kind, "");
            assert!(message.starts_with("/tmp/x: ") && message.contains(word) && message.contains("TMPDIR"), "{message}");
        }
        let full = NoPostgres::Failed { program: "initdb", said: "write: No space left on device".to_owned() };
        assert!(explain(full).to_string().contains("free some space"));
    }
}
