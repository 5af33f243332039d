//! Backlog figures for the metrics, counted up to a bound so that the cost does not grow with the backlog.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::{Failed, Store};

/// The number of deliveries that were already due at `before`, up to `most`, at merchants' endpoints of `buckets`. Paused
/// and removed endpoints are left out.
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

/// The due time of the oldest delivery that is due at `now`, at merchants' endpoints of `buckets`. Paused and removed
/// endpoints are left out.
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

/// The numbers of open entries in the failure queue for merchants' endpoints of `buckets`, by interface, up to `most` in all.
pub async fn open_failures_by_interface(store: &Store, buckets: &[u8], most: i64) -> Result<Vec<(String, i64)>, Failed> {
    let buckets: Vec<i16> = buckets.iter().copied().map(i16::from).collect();
    let rows = sqlx::query!(
        r#"
        select open_failures.interface, count(*) as "count!"
        from (
            select endpoint.interface
            from endpoint
            cross join lateral (
                select failure.failed_at
                from failure
                where failure.merchant_id = endpoint.merchant_id and failure.endpoint_id = endpoint.endpoint_id
                    and failure.state in ('open', 'contacted')
                order by failure.failed_at
                limit $2
            ) as open
            where endpoint.bucket = any ($1::smallint[]) and not endpoint.internal
            limit $2
        ) as open_failures
        group by open_failures.interface
        "#,
        &buckets,
        most,
    )
    .fetch_all(&store.engine)
    .await?;
    Ok(rows.into_iter().map(|row| (row.interface, row.count)).collect())
}

/// The number of open entries of internal work for endpoints of `buckets`, up to `most`: the operator's list.
pub async fn internal_failures(store: &Store, buckets: &[u8], most: i64) -> Result<i64, Failed> {
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
            where endpoint.bucket = any ($1::smallint[]) and endpoint.internal
            limit $2
        ) as open_failures
        "#,
        &buckets,
        most,
    )
    .fetch_one(&store.engine)
    .await?;
    Ok(count)
}

/// The backlog of a deliverer's endpoints, or of all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Messages of merchants' endpoints that should have been sent at least a minute ago.
    pub past_due: i64,
    /// The due time of the oldest message that is due.
    pub oldest_due_at: Option<DateTime<Utc>>,
    /// Open entries in the merchants' failure queues.
    pub open_failures: i64,
}

/// Saves what a deliverer has counted.
pub async fn save(store: &Store, deliverer: Uuid, figures: Figures) -> Result<(), Failed> {
    sqlx::query!(
        "update deliverer set past_due = $2, oldest_due_at = $3, open_failures = $4 where deliverer_id = $1",
        deliverer,
        figures.past_due,
        figures.oldest_due_at,
        figures.open_failures,
    )
    .execute(&store.engine)
    .await?;
    Ok(())
}

/// The sum of what the living deliverers have counted last.
pub async fn figures(store: &Store) -> Result<Figures, Failed> {
    let figures = sqlx::query_as!(
        Figures,
        r#"
        select coalesce(sum(past_due), 0)::bigint as "past_due!", min(oldest_due_at) as oldest_due_at,
            coalesce(sum(open_failures), 0)::bigint as "open_failures!"
        from deliverer
        where live_until > now()
        "#,
    )
    .fetch_one(&store.pool)
    .await?;
    Ok(figures)
}

/// The number of buckets without an owner, or with an expired lease.
pub async fn unowned(store: &Store) -> Result<i64, Failed> {
    let count = sqlx::query_scalar!(r#"select count(*) as "count!" from delivery_bucket where owner is null or leased_until < now()"#)
        .fetch_one(&store.engine)
        .await?;
    Ok(count)
}
