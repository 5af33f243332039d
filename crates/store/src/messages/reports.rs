//! The rollups that reports are made of. Calls to endpoints that receive messages are counted in `settlements`.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::messages::message::Interface;

use crate::{Failed, Store, Tx};

/// Counts a call to an endpoint that is asked for an answer. Calls that deliver messages are counted when they are settled.
pub async fn count_call(tx: &mut Tx, endpoint: EndpointId, interface: Interface, outcome: &str, at: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into attempt_hourly as hourly (merchant_id, endpoint_id, hour, kind, outcome, number, count, last_at)
        values ($1, $2, date_trunc('hour', $3::timestamptz, 'UTC'), $4, $5, 1, 1, $3)
        on conflict (merchant_id, endpoint_id, hour, kind, outcome, number) do update
        set count = hourly.count + excluded.count, last_at = greatest(hourly.last_at, excluded.last_at)
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

/// The attempts of one day with the same outcome.
#[derive(Debug)]
pub struct Attempts {
    /// Start of the day.
    pub day: DateTime<Utc>,
    /// The message kind as stored.
    pub kind: String,
    pub outcome: String,
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

/// The messages delivered on one day by the same attempt number and within the same time.
#[derive(Debug)]
pub struct Delivered {
    /// Start of the day.
    pub day: DateTime<Utc>,
    /// The message kind as stored.
    pub kind: String,
    /// The number of the attempt that succeeded.
    pub attempts: i16,
    /// A bound of `domain::messages::promptness`.
    pub within_ms: i64,
    pub count: i64,
}

/// The merchant's messages delivered from `from` until before `to`, by day.
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

/// The calls of one hour with the same outcome.
#[derive(Debug)]
pub struct HourlyCalls {
    /// Start of the hour.
    pub hour: DateTime<Utc>,
    pub outcome: String,
    pub count: i64,
}

/// The calls to an endpoint in the hours from `from` until before `to`.
pub async fn calls_of(
    store: &Store,
    merchant: MerchantId,
    endpoint: EndpointId,
    from: DateTime<Utc>,
    to: DateTime<Utc>,
) -> Result<Vec<HourlyCalls>, Failed> {
    let calls = sqlx::query_as!(
        HourlyCalls,
        r#"
        select hour, outcome, sum(count)::bigint as "count!"
        from attempt_hourly
        where merchant_id = $1 and endpoint_id = $2 and hour >= $3 and hour < $4
        group by 1, 2
        order by 1, 2
        "#,
        merchant.0,
        endpoint.0,
        from,
        to,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(calls)
}

/// The messages delivered to an endpoint by the same attempt number and within the same time.
#[derive(Debug)]
pub struct DeliveredTo {
    /// The number of the attempt that succeeded.
    pub attempts: i16,
    /// A bound of `domain::messages::promptness`.
    pub within_ms: i64,
    pub count: i64,
}

/// The messages delivered to an endpoint in the hours from `from` until before `to`.
pub async fn delivered_to(
    store: &Store,
    merchant: MerchantId,
    endpoint: EndpointId,
    from: DateTime<Utc>,
    to: DateTime<Utc>,
) -> Result<Vec<DeliveredTo>, Failed> {
    let delivered = sqlx::query_as!(
        DeliveredTo,
        r#"
        select attempts, within_ms, sum(count)::bigint as "count!"
        from delivered_hourly
        where merchant_id = $1 and endpoint_id = $2 and hour >= $3 and hour < $4
        group by 1, 2
        order by 1, 2
        "#,
        merchant.0,
        endpoint.0,
        from,
        to,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(delivered)
}

/// The time for which calls and deliveries are counted by the hour: a year and a month, so that a month can be compared with the
/// same one of the year before.
const KEPT_FOR: TimeDelta = TimeDelta::days(400);

/// Deletes the merchant's oldest hours that are too old at `now`, about `most` rows of each table. Returns how many it deleted.
pub async fn forget(tx: &mut Tx, now: DateTime<Utc>, most: i64) -> Result<u64, Failed> {
    let (merchant, before) = (tx.merchant().0, now - KEPT_FOR);
    let attempts = sqlx::query!(
        r#"
        delete from attempt_hourly
        where merchant_id = $1 and hour <= (
            select max(old.hour) from (select hour from attempt_hourly where merchant_id = $1 and hour < $2 order by hour limit $3) as old
        )
        "#,
        merchant,
        before,
        most,
    )
    .execute(tx.connection())
    .await?;
    let delivered = sqlx::query!(
        r#"
        delete from delivered_hourly
        where merchant_id = $1 and hour <= (
            select max(old.hour) from (select hour from delivered_hourly where merchant_id = $1 and hour < $2 order by hour limit $3) as old
        )
        "#,
        merchant,
        before,
        most,
    )
    .execute(tx.connection())
    .await?;
    Ok(attempts.rows_affected() + delivered.rows_affected())
}
