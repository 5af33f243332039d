//! The database of `backhaul dev`: a temporary PostgreSQL, or the one that `DATABASE_URL` names.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use domain::mode::Mode;
use sandbox::postgres::{Cluster, NoPostgres};
use store::installation;

use super::paint::Steps;
use crate::app::App;
use crate::cli::output;
use crate::clock::Clock;
use crate::config::Settings;
use crate::entropy::Entropy;

/// Where the data is while it runs.
pub(super) enum Database {
    /// Gone when it ends.
    Temporary(Cluster),
    /// The developer's own, which stays.
    Given(String),
}

impl Database {
    /// Finds a database, and makes sure that it may be written to. With `reset`, what a sandbox holds is forgotten.
    pub(super) async fn open(settings: &Settings, reset: bool, steps: &Steps) -> anyhow::Result<Self> {
        if std::env::var_os("DATABASE_URL").is_none_or(|url| url.is_empty()) {
            if reset {
                output::line("  Without DATABASE_URL every start begins anew: there is nothing to reset.");
            }
            return steps.take("Temporary PostgreSQL", start_temporary()).await.map(Self::Temporary);
        }
        let url = settings.database.url().to_owned();
        steps.take("Database of DATABASE_URL", admit(settings, reset)).await?;
        Ok(Self::Given(url))
    }

    pub(super) fn url(&self) -> String {
        match self {
            Self::Temporary(cluster) => cluster.url("postgres"),
            Self::Given(url) => url.clone(),
        }
    }

    /// Ends a temporary one and removes its data.
    pub(super) fn close(&self) -> anyhow::Result<()> {
        match self {
            Self::Temporary(cluster) => Ok(cluster.stop()?),
            Self::Given(_) => Ok(()),
        }
    }
}

/// However it ends, also by a terminal that is gone, no PostgreSQL is left behind.
impl Drop for Database {
    fn drop(&mut self) {
        if let Self::Temporary(cluster) = self {
            // Where it was closed already there is nothing to stop.
            let _ = cluster.stop();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "PostgreSQL's programs are waited for, while Ctrl-C must be heard")]
async fn start_temporary() -> anyhow::Result<Cluster> {
    let dir = std::env::temp_dir().join(format!("backhaul-dev-{}", std::process::id()));
    let start = move || Cluster::start(&dir).map_err(explain);
    tokio::task::spawn_blocking(start).await?
}

/// What to do when there is no temporary PostgreSQL; what is not installed says so itself.
pub(crate) fn explain(error: NoPostgres) -> anyhow::Error {
    let temporary = std::env::temp_dir();
    match &error {
        NoPostgres::Io(path, io) => anyhow!("{}", place(path, io.kind(), &io.to_string())),
        NoPostgres::Failed { program, said } if said.contains("No space left") => {
            anyhow!("`{program}` found no space in {}: make room, or set TMPDIR to a place that has some", temporary.display())
        }
        NoPostgres::Failed { program, said } if said.contains("Permission denied") => anyhow!(
            "`{program}` may not use {} (as root, it runs as another user, who must be let in): set TMPDIR to a place such as /tmp\n{said}",
            temporary.display()
        ),
        NoPostgres::NotInstalled(_) | NoPostgres::NoAccount | NoPostgres::Failed { .. } => error.into(),
    }
}

fn place(path: &Path, kind: ErrorKind, said: &str) -> String {
    let what = match kind {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "there is no space: make room, or set TMPDIR to a place that has some",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => "it may not be written: set TMPDIR to a place that may be",
        ErrorKind::NotFound => "there is no such place: set TMPDIR to one that there is",
        _ => said,
    };
    format!("{}: {what}", path.display())
}

/// Whether the database that was given is a sandbox or empty; nothing else is touched.
async fn admit(settings: &Settings, reset: bool) -> anyhow::Result<()> {
    let mut settings = settings.clone();
    settings.mode = Mode::Sandbox;
    let app = App::new(settings, Clock::system(), Entropy::system())?;
    let mode = app
        .cell()
        .mode()
        .await
        .context("DATABASE_URL is set, but its database does not answer; start it, or unset DATABASE_URL for a temporary PostgreSQL")?;
    match mode {
        Some(Mode::Production) => bail!(
            "DATABASE_URL names a production database, and `backhaul dev` never touches one: name an empty database or a sandbox, \
             or unset DATABASE_URL for a temporary PostgreSQL"
        ),
        Some(Mode::Sandbox) if reset => {
            let tables = app.cell().count_tables().await?;
            app.cell().close().await;
            installation::forget_sandbox(app.settings.database.url()).await.context("the sandbox could not be forgotten")?;
            output::line(&format!("  --reset: everything in this sandbox was forgotten ({tables} tables)."));
            return Ok(());
        }
        Some(Mode::Sandbox) => {}
        None => {
            let tables = app.cell().count_tables().await?;
            if tables > 0 {
                bail!(
                    "DATABASE_URL names a database that holds {tables} tables of something else: name an empty one (`createdb`), \
                     or unset DATABASE_URL for a temporary PostgreSQL"
                );
            }
        }
    }
    app.cell().close().await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_have_no_place_says_what_to_do() {
        for (kind, word) in [
            (ErrorKind::StorageFull, "make room"),
            (ErrorKind::PermissionDenied, "may not be written"),
            (ErrorKind::NotFound, "no such place"),
        ] {
            let told = place(Path::new("/tmp/x"), kind, "");
            assert!(told.starts_with("/tmp/x: ") && told.contains(word) && told.contains("TMPDIR"), "{told}");
        }
        let full = NoPostgres::Failed { program: "initdb", said: "write: No space left on device".to_owned() };
        assert!(explain(full).to_string().contains("make room"));
    }
}
