//! What reports are made of: the rollups, and nothing else. What endpoints are sent is counted in `settlements`.

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::message::Interface;

use crate::{Failed, Store, Tx};

/// Counts a call of an endpoint of the transaction's merchant that is asked; those that are sent messages are counted when
/// these are settled.
pub async fn count_call(tx: &mut Tx, endpoint: EndpointId, interface: Interface, outcome: &str, at: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into attempt_hourly as hourly (merchant_id, endpoint_id, hour, kind, outcome, number, count)
        values ($1, $2, date_trunc('hour', $3::timestamptz, 'UTC'), $4, $5, 1, 1)
        on conflict (merchant_id, endpoint_id, hour, kind, outcome, number) do update
        set count = hourly.count + excluded.count
        "#,
        tx.merchant().0,
        endpoint.0,
        at,
        interface.as_str(),
        outcome,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// How many attempts of a day ended in one way.
#[derive(Debug)]
pub struct Attempts {
    /// When the day begins.
    pub day: DateTime<Utc>,
    /// What the messages are about, as stored.
    pub kind: String,
    /// The outcome in a word.
    pub outcome: String,
    /// How many.
    pub count: i64,
}

/// The merchant's attempts from `from` until before `to`, by day.
pub async fn attempts(store: &Store, merchant: MerchantId, from: DateTime<Utc>, to: DateTime<Utc>) -> Result<Vec<Attempts>, Failed> {
    let attempts = sqlx::query_as!(
        Attempts,
        r#"
        select date_trunc('day', hour, 'UTC') as "day!", kind, outcome, sum(count)::bigint as "count!"
        from attempt_hourly
        where merchant_id = $1 and hour >= $2 and hour < $3
        group by 1, 2, 3
        order by 1, 2, 3
        "#,
        merchant.0,
        from,
        to,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(attempts)
}

/// How many messages arrived on a day at one attempt and within one time.
#[derive(Debug)]
pub struct Delivered {
    /// When the day begins.
    pub day: DateTime<Utc>,
    /// What the messages are about, as stored.
    pub kind: String,
    /// At which attempt.
    pub attempts: i16,
    /// Within which bound of `domain::promptness`.
    pub within_ms: i64,
    /// How many.
    pub count: i64,
}

/// The merchant's messages that arrived from `from` until before `to`, by day.
pub async fn delivered(store: &Store, merchant: MerchantId, from: DateTime<Utc>, to: DateTime<Utc>) -> Result<Vec<Delivered>, Failed> {
    let delivered = sqlx::query_as!(
        Delivered,
        r#"
        select date_trunc('day', hour, 'UTC') as "day!", kind, attempts, within_ms, sum(count)::bigint as "count!"
        from delivered_hourly
        where merchant_id = $1 and hour >= $2 and hour < $3
        group by 1, 2, 3, 4
        order by 1, 2, 3, 4
        "#,
        merchant.0,
        from,
        to,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(delivered)
}
