//! Copies a merchant's rows while it works: everything once, and then, round by round, what has changed since the round before.

use std::collections::HashSet;

use chrono::DateTime;
use store::Failed;
use store::merchants::moves::{self, CopyError, Since, Table};
use store::messages::partitions;

use super::moving::{MoveError, MoveStep, Moving};

/// The most rounds before the pause.
const MOST_ROUNDS: usize = 8;
/// A round with fewer rows than this is the last one before the pause.
const FEW: u64 = 500;
/// The rows after which a process shows a sign of life.
const SIGN_AFTER: u64 = 5_000;

/// Copies until little is left to copy.
pub(super) async fn copy(moving: &Moving<'_>) -> Result<(), MoveError> {
    let (from, to) = moving.stores();
    // Whatever arrives is nobody's business in the new cell until the merchant lives there. Its own row may forward to the old cell.
    moves::close(to, moving.merchant, moving.from.name, moving.home.now()).await?;
    // Deliveries work again if an earlier pause was given up.
    if moves::find(from, moving.merchant).await?.is_some() {
        moves::open(from, moving.merchant).await?;
    }
    make_partitions(moving).await?;
    let tables = moves::tables(from).await?;
    for number in 0..MOST_ROUNDS {
        let rows = round(moving, &tables).await?;
        if rows < FEW && number > 0 {
            break;
        }
    }
    // From here on, nothing is sent that the new cell would have to send again.
    moves::rest(from, moving.merchant, moving.to.name, moving.home.now()).await?;
    moving.done(MoveStep::Resting)?;
    tokio::time::sleep(moving.calls_end_within).await;
    round(moving, &tables).await?;
    Ok(())
}

/// Copies what has changed since the last round, or everything. Returns the number of rows.
async fn round(moving: &Moving<'_>, tables: &[Table]) -> Result<u64, MoveError> {
    let (from, home) = (moving.from.store(), moving.home.home());
    moving.hold().await?;
    let mut since = moves::find_move(home, moving.merchant).await?.and_then(|known| known.copied_before);
    let mut mark = moves::mark(from, since.as_deref()).await?;
    if mark.is_none() {
        since = None;
        mark = moves::mark(from, None).await?;
    }
    let mut refused = HashSet::new();
    let mut rows = moves::copy_audit(moving.stores(), moving.merchant).await?;
    for table in tables {
        match copy_one(moving, table, Since { mark: since.as_deref(), until: mark.as_deref() }).await {
            Ok(copied) => rows += copied,
            // A row that is gone, or one that it refers to, stands in its way.
            Err(MoveError::Copy(CopyError::Failed(Failed::Constraint(_)))) => {
                match moves::replace_table(moving.stores(), moving.merchant, table).await {
                    Ok(copied) => rows += copied,
                    Err(CopyError::Failed(Failed::Constraint(_))) => _ = refused.insert(table.name.clone()),
                    Err(error) => return Err(error.into()),
                }
            }
            Err(error) => return Err(error),
        }
    }
    if refused.is_empty() {
        moves::note_copied(home, moving.merchant, moving.mover, mark.as_deref()).await?;
    }
    moving.done(MoveStep::Round { rows })?;
    Ok(rows)
}

/// Copies rows of one table.
pub(super) async fn copy_one(moving: &Moving<'_>, table: &Table, since: Since<'_>) -> Result<u64, MoveError> {
    let mut told = 0;
    let copied = moves::copy_table(moving.stores(), moving.merchant, table, since, async |copied| {
        if copied - told >= SIGN_AFTER {
            told = copied;
            let now = moving.home.shared_now().await?;
            if !moves::hold(moving.home.home(), moving.merchant, moving.mover, now).await? {
                return Err(Failed::Internal("another process continues the move"));
            }
        }
        Ok(())
    })
    .await?;
    if copied > 0 {
        moving.done(MoveStep::Copied { table: table.name.clone(), rows: copied })?;
    }
    Ok(copied)
}

/// Makes the partitions in the new cell that the old one has.
async fn make_partitions(moving: &Moving<'_>) -> Result<(), MoveError> {
    let (from, to) = moving.stores();
    let Some((oldest, ends)) = partitions::range(from).await? else { return Ok(()) };
    // The first 48 bits of an id are the milliseconds of its time.
    let millis = i64::try_from(oldest.as_u128() >> 80).unwrap_or_default();
    let begins = DateTime::from_timestamp_millis(millis).ok_or(Failed::Internal("the first id of a partition has no time"))?;
    let days = i32::try_from((ends - begins).num_days()).unwrap_or(i32::MAX);
    partitions::make(to, begins, days).await?;
    Ok(())
}
