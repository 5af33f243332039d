//! Deletes the rows of a merchant in a cell in which it does not live.

use store::merchants::deletions::{self, EMPTIED};
use store::merchants::moves::{self, STAYING};

use super::moving::{Cell, MoveError, MoveStep, Moving};

/// The most rows deleted in one transaction.
const MOST: i64 = 1_000;

/// The transactions after which a process shows a sign of life.
const SIGN_EVERY: usize = 50;

/// Deletes everything of the merchant but its audit trail, which is kept for 7 years wherever it was written.
pub(super) async fn empty(moving: &Moving<'_>, cell: &Cell<'_>) -> Result<(), MoveError> {
    for table in EMPTIED.iter().copied().filter(|table| !STAYING.contains(table)) {
        let mut rows = 0;
        for part in 0_usize.. {
            if part.is_multiple_of(SIGN_EVERY) {
                moving.hold().await?;
            }
            let mut tx = moves::begin_away(cell.store(), moving.merchant).await?;
            let deleted = deletions::delete(&mut tx, table, MOST).await?;
            cell.app.commit(tx).await?;
            rows += deleted;
            if deleted < MOST.unsigned_abs() {
                break;
            }
        }
        if rows > 0 {
            moving.done(MoveStep::Cleaned { table, rows })?;
        }
    }
    let mut tx = moves::begin_away(cell.store(), moving.merchant).await?;
    moves::forget_merchant(&mut tx).await?;
    cell.app.commit(tx).await?;
    Ok(())
}
