//! `backhaul merchant move`: moves a merchant to another cell, and continues a move that was broken off.

use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;
use domain::id::{Handle, MerchantId};
use store::Failed;
use store::merchants::moves::{self, MoveState};

use crate::app::App;
use crate::cli::confirm::Confirmation;
use crate::cli::context::{actor, find_merchant};
use crate::cli::output::{self, Format};
use crate::flow::merchants::move_merchant::{Cell, MoveError, MoveStep, Moving, abort_move, move_merchant};

/// The time for calls to the merchant's systems to end before the pause.
const CALLS_END_WITHIN: Duration = Duration::from_secs(5);
/// The time in which every process learns where the merchant lives: a few heartbeats.
const NODES_LEARN_WITHIN: Duration = Duration::from_secs(10);

#[derive(Args)]
pub(in crate::cli) struct Move {
    /// The merchant's handle.
    handle: Handle,
    /// The cell to which it moves, as `backhaul cell list` names it.
    #[arg(long, value_name = "CELL", required_unless_present = "abort")]
    to: Option<String>,
    /// Undo a move that has not switched yet: the merchant works on where it was.
    #[arg(long)]
    abort: bool,
    #[command(flatten)]
    confirmation: Confirmation,
}

/// Where a merchant moves.
struct Way {
    merchant: MerchantId,
    from: App,
    to: App,
    /// True if the move was begun before.
    is_begun: bool,
}

/// What is done about a move.
#[derive(Clone, Copy)]
enum Direction {
    There,
    /// It is undone.
    Back,
}

pub(in crate::cli) async fn run(command: Move, app: &App, format: Format) -> anyhow::Result<()> {
    let Move { handle, to, abort, confirmation } = command;
    let way = find_way(app, &handle, to.as_deref()).await?;
    let (from, to) = (way.from.place().name(), way.to.place().name());
    if abort {
        let preview = format!("{handle} works on in {from}, and what was copied to {to} is deleted.");
        confirmation.ask(&preview, handle.as_str())?;
        go(app, &way, Direction::Back).await?;
        return output::said(format, &format!("The move was undone. {handle} lives in {from}."));
    }
    if from == to && !way.is_begun {
        return output::said(format, &format!("{handle} lives in {to} already."));
    }
    let preview = format!(
        "This moves {handle} from {from} to {to}. Its data is copied while it works; then, for some seconds, its calls are refused \
         with 503 and no message is delivered. It continues with its tokens, its feed and its cursors."
    );
    confirmation.ask(&preview, handle.as_str())?;
    take(app, &way).await?;
    output::said(format, &format!("{handle} lives in {to}."))
}

/// Moves a merchant without asking, or continues its move.
pub(in crate::cli) async fn move_to(app: &App, handle: &Handle, to: &str) -> anyhow::Result<()> {
    let way = find_way(app, handle, Some(to)).await?;
    take(app, &way).await
}

async fn take(app: &App, way: &Way) -> anyhow::Result<()> {
    go(app, way, Direction::There).await?;
    // The next command of this process asks anew where it lives.
    Ok(app.directory.renew(app.home()).await?)
}

/// The way of a move: that of the one that was begun, or from where the merchant lives.
async fn find_way(app: &App, handle: &Handle, to: Option<&str>) -> anyhow::Result<Way> {
    let lives = app.of_handle(handle).await?;
    let merchant = find_merchant(&lives, handle).await?.id;
    let begun = moves::find_move(app.home(), merchant).await?.filter(|known| known.state != MoveState::Done);
    let from = begun.as_ref().map_or_else(|| lives.place().name().to_owned(), |begun| begun.from_cell.clone());
    let to = to.map(str::to_owned).or_else(|| begun.as_ref().map(|begun| begun.to_cell.clone()));
    let to = to.ok_or(MoveError::NoMove)?;
    let cell =
        |name: &str| app.of_name(name).with_context(|| format!("the settings name no cell `{name}`; `backhaul cell list` lists all"));
    Ok(Way { merchant, from: cell(&from)?, to: cell(&to)?, is_begun: begun.is_some() })
}

async fn go(app: &App, way: &Way, direction: Direction) -> anyhow::Result<()> {
    if way.to.cell().pending_migrations().await? > 0 {
        bail!("the schema of the cell `{0}` is not up to date; `backhaul cell add {0}` brings it there", way.to.place().name());
    }
    let actor = actor();
    let tell = |step| {
        tell(&step);
        Ok::<_, Failed>(())
    };
    let moving = Moving {
        home: app,
        from: Cell { name: way.from.place().name(), app: &way.from },
        to: Cell { name: way.to.place().name(), app: &way.to },
        merchant: way.merchant,
        actor: &actor,
        mover: app.mint(),
        calls_end_within: CALLS_END_WITHIN,
        nodes_learn_within: NODES_LEARN_WITHIN,
        watch: &tell,
    };
    match direction {
        Direction::There => move_merchant(&moving).await?,
        Direction::Back => abort_move(&moving).await?,
    }
    Ok(())
}

/// Says which step is done.
fn tell(step: &MoveStep) {
    let line = match step {
        MoveStep::Begun => "copying, while the merchant works".to_owned(),
        MoveStep::Copied { rows: 0, .. } | MoveStep::Cleaned { rows: 0, .. } => return,
        MoveStep::Copied { table, rows } => format!("  copied {} of {table}", output::counted(*rows, "row")),
        MoveStep::Round { rows } => format!("copied a round: {} were new or had changed", output::counted(*rows, "row")),
        MoveStep::Resting => "no more deliveries begin; waiting for those under way".to_owned(),
        MoveStep::Paused => "paused: writes are refused".to_owned(),
        MoveStep::Verified => "copied the rest, and compared both cells".to_owned(),
        MoveStep::Switched => "switched: the merchant lives in its new cell".to_owned(),
        MoveStep::Opened => "open: its new cell takes writes".to_owned(),
        MoveStep::Cleaned { table, rows } => format!("  deleted {} of {table} in its old cell", output::counted(*rows, "row")),
        MoveStep::Done => "done".to_owned(),
    };
    output::progress(&line);
}
