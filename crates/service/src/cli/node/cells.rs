//! `backhaul cell …`: the cells of the installation, and which of them take new merchants.

mod listing;

use anyhow::{Context as _, bail};
use clap::Subcommand;
use domain::node::cell::CellState;
use store::merchants::accounts;
use store::node::{cells, directory};

use crate::app::App;
use crate::cli::confirm::Confirmation;
use crate::cli::context::AT_A_TERMINAL;
use crate::cli::merchants::moving::move_to;
use crate::cli::node::migrate::{migrate, told};
use crate::cli::output::{self, Format};
use crate::flow::merchants::add_merchant::open_cell;
use crate::platform::config::HOME;

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// List the cells: where they are, what they hold, and which of them take new merchants.
    List,
    /// Prepare a cell of the settings and open it: create its schema if needed, bring it up to date, and on a cluster distribute it.
    /// Repeat it if it ends early.
    Add {
        /// The cell's name in the settings.
        name: String,
        /// Afterwards, grant this role what the service needs, and take everything else away from it.
        #[arg(long, value_name = "ROLE")]
        grant_to: Option<String>,
    },
    /// Put no new merchants into a cell; with one of the options, move those that are there, one after another. Repeat it to continue.
    #[command(group = clap::ArgGroup::new("where"))]
    Drain {
        /// The cell's name.
        name: String,
        /// Move its merchants to this cell.
        #[arg(long, value_name = "CELL", group = "where")]
        to: Option<String>,
        /// Move its merchants to the open cells, each to the one with the fewest merchants.
        #[arg(long, group = "where")]
        merchants: bool,
        #[command(flatten)]
        confirmation: Confirmation,
    },
    /// Put new merchants into a cell again.
    Open {
        /// The cell's name.
        name: String,
    },
    /// Move a cell to another node of its cluster, while it works.
    Move {
        /// The cell's name.
        name: String,
        /// The node, as the cluster knows it.
        #[arg(long, value_name = "HOST:PORT")]
        to: Node,
        #[command(flatten)]
        confirmation: Confirmation,
    },
}

/// The address of a node of a cluster.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Node {
    host: String,
    port: u16,
}

impl std::str::FromStr for Node {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WANTED: &str = "give the node as HOST:PORT, such as db-2.example.com:5432";
        let (host, port) = text.rsplit_once(':').ok_or(WANTED)?;
        let is_host = !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || ".-_:[]".contains(c));
        if !is_host {
            return Err(WANTED);
        }
        Ok(Self { host: host.to_owned(), port: port.parse().map_err(|_| WANTED)? })
    }
}

/// Runs a command wherever it was called.
pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::List => listing::list(app, format).await,
        Command::Drain { name, to: None, merchants: false, confirmation } => {
            named(app, &name)?;
            confirmation.ask(&format!("No new merchant is put into {name}; those that are there stay."), &name)?;
            set_state(app, &name, CellState::Draining).await?;
            output::said(format, &format!("{name} takes no new merchants."))
        }
        Command::Open { name } => {
            let pending = named(app, &name)?.cell().pending_migrations().await?;
            if pending > 0 {
                bail!(
                    "the schema of {name} is {} behind; run `backhaul cell add {name}`",
                    output::counted(i64::try_from(pending)?, "migration")
                );
            }
            set_state(app, &name, CellState::Open).await?;
            output::said(format, &format!("{name} takes new merchants."))
        }
        Command::Add { .. } | Command::Drain { .. } | Command::Move { .. } => bail!(AT_A_TERMINAL),
    }
}

/// Runs a command at a terminal, where some can be run that take minutes.
pub(in crate::cli) async fn run_here(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::Add { name, grant_to } => add(app, &name, grant_to.as_deref(), format).await,
        Command::Move { name, to, confirmation } => move_cell(app, &name, &to, &confirmation, format).await,
        Command::Drain { name, to, merchants, confirmation } if merchants || to.is_some() => {
            named(app, &name)?;
            let there = to.as_ref().map_or_else(|| "the open cells".to_owned(), |to| to.as_str().to_owned());
            let preview = format!(
                "No new merchant is put into {name}, and those that are there are moved to {there}, one after another, each with a pause of \
                 some seconds."
            );
            confirmation.ask(&preview, &name)?;
            set_state(app, &name, CellState::Draining).await?;
            drain(app, &name, to.as_deref()).await?;
            output::said(format, &format!("{name} has no merchants any more, and takes no new ones."))
        }
        command => run(command, app, format).await,
    }
}

/// The app of a cell that the settings name.
fn named(app: &App, name: &str) -> anyhow::Result<App> {
    app.of_name(name).with_context(|| format!("the settings name no cell `{name}`; add it to `[[cells]]`, on every machine, and try again"))
}

async fn set_state(app: &App, name: &str, state: CellState) -> anyhow::Result<()> {
    let mut tx = app.begin_home().await?;
    directory::set_state(&mut tx, name, state, app.now()).await?;
    Ok(app.commit_home(tx).await?)
}

async fn add(app: &App, name: &str, grant_to: Option<&str>, format: Format) -> anyhow::Result<()> {
    let there = named(app, name)?;
    if name == HOME {
        bail!("`{HOME}` is the first cell, which is there from the beginning; `backhaul cell open {HOME}` opens it again");
    }
    output::progress(&format!("bringing the schema of {name} up to date"));
    let applied = migrate(&there.place().address, app.settings.mode, app.now(), grant_to).await?;
    output::progress(&told(applied, app.settings.mode));
    there.follow_clock().await?;
    set_state(app, name, CellState::Open).await?;
    output::said(format, &format!("{name} takes new merchants. Restart the processes whose settings did not name it yet."))
}

/// Moves the merchants of a cell, one after another. One that cannot be moved keeps no other one.
async fn drain(app: &App, name: &str, to: Option<&str>) -> anyhow::Result<()> {
    let there = named(app, name)?;
    let mut left = 0;
    for merchant in accounts::list(there.cell()).await? {
        let handle = merchant.handle.parse()?;
        // What moves away is continued; what is just arriving is not.
        if app.of_handle(&handle).await?.place().name() != name {
            continue;
        }
        let to = match to {
            Some(to) => to.to_owned(),
            None => open_cell(app).await?,
        };
        output::progress(&format!("{handle}: moving to {to}"));
        if let Err(error) = move_to(app, &handle, &to).await {
            left += 1;
            output::progress(&format!("{handle}: {}", output::told(&error)));
        }
    }
    if left > 0 {
        bail!("{} did not move; see why above, and repeat the command", output::counted(left, "merchant"));
    }
    Ok(())
}

async fn move_cell(app: &App, name: &str, to: &Node, confirmation: &Confirmation, format: Format) -> anyhow::Result<()> {
    let there = named(app, name)?;
    if !there.cell().is_on_a_cluster().await? {
        bail!("{name} is not on a cluster, so it stays on its server; move its merchants with `backhaul cell drain {name} --to CELL`");
    }
    let preview = format!("This moves {name} to {}:{}, while it works. Writes wait for less than a second at the end.", to.host, to.port);
    confirmation.ask(&preview, name)?;
    output::progress(&format!("moving {name}, which takes seconds to minutes, depending on its size"));
    cells::move_to_node(there.place().address.url(), &to.host, to.port, output::progress)
        .await
        .with_context(|| format!("{name} did not move"))?;
    output::said(format, &format!("{name} is at {}:{} now. Every process connects to it there within some seconds.", to.host, to.port))
}
