//! The pause: nobody writes, what has changed since the last round is copied, and both cells are compared.

use std::time::Duration;

use store::Failed;
use store::merchants::moves::{self, CopyError, Earlier, MoveState, Since, Table, Watch};

use super::copying::copy_one;
use super::moving::{MoveError, MoveStep, Moving};

/// The pause between two looks at the transactions that began before.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// The looks after which their sessions are ended: 4 seconds.
const LOOKS: usize = 200;
/// The looks after which the move is given up: 2 seconds more.
const MORE_LOOKS: usize = 100;

/// Pauses the merchant and copies the rest. If that is impossible, the merchant continues in its old cell.
pub(super) async fn pause_and_copy(moving: &Moving<'_>) -> Result<(), MoveError> {
    let done = copy_rest(moving).await;
    // A database that cannot be reached, or a process that ends, leaves the pause to whoever continues the move.
    if let Err(MoveError::StillWriting(_) | MoveError::Counts(_) | MoveError::Copy(CopyError::Differs(_)) | MoveError::Audit(_)) = &done {
        moving.advance(MoveState::Paused, MoveState::Copying).await?;
        moves::open(moving.from.store(), moving.merchant).await?;
    }
    done
}

async fn copy_rest(moving: &Moving<'_>) -> Result<(), MoveError> {
    let (from, home) = (moving.from.store(), moving.home.home());
    moving.hold().await?;
    let watch = moves::watch(from).await?;
    moves::close(from, moving.merchant, moving.to.name, moving.home.now()).await?;
    wait_for_earlier(moving, &watch).await?;
    moving.done(MoveStep::Paused)?;
    let known = moves::find_move(home, moving.merchant).await?.and_then(|known| known.copied_before);
    let since = match &known {
        Some(mark) if moves::mark(from, Some(mark)).await?.is_some() => Some(mark.as_str()),
        _ => None,
    };
    let tables = moves::tables(from).await?;
    for table in &tables {
        match copy_one(moving, table, Since { mark: since, until: None }).await {
            Err(MoveError::Copy(CopyError::Failed(Failed::Constraint(_)))) => {
                moves::replace_table(moving.stores(), moving.merchant, table).await?;
            }
            copied => _ = copied?,
        }
    }
    compare(moving, &tables).await?;
    moves::copy_audit(moving.stores(), moving.merchant).await?;
    moving.done(MoveStep::Verified)
}

/// Waits until every transaction has ended that may not know of the pause.
async fn wait_for_earlier(moving: &Moving<'_>, watch: &Watch) -> Result<(), MoveError> {
    let mut earlier: Vec<Earlier> = watch.earlier().await?;
    for look in 0..LOOKS + MORE_LOOKS {
        if earlier.is_empty() {
            return Ok(());
        }
        if look == LOOKS {
            tracing::warn!(sessions = earlier.len(), merchant = %moving.merchant, "ending sessions that hold up the move of a merchant");
            watch.terminate(&earlier).await?;
        }
        tokio::time::sleep(LOOK_EVERY).await;
        let running = watch.earlier().await?;
        earlier.retain(|transaction| running.contains(transaction));
    }
    if earlier.is_empty() { Ok(()) } else { Err(MoveError::StillWriting(earlier.len())) }
}

/// Compares the numbers of rows. Rows that were deleted since they were copied are deleted in the new cell too.
async fn compare(moving: &Moving<'_>, tables: &[Table]) -> Result<(), MoveError> {
    let (from, to) = moving.stores();
    let here = moves::count(from, moving.merchant, tables).await?;
    let there = moves::count(to, moving.merchant, tables).await?;
    // Rows go before those that they refer to.
    for ((table, here), there) in tables.iter().zip(&here).zip(&there).rev() {
        if there > here {
            moves::remove_gone(moving.stores(), moving.merchant, table).await?;
        }
    }
    for ((table, here), there) in tables.iter().zip(&here).zip(&there) {
        if there < here {
            copy_one(moving, table, Since { mark: None, until: None }).await?;
        }
    }
    let there = moves::count(to, moving.merchant, tables).await?;
    match tables.iter().zip(here.iter().zip(&there)).find(|(_, (here, there))| here != there) {
        Some((table, _)) => Err(MoveError::Counts(table.name.clone())),
        None => Ok(()),
    }
}
