//! `backhaul migrate`: creates or upgrades the schema.

use store::installation;

use super::output;
use crate::clock::Clock;
use crate::config::Settings;

pub(super) async fn run(settings: &Settings, clock: &Clock) -> anyhow::Result<()> {
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
