//! `backhaul config …`: checks and explains the settings.

use std::path::Path;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::serve::{self, Serve};
use crate::app::App;
use crate::cli::output::{self, Format};
use crate::platform::config::{DEFAULTS, shown};

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// Check the settings as `backhaul serve` does before it starts, and print every value but the secrets as TOML.
    ///
    /// The database is not asked; `backhaul doctor` does that.
    Check(Check),
    /// Print every setting with its default and an explanation.
    Default,
}

#[derive(Args)]
pub(in crate::cli) struct Check {
    #[command(flatten)]
    roles: Serve,
}

#[derive(Serialize)]
struct Checked {
    valid: bool,
    settings: toml::Table,
}

/// Checks the settings in `file` and the environment.
pub(in crate::cli) fn run(
    command: &Command,
    file: Option<&Path>,
    app: impl FnOnce() -> anyhow::Result<App>,
    format: Format,
) -> anyhow::Result<()> {
    match command {
        Command::Check(Check { roles }) => {
            serve::check(&app()?, roles)?;
            let settings = shown(file, std::env::vars())?;
            match format {
                Format::Table => output::text(&format!("{settings}\n# The settings are valid.\n")),
                Format::Json => output::one(format, &Checked { valid: true, settings: settings.parse()? })?,
            }
        }
        Command::Default => match format {
            Format::Table => output::text(DEFAULTS),
            Format::Json => output::one(format, &DEFAULTS.parse::<toml::Table>()?)?,
        },
    }
    Ok(())
}
