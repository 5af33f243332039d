//! `backhaul limit …`.

use clap::{Subcommand, ValueEnum};
use serde::Serialize;
use store::limits::{self, OperatorLimit};
use wire::time;

use super::actor;
use super::output::{self, Format};
use crate::app::App;
use crate::flow::set_limit as flow;
use crate::limits::Name;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Lower a limit on every node, within 5 seconds.
    Set {
        /// Which one.
        name: Named,
        /// What it shall be; not more than the settings say.
        value: u32,
    },
    /// List the limits: what they are, what they are by default, who has lowered them.
    List,
    /// Give a limit its default back on every node, within 5 seconds.
    Reset {
        /// Which one.
        name: Named,
    },
}

/// A limit on the command line.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Named {
    /// How many requests one address may send within a minute.
    RequestsPerMinute,
    /// How many order messages a node works on at once.
    MessagesInFlight,
}

impl From<Named> for Name {
    fn from(named: Named) -> Self {
        match named {
            Named::RequestsPerMinute => Self::RequestsPerMinute,
            Named::MessagesInFlight => Self::MessagesInFlight,
        }
    }
}

#[derive(Serialize)]
struct Shown {
    name: &'static str,
    value: u32,
    default: u32,
    set_by: Option<String>,
    set_at: Option<String>,
}

impl Shown {
    fn new(app: &App, name: Name, set: &[OperatorLimit]) -> Self {
        let default = app.limits.default_of(name);
        let set = set.iter().find(|set| set.name == name.as_str());
        let value = set.and_then(|set| set.value).and_then(|value| u32::try_from(value).ok());
        Self {
            name: name.as_str(),
            value: value.map_or(default, |value| value.min(default)),
            default,
            set_by: set.map(|set| set.set_by.clone()),
            set_at: set.map(|set| time::write(set.set_at)),
        }
    }
}

pub(super) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
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
    let set = limits::list(app.cell()).await?;
    if let Some(name) = changed {
        return output::one(format, &Shown::new(app, name, &set));
    }
    let shown: Vec<Shown> = Name::ALL.into_iter().map(|name| Shown::new(app, name, &set)).collect();
    output::list(format, &shown, "", &["NAME", "VALUE", "DEFAULT", "SET BY", "SET AT"], |shown| {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        vec![shown.name.to_owned(), shown.value.to_string(), shown.default.to_string(), text(&shown.set_by), text(&shown.set_at)]
    })
}
