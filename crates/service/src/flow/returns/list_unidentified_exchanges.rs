//! Puts exchange orders whose identifier is unknown after a day on the work list.

use domain::id::MerchantId;
use domain::returns::work::WorkKind;
use store::Failed;
use store::returns::exchange_orders;
use store::returns::work_items::{self, WorkItem};

use crate::app::App;

/// The most exchange orders listed in one run.
const MOST: i64 = 100;

/// Opens a case for each exchange order that is due. Returns whether there may be more.
pub async fn list_unidentified_exchanges(app: &App) -> Result<bool, Failed> {
    let due = exchange_orders::list_unidentified(app.cell(), app.now(), MOST).await?;
    for (merchant, order) in &due {
        // One that fails must not hold up the others.
        if let Err(failed) = list(app, *merchant, order).await {
            tracing::warn!(%failed, %merchant, "listing an exchange order without an identifier failed, will retry");
        }
    }
    Ok(i64::try_from(due.len()).is_ok_and(|listed| listed == MOST))
}

/// Opens the case of one exchange order, unless its identifier has become known in the meantime.
async fn list(app: &App, merchant: MerchantId, order: &str) -> Result<(), Failed> {
    let now = app.now();
    let Some(mut tx) = app.begin_here(merchant).await? else { return Ok(()) };
    let Some(subject) = exchange_orders::mark_listed(&mut tx, order, now).await? else { return Ok(()) };
    let reason = format!(
        "The merchant has placed the exchange order for the order {order}, but has not named it for a day. Ask the merchant for its \
         identifier and record it, or convert the exchange into refunds if there is no such order."
    );
    work_items::open(&mut tx, &WorkItem { id: app.mint(), kind: WorkKind::ExchangeUnidentified, subject, reason, opened_at: now }).await?;
    app.commit(tx).await
}
