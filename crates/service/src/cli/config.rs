//! `backhaul config …`: checks and explains the settings.

use clap::Subcommand;

use super::output;
use crate::clock::Clock;
use crate::config::{DEFAULTS, Settings};
use crate::outbound::client::Client;
use crate::outbound::mail::Mailer;
use crate::outbound::operator_hook::OperatorHook;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Check the settings, and print the resulting values without the secrets.
    Check,
    /// Print every setting with its default and an explanation.
    Default,
}

pub(super) fn run(command: &Command, settings: impl Fn() -> anyhow::Result<Settings>) -> anyhow::Result<()> {
    match command {
        Command::Check => {
            let settings = settings()?;
            settings.fingerprint_key().map_err(|error| anyhow::anyhow!("keys.fingerprint: {error}"))?;
            settings.keyring().map_err(|error| anyhow::anyhow!("keys.sealing: {error}"))?;
            let client = Client::new(&settings, Clock::system())?;
            OperatorHook::new(&settings, &client)?;
            Mailer::new(&settings, Clock::system())?;
            output::line(&format!("{settings:#?}"));
            output::line("The settings are valid.");
        }
        Command::Default => output::text(DEFAULTS),
    }
    Ok(())
}
