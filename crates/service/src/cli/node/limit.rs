//! `backhaul limit …`: limits that the operator can lower while the service runs.

use clap::{Subcommand, ValueEnum};
use serde::Serialize;
use store::node::limits::{self, OperatorLimit};
use wire::time;

use crate::app::App;
use crate::cli::context::actor;
use crate::cli::output::{self, Format};
use crate::flow::node::set_limit as flow;
use crate::node::limits::Name;

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// Lower a limit on every node, within 5 seconds.
    Set {
        name: LimitName,
        /// The new value; at most the value in the settings.
        value: u32,
    },
    /// List the limits with their values, their defaults and who changed them last.
    List,
    /// Reset a limit to its default on every node, within 5 seconds.
    Reset { name: LimitName },
}

/// The name of a limit on the command line.
#[derive(Clone, Copy, ValueEnum)]
pub(in crate::cli) enum LimitName {
    /// Requests per minute from one address.
    RequestsPerMinute,
    /// Order messages that a node processes concurrently.
    MessagesInFlight,
}

impl From<LimitName> for Name {
    fn from(name: LimitName) -> Self {
        match name {
            LimitName::RequestsPerMinute => Self::RequestsPerMinute,
            LimitName::MessagesInFlight => Self::MessagesInFlight,
        }
    }
}

#[derive(Serialize)]
struct LimitOut {
    name: &'static str,
    value: u32,
    default: u32,
    set_by: Option<String>,
    set_at: Option<String>,
}

impl LimitOut {
    fn new(app: &App, name: Name, set: &[OperatorLimit]) -> Self {
        let set = set.iter().find(|set| set.name == name.as_str());
        Self {
            name: name.as_str(),
            value: app.limits.value_of(name, set.and_then(|set| set.value)),
            default: app.limits.default_of(name),
            set_by: set.map(|set| set.set_by.clone()),
            set_at: set.map(|set| time::write(set.set_at)),
        }
    }
}

pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    let changed = match command {
        Command::Set { name, value } => {
            flow::set_limit(app, &actor(), name.into(), value).await?;
            Some(name.into())
        }
        Command::Reset { name } => {
            flow::reset_limit(app, &actor(), name.into()).await?;
            Some(name.into())
        }
        Command::List => None,
    };
    let set = limits::list(app.home()).await?;
    if let Some(name) = changed {
        return output::one(format, &LimitOut::new(app, name, &set));
    }
    let shown: Vec<LimitOut> = Name::ALL.into_iter().map(|name| LimitOut::new(app, name, &set)).collect();
    output::list(format, &shown, "", &["NAME", "VALUE", "DEFAULT", "SET BY", "SET AT"], |shown| {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        vec![shown.name.to_owned(), shown.value.to_string(), shown.default.to_string(), text(&shown.set_by), text(&shown.set_at)]
    })
}
