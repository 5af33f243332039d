//! Moves a merchant from one cell to another: copies its rows while it works, pauses it for a moment to copy what has changed since,
//! lets it continue in the new cell, and deletes what it has left behind.
//!
//! A move can end at any point, and is continued by calling it again. One row in the first cell says how far it is. The merchant lives in
//! the cell that this row says; neither cell takes a write that the row does not allow (`store::merchants::moves`).

mod check;
mod cleaning;
mod copying;
mod moving;
mod pausing;

use store::merchants::audit::{self, Entry};
use store::merchants::moves::{self, MoveState};

pub use self::moving::{Cell, MoveError, MoveStep, Moving};

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
