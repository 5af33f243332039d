//! Events of carriers' webhooks that were taken.

use chrono::{DateTime, Utc};

use crate::{Failed, Tx};

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
