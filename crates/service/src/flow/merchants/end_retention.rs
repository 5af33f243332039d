//! Ends what is kept for a time that the merchant sets, and what a merchant leaves behind that no longer calls: personal data in orders,
//! returns and drop-ship orders; expired tokens and idempotency keys; old counts of the reports;
//! statements of withdrawal that no order was found for.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;
use store::Failed;
use store::merchants::accounts::{self, Merchant};
use store::merchants::{retentions, tokens};
use store::messages::{report_days, reports};
use store::returns::{idempotency, withdrawals};

use super::erase_shopper::{EraseShopperError, Erasure, ErasureTarget, erase};
use crate::app::App;

/// The most rows of each kind deleted of a merchant in one run.
const MOST: i64 = 1_000;
/// The most orders of each kind overwritten of a merchant in one run, each in a transaction of its own.
const MOST_ORDERS: i64 = 100;
/// The time after which an order is looked at again that could not be overwritten yet.
const AGAIN_AFTER: TimeDelta = TimeDelta::days(1);

/// Ends what is due of every merchant. Returns whether there may be more.
pub async fn end_retention(app: &App) -> Result<bool, Failed> {
    let now = app.shared_now().await?;
    let mut more = false;
    for merchant in accounts::list(app.cell()).await? {
        // A merchant that fails must not hold up the others.
        match end_retention_of(app, &merchant, now).await {
            Ok(continues) => more |= continues,
            Err(failed) => tracing::warn!(%failed, merchant = %merchant.id, "ending the retention of a merchant failed, will retry"),
        }
    }
    Ok(more)
}

async fn end_retention_of(app: &App, merchant: &Merchant, now: DateTime<Utc>) -> Result<bool, Failed> {
    let until = now - TimeDelta::days(merchant.retention_days.into());
    let Some(mut tx) = app.begin_here(merchant.id).await? else { return Ok(false) };
    let deleted = [
        tokens::forget_expired(&mut tx, now, MOST).await?,
        idempotency::forget_expired(&mut tx, now, MOST).await?,
        reports::forget(&mut tx, now, MOST).await?,
        report_days::forget(&mut tx, now).await?,
        withdrawals::forget_unmatched(&mut tx, until, MOST).await?,
    ];
    app.commit(tx).await?;
    let store = app.store(merchant.id);
    let orders = retentions::orders(store, merchant.id, until, MOST_ORDERS).await?.into_iter().map(ErasureTarget::Order);
    let drop_ship = retentions::drop_ship_orders(store, merchant.id, until, MOST_ORDERS).await?;
    let due: Vec<ErasureTarget> = orders.chain(drop_ship.into_iter().map(ErasureTarget::DropShipOrder)).collect();
    for of in &due {
        overwrite(app, merchant.id, of, until).await?;
    }
    Ok(deleted.into_iter().any(|rows| rows >= MOST.unsigned_abs()) || i64::try_from(due.len()).is_ok_and(|found| found >= MOST_ORDERS))
}

/// Overwrites what is personal, unless something of it was changed after `until` or must go first.
async fn overwrite(app: &App, merchant: MerchantId, of: &ErasureTarget, until: DateTime<Utc>) -> Result<(), Failed> {
    let from = match erase(app, merchant, of, Erasure::RetentionEnded { until }).await {
        Ok(_) | Err(EraseShopperError::NoSuchOrder) => return Ok(()),
        Err(EraseShopperError::ChangedAt(at)) => at,
        Err(EraseShopperError::StillOwed(_) | EraseShopperError::ExchangePending | EraseShopperError::NotShipped) => until + AGAIN_AFTER,
        // One that cannot be read must not hold up the others.
        Err(EraseShopperError::Failed(failed @ (Failed::Internal(_) | Failed::Constraint(_) | Failed::Refused(_)))) => {
            tracing::warn!(%failed, %merchant, "overwriting an order whose retention has ended failed, will retry in a day");
            until + AGAIN_AFTER
        }
        Err(EraseShopperError::Failed(failed)) => return Err(failed),
    };
    let mut tx = app.begin(merchant).await?;
    match of {
        ErasureTarget::Order(order) => retentions::keep_order(&mut tx, order, from).await?,
        ErasureTarget::DropShipOrder(order) => retentions::keep_drop_ship_order(&mut tx, order, from).await?,
    }
    app.commit(tx).await
}
