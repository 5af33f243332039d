//! `backhaul config …`: checks and explains the settings.

use clap::Subcommand;

use crate::cli::output;
use crate::delivery::client::Client;
use crate::delivery::transports::mail::Mailer;
use crate::delivery::transports::operator_hook::OperatorHook;
use crate::node::loaded_keys::NodeKeys;
use crate::platform::clock::Clock;
use crate::platform::config::{DEFAULTS, Settings};

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// Check the settings, and print the resulting values without the secrets.
    Check,
    /// Print every setting with its default and an explanation.
    Default,
}

pub(in crate::cli) fn run(command: &Command, settings: impl Fn() -> anyhow::Result<Settings>) -> anyhow::Result<()> {
    match command {
        Command::Check => {
            let settings = settings()?;
            NodeKeys::load(&settings).map_err(|(kind, error)| anyhow::anyhow!("keys.{}: {error}", kind.as_str()))?;
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
