//! `backhaul keys …`: the installation's keys, which are in the settings and never in the database.

use clap::Subcommand;
use serde::Serialize;
use wire::time;

use crate::app::App;
use crate::cli::context::actor;
use crate::cli::output::{self, Format};
use crate::flow::node::rotate_keys::{self, KeyStatus};
use crate::platform::keys::Kind;

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// Show every key: which is active, what still needs the others, and which can be removed from the settings.
    Status,
    /// Use the first key of the settings from now on, on every node, and renew in the background what the old one made.
    ///
    /// Put the new key first in the settings of every process, keep the old one after it, and restart them before you rotate. Remove
    /// the old key once `backhaul keys status` says that it is removable.
    Rotate {
        /// The kind of keys: `sealing` or `fingerprint`.
        kind: Kind,
    },
}

#[derive(Serialize)]
struct KeyOut {
    kind: &'static str,
    key: String,
    state: &'static str,
    active_since: Option<String>,
    retired_at: Option<String>,
    /// What it takes until the key can be removed.
    left: String,
}

impl From<KeyStatus> for KeyOut {
    fn from(key: KeyStatus) -> Self {
        Self {
            kind: key.kind.as_str(),
            key: key.id,
            state: key.state.as_str(),
            active_since: key.activated_at.map(time::write),
            retired_at: key.retired_at.map(time::write),
            left: key.left,
        }
    }
}

pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::Status => status(app, format).await,
        Command::Rotate { kind } => {
            let rotation = rotate_keys::rotate_keys(app, &actor(), kind).await?;
            output::note(&format!("`{}` is used instead of `{}` on every node within 5 seconds.", rotation.to, rotation.from));
            status(app, format).await
        }
    }
}

async fn status(app: &App, format: Format) -> anyhow::Result<()> {
    let keys: Vec<KeyOut> = rotate_keys::status(app).await?.into_iter().map(KeyOut::from).collect();
    output::list(format, &keys, "There are no keys.", &["KIND", "KEY", "STATE", "ACTIVE SINCE", "LEFT"], |key| {
        let since = key.active_since.clone().unwrap_or_else(|| "never".to_owned());
        vec![key.kind.to_owned(), key.key.clone(), key.state.to_owned(), since, key.left.clone()]
    })
}
