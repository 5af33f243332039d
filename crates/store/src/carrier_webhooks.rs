//! Events of carriers' webhooks that were taken.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;

use crate::{Failed, Store, Tx};

/// For how long an event is remembered; an older one is not listened to.
pub const KEPT_FOR: TimeDelta = TimeDelta::days(30);

/// Notes down that an event was taken; false if it was before.
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

/// Events of all merchants that need not be remembered any more at the time `now`, oldest first.
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

/// Forgets these events.
pub async fn forget(tx: &mut Tx, events: &[String]) -> Result<(), Failed> {
    sqlx::query!("delete from carrier_webhook where merchant_id = $1 and event = any($2)", tx.merchant().0, events)
        .execute(tx.connection())
        .await?;
    Ok(())
}
