//! `backhaul migrate`: creates or upgrades the schema.

use store::node::installation;

use crate::cli::output;
use crate::platform::clock::Clock;
use crate::platform::config::Settings;

pub(in crate::cli) async fn run(settings: &Settings, clock: &Clock) -> anyhow::Result<()> {
    let mode = settings.mode;
    let applied = installation::migrate(settings.database.url(), mode, clock.now()).await?;
    let line = match applied {
        0 => format!("The schema is up to date ({mode})."),
        1 => format!("1 migration applied; the schema is up to date ({mode})."),
        many => format!("{many} migrations applied; the schema is up to date ({mode})."),
    };
    output::line(&line);
    Ok(())
}
