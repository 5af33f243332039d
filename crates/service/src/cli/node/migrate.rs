//! `backhaul migrate`: creates or upgrades the schema, and grants rights on it.

use clap::Args;
use serde::Serialize;
use store::node::{grants, installation};

use crate::cli::output::{self, Format};
use crate::platform::clock::Clock;
use crate::platform::config::Settings;

#[derive(Args)]
pub(in crate::cli) struct Migrate {
    /// Afterwards, grant this role what the service needs, and take everything else away from it. The service can then run as a role
    /// that alters and drops nothing. Give the option with every migration, because new tables need new rights.
    #[arg(long, value_name = "ROLE")]
    grant_to: Option<String>,
}

#[derive(Serialize)]
struct Migrated<'a> {
    mode: &'static str,
    migrations_applied: usize,
    granted_to: Option<&'a str>,
}

pub(in crate::cli) async fn run(command: &Migrate, settings: &Settings, clock: &Clock, format: Format) -> anyhow::Result<()> {
    let (mode, url) = (settings.mode, settings.database.url());
    let applied = installation::migrate(url, mode, clock.now()).await?;
    if let Some(role) = &command.grant_to {
        grants::grant(url, role).await?;
    }
    if format == Format::Json {
        let granted_to = command.grant_to.as_deref();
        return output::one(format, &Migrated { mode: mode.as_str(), migrations_applied: applied, granted_to });
    }
    let line = match applied {
        0 => format!("The schema is up to date ({mode})."),
        1 => format!("1 migration applied; the schema is up to date ({mode})."),
        many => format!("{many} migrations applied; the schema is up to date ({mode})."),
    };
    output::line(&line);
    if let Some(role) = &command.grant_to {
        output::line(&format!("The role {role} can run the service, and can neither alter nor drop anything."));
    }
    Ok(())
}
