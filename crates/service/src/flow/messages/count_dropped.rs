//! Counts the messages that were dropped after 30 days without having been sent, because their interface had no endpoint.

use store::Failed;
use store::messages::unsent;

use crate::app::App;

/// The most messages looked at in one run.
const MOST: i64 = 1_000;

/// Counts what was dropped since the last run.
pub async fn count_dropped(app: &App) -> Result<(), Failed> {
    for merchant in unsent::list_outdated(app.cell(), app.now(), MOST).await? {
        let mut tx = app.begin(merchant).await?;
        let dropped = unsent::count_dropped(&mut tx, app.now()).await?;
        app.commit(tx).await?;
        if dropped > 0 {
            app.metrics.unsent_dropped.inc_by(dropped.unsigned_abs());
            tracing::warn!(%merchant, dropped, "messages were dropped without having been sent, because there was no endpoint");
        }
    }
    Ok(())
}
