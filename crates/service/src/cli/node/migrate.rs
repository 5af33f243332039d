//! `backhaul migrate`: creates or upgrades the schema, cell by cell, and grants rights on it.

use anyhow::Context as _;
use chrono::{DateTime, Utc};
use clap::Args;
use domain::node::mode::Mode;
use serde::Serialize;
use store::node::{cells, grants, installation};

use crate::cli::output::{self, Format};
use crate::platform::clock::Clock;
use crate::platform::config::{CellAddress, Settings};

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
    /// In all cells.
    migrations_applied: usize,
    granted_to: Option<&'a str>,
    /// Each cell, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cells: Vec<MigratedCell>,
}

#[derive(Serialize)]
struct MigratedCell {
    name: String,
    migrations_applied: usize,
}

pub(in crate::cli) async fn run(command: &Migrate, settings: &Settings, clock: &Clock, format: Format) -> anyhow::Result<()> {
    let addresses = settings.cell_addresses()?;
    let (mode, several) = (settings.mode, addresses.len() > 1);
    let mut migrated = Vec::new();
    for address in &addresses {
        let done = migrate(address, mode, clock.now(), command.grant_to.as_deref()).await;
        // Those before it stay migrated. A repeat goes on with this one.
        let applied = if several { done.with_context(|| format!("the cell `{}`", address.name))? } else { done? };
        if several && format != Format::Json {
            output::line(&format!("{}: {}", address.name, told(applied, mode)));
        }
        migrated.push(MigratedCell { name: address.name.clone(), migrations_applied: applied });
    }
    let applied = migrated.iter().map(|cell| cell.migrations_applied).sum();
    if format == Format::Json {
        let cells = if several { migrated } else { Vec::new() };
        let granted_to = command.grant_to.as_deref();
        return output::one(format, &Migrated { mode: mode.as_str(), migrations_applied: applied, granted_to, cells });
    }
    if !several {
        output::line(&told(applied, mode));
    }
    if let Some(role) = &command.grant_to {
        output::line(&format!("The role {role} can run the service, and can neither alter nor drop anything."));
    }
    Ok(())
}

/// Migrates one cell, and grants the rights on it. Returns the number of migrations applied.
pub(super) async fn migrate(address: &CellAddress, mode: Mode, now: DateTime<Utc>, grant_to: Option<&str>) -> anyhow::Result<usize> {
    let url = address.url();
    if let Some(schema) = &address.schema {
        cells::create_schema(url, schema).await?;
    }
    let applied = installation::migrate(url, mode, now).await?;
    if !address.is_home() {
        cells::distribute(url).await?;
    }
    if let Some(role) = grant_to {
        grants::grant(url, role).await?;
    }
    Ok(applied)
}

pub(super) fn told(applied: usize, mode: Mode) -> String {
    match applied {
        0 => format!("The schema is up to date ({mode})."),
        1 => format!("1 migration applied; the schema is up to date ({mode})."),
        many => format!("{many} migrations applied; the schema is up to date ({mode})."),
    }
}
