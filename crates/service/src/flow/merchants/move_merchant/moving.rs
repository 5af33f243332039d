//! What moves, from where to where, and how far it is.

use std::time::Duration;

use domain::id::MerchantId;
use store::merchants::moves::{self, AuditDiffers, CopyError, MoveState};
use store::node::directory;
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
    pub(super) fn store(&self) -> &Store {
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

impl Moving<'_> {
    pub(super) fn done(&self, step: MoveStep) -> Result<(), MoveError> {
        Ok((self.watch)(step)?)
    }

    pub(super) fn stores(&self) -> (&Store, &Store) {
        (self.from.store(), self.to.store())
    }

    /// Takes the move to its next state. The directory is changed together with the switch.
    pub(super) async fn advance(&self, from: MoveState, to: MoveState) -> Result<MoveState, MoveError> {
        let switched = match to {
            MoveState::Switched => moves::find_movable(self.from.store(), self.merchant).await?,
            _ => None,
        };
        let mut tx = self.home.begin_home().await?;
        if !moves::advance(&mut tx, self.merchant, self.mover, (from, to), self.home.now()).await? {
            return Err(MoveError::Held);
        }
        if let Some(merchant) = switched {
            directory::place_in(&mut tx, self.merchant, &merchant.handle, self.to.name, self.home.now()).await?;
        }
        self.home.commit_home(tx).await?;
        Ok(to)
    }

    /// Shows a sign of life, and looks whether the cells are still where they were.
    pub(super) async fn hold(&self) -> Result<(), MoveError> {
        self.from.store().follow().await?;
        self.to.store().follow().await?;
        let now = self.home.shared_now().await?;
        if moves::hold(self.home.home(), self.merchant, self.mover, now).await? { Ok(()) } else { Err(MoveError::Held) }
    }
}
