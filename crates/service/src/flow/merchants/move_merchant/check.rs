//! What must be true before a move begins, and where it stands if it has begun.

use chrono::TimeDelta;
use store::merchants::moves::{self, Move, MoveState};
use store::node::installation;

use super::moving::{MoveError, MoveStep, Moving};

/// The most that the clocks of two servers may differ.
const CLOCKS_DIFFER_BY: TimeDelta = TimeDelta::milliseconds(500);

/// Begins the move, or finds where it stands.
pub(super) async fn begin_or_continue(moving: &Moving<'_>) -> Result<MoveState, MoveError> {
    let (home, merchant) = (moving.home.home(), moving.merchant);
    match moves::find_move(home, merchant).await? {
        Some(known) if known.state != MoveState::Done => {
            is_this(moving, &known)?;
            moving.hold().await?;
            // Another process may have continued it until now.
            Ok(moves::find_move(home, merchant).await?.map_or(MoveState::Done, |known| known.state))
        }
        Some(known) if is_this(moving, &known).is_ok() => Ok(MoveState::Done),
        _ => {
            check(moving).await?;
            let now = moving.home.shared_now().await?;
            if !moves::begin(home, merchant, moving.from.name, moving.to.name, moving.mover, now).await? {
                return Err(MoveError::Held);
            }
            moving.done(MoveStep::Begun)?;
            Ok(MoveState::Copying)
        }
    }
}

/// Whether a known move is this one.
pub(super) fn is_this(moving: &Moving<'_>, known: &Move) -> Result<(), MoveError> {
    if (known.from_cell.as_str(), known.to_cell.as_str()) == (moving.from.name, moving.to.name) {
        return Ok(());
    }
    Err(MoveError::OtherMove { from: known.from_cell.clone(), to: known.to_cell.clone(), state: known.state.as_str() })
}

async fn check(moving: &Moving<'_>) -> Result<(), MoveError> {
    let (from, to) = moving.stores();
    let found = moves::find_movable(from, moving.merchant).await?;
    let lives_there = !moves::find(from, moving.merchant).await?.is_some_and(|forward| forward.closed);
    let Some(found) = found.filter(|_| lives_there) else { return Err(MoveError::NotThere(moving.from.name.to_owned())) };
    if found.is_deleting {
        return Err(MoveError::Deleting);
    }
    if !found.is_numbered {
        return Err(MoveError::NotNumbered);
    }
    if moves::tables(from).await? != moves::tables(to).await? {
        return Err(MoveError::Schemas(moving.from.name.to_owned(), moving.to.name.to_owned()));
    }
    // The answer from the other server was given between the two from this one.
    let before = installation::shared_now(from).await?;
    let other = installation::shared_now(to).await?;
    let after = installation::shared_now(from).await?;
    let apart = (before - other).max(other - after);
    if apart > CLOCKS_DIFFER_BY {
        return Err(MoveError::Clocks(apart.num_milliseconds()));
    }
    Ok(())
}
