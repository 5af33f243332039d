//! What waits, for the metrics: counted up to a bound, so that looking costs the same however much waits.

use chrono::{DateTime, NaiveDate, Utc};

use crate::{Failed, Store};

/// How much has been due for too long at merchants' endpoints of `buckets`: what was due at `before`, up to `most`. Paused and
/// removed endpoints have no part in it.
pub async fn past_due(store: &Store, buckets: &[u8], before: DateTime<Utc>, most: i64) -> Result<i64, Failed> {
    let buckets: Vec<i16> = buckets.iter().copied().map(i16::from).collect();
    let count = sqlx::query_scalar!(
        r#"
        select count(*) as "count!"
        from (
            select late.due_at
            from endpoint
            cross join lateral (
                select delivery.due_at
                from delivery
                where delivery.merchant_id = endpoint.merchant_id and delivery.endpoint_id = endpoint.endpoint_id
                    and delivery.due_at <= $2
                order by delivery.due_at, delivery.message_id
                limit $3
            ) as late
            where endpoint.bucket = any ($1::smallint[]) and endpoint.paused_at is null and endpoint.removed_at is null
                and not endpoint.internal
            limit $3
        ) as past_due
        "#,
        &buckets,
        before,
        most,
    )
    .fetch_one(&store.engine)
    .await?;
    Ok(count)
}

/// Since when the oldest delivery that is due at `now` is due, at merchants' endpoints of `buckets` that are neither
/// paused nor removed.
pub async fn oldest_due(store: &Store, buckets: &[u8], now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>, Failed> {
    let buckets: Vec<i16> = buckets.iter().copied().map(i16::from).collect();
    let oldest = sqlx::query_scalar!(
        r#"
        select min(first.due_at) as "oldest"
        from endpoint
        cross join lateral (
            select delivery.due_at
            from delivery
            where delivery.merchant_id = endpoint.merchant_id and delivery.endpoint_id = endpoint.endpoint_id and delivery.due_at <= $2
            order by delivery.due_at, delivery.message_id
            limit 1
        ) as first
        where endpoint.bucket = any ($1::smallint[]) and endpoint.paused_at is null and endpoint.removed_at is null
            and not endpoint.internal
        "#,
        &buckets,
        now,
    )
    .fetch_one(&store.engine)
    .await?;
    Ok(oldest)
}

/// How many entries of the failure queue are open for merchants' endpoints of `buckets`, up to `most`; or, of `internal` work,
/// how many are on the operator's list.
pub async fn open_failures(store: &Store, buckets: &[u8], internal: bool, most: i64) -> Result<i64, Failed> {
    let buckets: Vec<i16> = buckets.iter().copied().map(i16::from).collect();
    let count = sqlx::query_scalar!(
        r#"
        select count(*) as "count!"
        from (
            select open.failed_at
            from endpoint
            cross join lateral (
                select failure.failed_at
                from failure
                where failure.merchant_id = endpoint.merchant_id and failure.endpoint_id = endpoint.endpoint_id
                    and failure.state in ('open', 'contacted')
                order by failure.failed_at
                limit $2
            ) as open
            where endpoint.bucket = any ($1::smallint[]) and endpoint.internal = $3
            limit $2
        ) as open_failures
        "#,
        &buckets,
        most,
        internal,
    )
    .fetch_one(&store.engine)
    .await?;
    Ok(count)
}

/// How many buckets have no owner, or one whose lease has run out.
pub async fn unowned(store: &Store) -> Result<i64, Failed> {
    let count = sqlx::query_scalar!(r#"select count(*) as "count!" from delivery_bucket where owner is null or leased_until < now()"#)
        .fetch_one(&store.engine)
        .await?;
    Ok(count)
}

/// The last day for which there is a partition of messages.
pub async fn last_day(store: &Store) -> Result<Option<NaiveDate>, Failed> {
    let day = sqlx::query_scalar!(
        r#"
        select max(to_date(right(child.relname::text, 8), 'YYYYMMDD')) as "day"
        from pg_inherits
        join pg_class child on child.oid = inhrelid
        where inhparent = 'message'::regclass
        "#
    )
    .fetch_one(&store.engine)
    .await?;
    Ok(day)
}
