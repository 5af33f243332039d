//! Moves a merchant from one cell to another: copies its rows while it works, pauses it for a moment to copy what has changed since,
//! lets it continue in the new cell, and deletes what it has left behind.
//!
//! A move can end at any point, and is continued by calling it again. One row in the first cell says how far it is. The merchant lives in
//! the cell that this row says; neither cell takes a write that the row does not allow (`store::merchants::moves`).

mod check;
mod cleaning;
mod copying;
mod pausing;

use std::time::Duration;

use domain::id::MerchantId;
use store::merchants::audit::{self, Entry};
use store::merchants::moves::{self, AuditDiffers, CopyError, MoveState};
use store::{Failed, Store};
use uuid::Uuid;

use crate::app::App;

/// A cell of a move.
#[derive(Clone, Copy)]
pub struct Cell<'a> {
    pub name: &'a str,
    pub app: &'a App,
}

impl Cell<'_> {
    fn store(&self) -> &Store {
        self.app.cell()
    }
}

/// A move of a merchant.
#[derive(Clone, Copy)]
pub struct Moving<'a> {
    /// An app of the first cell, which keeps how far the move is.
    pub home: &'a App,
    pub from: Cell<'a>,
    pub to: Cell<'a>,
    pub merchant: MerchantId,
    /// Whoever moves it, for the audit trail.
    pub actor: &'a str,
    /// The process that moves. While it shows signs of life, no other one continues the move.
    pub mover: Uuid,
    /// The time for calls that have begun to end before the pause. The messages of longer ones are sent again by the new cell.
    pub calls_end_within: Duration,
    /// The time in which every node learns that the merchant lives in the new cell. Until then, those that only read may still ask the
    /// old one, so its rows are kept for as long.
    pub nodes_learn_within: Duration,
    /// Told each step when it is done. An error ends the move there, as if the process had ended.
    pub watch: &'a (dyn Fn(MoveStep) -> Result<(), Failed> + Send + Sync),
}

/// A step of a move that is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveStep {
    Begun,
    /// Rows of a table have been copied; so many in this round.
    Copied {
        table: String,
        rows: u64,
    },
    /// A round over all tables is complete; so many rows were new or had changed.
    Round {
        rows: u64,
    },
    /// Deliveries of the merchant rest.
    Resting,
    /// Nobody writes any more.
    Paused,
    /// The last changes have been copied, and both cells have the same.
    Verified,
    /// The merchant lives in the new cell, which does not take its writes yet.
    Switched,
    /// The new cell takes its writes.
    Opened,
    /// Rows in the old cell have been deleted.
    Cleaned {
        table: &'static str,
        rows: u64,
    },
    Done,
}

/// The reasons a merchant is not moved.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    #[error("the merchant does not live in the cell `{0}`; see where it is with `backhaul merchant list`")]
    NotThere(String),
    #[error("the merchant is being deleted, so it stays where it is")]
    Deleting,
    #[error("the messages of the merchant are still being numbered; wait until that is done, and move it then")]
    NotNumbered,
    #[error("a move of the merchant from `{from}` to `{to}` is {state}; repeat that one, or abort it, before another one")]
    OtherMove { from: String, to: String, state: &'static str },
    #[error("another process is moving the merchant; wait for it, or for half a minute if it has ended")]
    Held,
    #[error("the clocks of the two database servers differ by {0} ms, and at most 500 are allowed; set them by NTP, and try again")]
    Clocks(i64),
    #[error("the cells `{0}` and `{1}` have different schemas; bring both to the same version with `backhaul migrate`")]
    Schemas(String, String),
    #[error("{0} transactions that began before the pause did not end, so the merchant continues in its old cell; try again later")]
    StillWriting(usize),
    #[error("the two cells have different numbers of rows of {0}, so the merchant continues in its old cell; try again")]
    Counts(String),
    #[error("the merchant lives in the new cell already, so the move cannot be aborted; move it back instead")]
    Switched,
    #[error("no move of the merchant is under way")]
    NoMove,
    #[error(transparent)]
    Copy(#[from] CopyError),
    #[error(transparent)]
    Audit(#[from] AuditDiffers),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Moves the merchant, or continues a move that was begun. Does nothing if it has moved already.
pub async fn move_merchant(moving: &Moving<'_>) -> Result<(), MoveError> {
    let mut state = check::begin_or_continue(moving).await?;
    loop {
        state = match state {
            MoveState::Copying => {
                copying::copy(moving).await?;
                moving.advance(MoveState::Copying, MoveState::Paused).await?
            }
            MoveState::Paused => {
                pausing::pause_and_copy(moving).await?;
                moving.advance(MoveState::Paused, MoveState::Switched).await?
            }
            MoveState::Switched => {
                moving.done(MoveStep::Switched)?;
                open(moving).await?;
                moving.advance(MoveState::Switched, MoveState::Cleaning).await?
            }
            MoveState::Cleaning => {
                tokio::time::sleep(moving.nodes_learn_within).await;
                cleaning::empty(moving, &moving.from).await?;
                moving.advance(MoveState::Cleaning, MoveState::Done).await?
            }
            MoveState::Aborting => {
                abort_move(moving).await?;
                return Err(MoveError::NoMove);
            }
            MoveState::Done => return moving.done(MoveStep::Done),
        };
    }
}

/// Undoes a move that has not switched yet: the merchant continues in its old cell, and what was copied is deleted.
pub async fn abort_move(moving: &Moving<'_>) -> Result<(), MoveError> {
    let home = moving.home.home();
    let Some(known) = moves::find_move(home, moving.merchant).await?.filter(|known| known.state != MoveState::Done) else {
        return Err(MoveError::NoMove);
    };
    check::is_this(moving, &known)?;
    moving.hold().await?;
    if !moves::abort(home, moving.merchant, moving.mover, moving.home.now()).await? {
        return Err(MoveError::Switched);
    }
    moves::open(moving.from.store(), moving.merchant).await?;
    // What the new cell keeps is a row that says where the merchant lives.
    moves::close(moving.to.store(), moving.merchant, moving.from.name, moving.home.now()).await?;
    cleaning::empty(moving, &moving.to).await?;
    Ok(moves::forget(home, moving.merchant, moving.mover).await?)
}

/// Lets the merchant continue in its new cell.
async fn open(moving: &Moving<'_>) -> Result<(), MoveError> {
    let to = moving.to.app;
    if moves::find(moving.to.store(), moving.merchant).await?.is_some() {
        let mut tx = moves::begin_away(moving.to.store(), moving.merchant).await?;
        let detail = format!("{} to {}", moving.from.name, moving.to.name);
        let entry = Entry { id: to.mint(), actor: moving.actor, action: "merchant.moved", detail: &detail, done_at: to.now() };
        audit::record(&mut tx, entry).await?;
        moves::let_in(&mut tx).await?;
        to.commit(tx).await?;
    }
    moving.done(MoveStep::Opened)
}

impl Moving<'_> {
    fn done(&self, step: MoveStep) -> Result<(), MoveError> {
        Ok((self.watch)(step)?)
    }

    fn stores(&self) -> (&Store, &Store) {
        (self.from.store(), self.to.store())
    }

    /// Takes the move to its next state.
    async fn advance(&self, from: MoveState, to: MoveState) -> Result<MoveState, MoveError> {
        let mut tx = self.home.begin_home().await?;
        if !moves::advance(&mut tx, self.merchant, self.mover, (from, to), self.home.now()).await? {
            return Err(MoveError::Held);
        }
        self.home.commit_home(tx).await?;
        Ok(to)
    }

    /// Shows a sign of life.
    async fn hold(&self) -> Result<(), MoveError> {
        let now = self.home.shared_now().await?;
        if moves::hold(self.home.home(), self.merchant, self.mover, now).await? { Ok(()) } else { Err(MoveError::Held) }
    }
}
