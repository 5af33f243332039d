//! Carrier webhook events that have been processed, so that a repeated delivery is recognised.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;

use crate::{Failed, Store, Tx};

/// The time for which an event is remembered. Older events are rejected.
pub const KEPT_FOR: TimeDelta = TimeDelta::days(30);

/// Records an event. Returns false if it has been recorded before.
pub async fn take(tx: &mut Tx, event: &str, now: DateTime<Utc>) -> Result<bool, Failed> {
    let taken = sqlx::query!(
        "insert into carrier_webhook (merchant_id, received_at, event) values ($1, $2, $3) on conflict (merchant_id, event) do nothing",
        tx.merchant().0,
        now,
        event,
    )
    .execute(tx.connection())
    .await?;
    Ok(taken.rows_affected() > 0)
}

/// Events of all merchants that no longer need to be remembered at `now`, oldest first.
pub async fn list_outdated(store: &Store, now: DateTime<Utc>, most: i64) -> Result<Vec<(MerchantId, String)>, Failed> {
    let rows = sqlx::query!(
        "select merchant_id, event from carrier_webhook where received_at < $1 order by received_at limit $2",
        now - KEPT_FOR,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows.into_iter().map(|row| (MerchantId(row.merchant_id), row.event)).collect())
}

/// Deletes these events.
pub async fn forget(tx: &mut Tx, events: &[String]) -> Result<(), Failed> {
    sqlx::query!("delete from carrier_webhook where merchant_id = $1 and event = any($2)", tx.merchant().0, events)
        .execute(tx.connection())
        .await?;
    Ok(())
}
