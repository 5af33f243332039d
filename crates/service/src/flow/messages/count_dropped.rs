//! Counts the messages that were dropped with their partition without having been sent, because their interface had no endpoint.

use store::Failed;
use store::messages::{partitions, unsent};

use crate::app::App;

/// The most messages looked at, and the most counted of a merchant, in one run.
const MOST: i64 = 1_000;

/// Counts what was dropped since the last run. Returns whether there may be more.
pub async fn count_dropped(app: &App) -> Result<bool, Failed> {
    let Some((oldest, _)) = partitions::range(app.cell()).await? else { return Ok(false) };
    let mut more = false;
    for merchant in unsent::list_outdated(app.cell(), oldest, MOST).await? {
        let Some(mut tx) = app.begin_here(merchant).await? else { continue };
        let dropped = unsent::count_dropped(&mut tx, oldest, MOST, app.now()).await?;
        app.commit(tx).await?;
        more |= dropped == MOST;
        if dropped > 0 {
            app.metrics.unsent_dropped.inc_by(dropped.unsigned_abs());
            tracing::warn!(%merchant, dropped, "messages were dropped without having been sent, because there was no endpoint");
        }
    }
    Ok(more)
}
