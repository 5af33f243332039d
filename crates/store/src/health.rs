//! How endpoints and those who deliver to them fare. Nothing here reads more than so many rows: counts end at [`MOST_COUNTED`].

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::{EndpointId, MerchantId};
use uuid::Uuid;

use crate::{Failed, Store};

/// How far is counted; beyond it there are "at least" so many.
pub const MOST_COUNTED: i64 = 10_000;

/// How long something may be due before it is past due.
const GRACE: TimeDelta = TimeDelta::seconds(60);

/// How far back the last success and the last failure are looked for.
const LOOKED_BACK: TimeDelta = TimeDelta::days(7);

/// How an endpoint fares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// Which endpoint.
    pub endpoint: EndpointId,
    /// How many messages are owed to it.
    pub owed: i64,
    /// How many of them should have been sent a minute ago; none while it is paused.
    pub past_due: i64,
    /// How many of its messages are in the failure queue.
    pub failed: i64,
    /// The last hour with a call that was answered with success, of the last 7 days.
    pub last_success: Option<DateTime<Utc>>,
    /// The last hour with a call that was not.
    pub last_failure: Option<DateTime<Utc>>,
    /// Whether more calls failed than succeeded in the last hour in which there were any.
    pub failing: bool,
}

/// How the endpoints of `merchant` fare.
pub async fn endpoints(store: &Store, merchant: MerchantId, now: DateTime<Utc>) -> Result<Vec<Health>, Failed> {
    let rows = sqlx::query!(
        r#"
        select
            endpoint.endpoint_id, owed.count as "owed!", late.count as "past_due!", failed.count as "failed!",
            hours.last_success, hours.last_failure, coalesce(hours.failing, false) as "failing!"
        from endpoint
        cross join lateral (
            select count(*)
            from (
                select from delivery
                where delivery.merchant_id = endpoint.merchant_id and delivery.endpoint_id = endpoint.endpoint_id
                limit $3
            ) as owed
        ) as owed
        cross join lateral (
            select count(*)
            from (
                select from delivery
                where delivery.merchant_id = endpoint.merchant_id and delivery.endpoint_id = endpoint.endpoint_id
                    and delivery.due_at < $2 and endpoint.paused_at is null
                limit $3
            ) as late
        ) as late
        cross join lateral (
            select count(*)
            from (
                select from failure
                where failure.merchant_id = endpoint.merchant_id and failure.endpoint_id = endpoint.endpoint_id
                    and failure.state in ('open', 'contacted')
                limit $3
            ) as failed
        ) as failed
        cross join lateral (
            select
                max(hourly.hour) filter (where hourly.outcome like '2__') as last_success,
                max(hourly.hour) filter (where hourly.outcome not like '2__') as last_failure,
                sum(hourly.count) filter (where hourly.outcome not like '2__' and hourly.hour = hourly.latest)
                    > coalesce(sum(hourly.count) filter (where hourly.outcome like '2__' and hourly.hour = hourly.latest), 0) as failing
            from (
                select attempt_hourly.hour, attempt_hourly.outcome, attempt_hourly.count, max(attempt_hourly.hour) over () as latest
                from attempt_hourly
                where attempt_hourly.merchant_id = endpoint.merchant_id and attempt_hourly.endpoint_id = endpoint.endpoint_id
                    and attempt_hourly.hour >= $4
            ) as hourly
        ) as hours
        where endpoint.merchant_id = $1 and endpoint.removed_at is null and not endpoint.internal
        "#,
        merchant.0,
        now - GRACE,
        MOST_COUNTED,
        now - LOOKED_BACK,
    )
    .fetch_all(&store.pool)
    .await?;
    let health = rows.into_iter().map(|row| Health {
        endpoint: EndpointId(row.endpoint_id),
        owed: row.owed,
        past_due: row.past_due,
        failed: row.failed,
        last_success: row.last_success,
        last_failure: row.last_failure,
        failing: row.failing,
    });
    Ok(health.collect())
}

/// A process that delivers.
#[derive(Clone, Debug)]
pub struct Deliverer {
    /// Its id; nothing stands for the buckets that nobody has.
    pub id: Option<Uuid>,
    /// Its machine and process.
    pub name: Option<String>,
    /// How many buckets it has.
    pub buckets: i64,
    /// How long ago the oldest of its leases was renewed.
    pub lease_age_seconds: Option<f64>,
    /// How many calls it had out when it last renewed them.
    pub calls: Option<i32>,
    /// How many messages of its endpoints should have been sent a minute ago.
    pub past_due: i64,
    /// How many of its endpoints are paused.
    pub paused: i64,
}

/// The processes that deliver, and what nobody delivers. `term` is how long a lease lasts.
pub async fn deliverers(store: &Store, term: f64, now: DateTime<Utc>) -> Result<Vec<Deliverer>, Failed> {
    let deliverers = sqlx::query_as!(
        Deliverer,
        r#"
        with held as (
            select case when leased_until > now() then owner end as owner, count(*) as buckets,
                max(extract(epoch from now() + make_interval(secs => $2) - leased_until)) as age
            from delivery_bucket
            group by 1
        ),
        work as (
            -- Across merchants, and bound to each by the endpoint.
            select case when bucket.leased_until > now() then bucket.owner end as owner,
                count(*) filter (where endpoint.paused_at is not null) as paused, sum(late.count) as past_due
            from endpoint
            join delivery_bucket as bucket on bucket.bucket = endpoint.bucket
            cross join lateral (
                select count(*)
                from (
                    select from delivery
                    where delivery.merchant_id = endpoint.merchant_id and delivery.endpoint_id = endpoint.endpoint_id
                        and delivery.due_at < $1 and endpoint.paused_at is null
                    limit $3
                ) as late
            ) as late
            where endpoint.removed_at is null
            group by 1
        )
        select
            coalesce(live.deliverer_id, held.owner) as id, live.name, coalesce(held.buckets, 0) as "buckets!",
            held.age::float8 as lease_age_seconds, live.calls, coalesce(work.past_due, 0)::bigint as "past_due!",
            coalesce(work.paused, 0) as "paused!"
        from (select * from deliverer where live_until > now()) as live
        full join held on held.owner = live.deliverer_id
        left join work on work.owner is not distinct from coalesce(live.deliverer_id, held.owner)
        order by live.name, 1
        "#,
        now - GRACE,
        term,
        MOST_COUNTED,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(deliverers)
}
