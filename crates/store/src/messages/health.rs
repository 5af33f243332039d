//! The health of endpoints and of the processes that deliver to them. Every query is bounded: counts stop at
//! [`MOST_COUNTED`].

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::{EndpointId, MerchantId};
use uuid::Uuid;

use crate::messages::late::GRACE;
use crate::{Failed, Store};

/// Counts stop here; a count that reaches it means "at least".
pub const MOST_COUNTED: i64 = 10_000;

/// The period searched for the last success and the last failure.
const LOOKED_BACK: TimeDelta = TimeDelta::days(7);

/// The health of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    pub endpoint: EndpointId,
    pub owed: i64,
    /// Messages that should have been sent at least a minute ago. Zero while the endpoint is paused.
    pub past_due: i64,
    pub failed: i64,
    /// The last hour with a successful call, within the last 7 days.
    pub last_success: Option<DateTime<Utc>>,
    /// The last hour with a failed call, within the last 7 days.
    pub last_failure: Option<DateTime<Utc>>,
    /// The beginning of the last successful call, within the last 7 days.
    pub last_success_at: Option<DateTime<Utc>>,
    /// True if more calls failed than succeeded in the most recent hour that had any.
    pub failing: bool,
    /// Since when it has been reported as failing.
    pub failing_since: Option<DateTime<Utc>>,
    /// The newest call. `None` if it was never called.
    pub last_call: Option<LastCall>,
    /// When the next message is due, unless the endpoint is paused.
    pub next_attempt_at: Option<DateTime<Utc>>,
}

/// The newest call to an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastCall {
    /// Its beginning; for a call that an earlier version counted, the beginning of its hour.
    pub at: DateTime<Utc>,
    /// The status, or a word for what happened instead.
    pub outcome: String,
    /// The reason there was no answer, or no usable one.
    pub reason: Option<String>,
}

/// The health of the endpoints of `merchant`.
pub async fn endpoints(store: &Store, merchant: MerchantId, now: DateTime<Utc>) -> Result<Vec<Health>, Failed> {
    endpoints_up_to(store, merchant, now, MOST_COUNTED).await
}

/// [`endpoints`] with counts that stop at `most`, for pages.
#[expect(clippy::too_many_lines, reason = "one statement, a line for each of its conditions")]
pub async fn endpoints_up_to(store: &Store, merchant: MerchantId, now: DateTime<Utc>, most: i64) -> Result<Vec<Health>, Failed> {
    let rows = sqlx::query!(
        r#"
        select
            endpoint.endpoint_id, owed.count as "owed!", late.count as "past_due!", failed.count as "failed!",
            succeeded.hour as "last_success?", refused.hour as "last_failure?", coalesce(latest.failing, false) as "failing!",
            coalesce(success.at, succeeded.hour) as "last_success_at?", endpoint_notice.failing_since as "failing_since?",
            call.at as "call_at?", call.outcome as "call_outcome?", call.last_reason as "call_reason?", next.due_at as "next_attempt_at?"
        from endpoint
        left join endpoint_notice
            on endpoint_notice.merchant_id = endpoint.merchant_id and endpoint_notice.endpoint_id = endpoint.endpoint_id
        cross join lateral (
            select count(*)
            from (
                -- The order keeps the planner on the endpoint's index: others have rows, this one may have none.
                select from delivery
                where delivery.merchant_id = endpoint.merchant_id and delivery.endpoint_id = endpoint.endpoint_id
                order by delivery.due_at
                limit $3
            ) as owed
        ) as owed
        cross join lateral (
            select count(*)
            from (
                select from delivery
                where delivery.merchant_id = endpoint.merchant_id and delivery.endpoint_id = endpoint.endpoint_id
                    and delivery.due_at <= $2 and endpoint.paused_at is null
                order by delivery.due_at
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
        -- The hours alone, without the rows, which lie apart from each other.
        left join lateral (
            select attempt_hourly.hour
            from attempt_hourly
            where attempt_hourly.merchant_id = endpoint.merchant_id and attempt_hourly.endpoint_id = endpoint.endpoint_id
                and attempt_hourly.hour >= $4 and attempt_hourly.outcome like '2__'
            order by attempt_hourly.hour desc
            limit 1
        ) as succeeded on true
        left join lateral (
            select attempt_hourly.hour
            from attempt_hourly
            where attempt_hourly.merchant_id = endpoint.merchant_id and attempt_hourly.endpoint_id = endpoint.endpoint_id
                and attempt_hourly.hour >= $4 and attempt_hourly.outcome not like '2__'
            order by attempt_hourly.hour desc
            limit 1
        ) as refused on true
        cross join lateral (
            select max(attempt_hourly.last_at) as at
            from attempt_hourly
            where attempt_hourly.merchant_id = endpoint.merchant_id and attempt_hourly.endpoint_id = endpoint.endpoint_id
                and attempt_hourly.hour = succeeded.hour and attempt_hourly.outcome like '2__'
        ) as success
        -- The newest hour with calls, however long ago it was: one probe of the key.
        left join lateral (
            select attempt_hourly.hour
            from attempt_hourly
            where attempt_hourly.merchant_id = endpoint.merchant_id and attempt_hourly.endpoint_id = endpoint.endpoint_id
            order by attempt_hourly.hour desc
            limit 1
        ) as last_hour on true
        left join lateral (
            select coalesce(attempt_hourly.last_at, attempt_hourly.hour) as at, attempt_hourly.outcome, attempt_hourly.last_reason
            from attempt_hourly
            where attempt_hourly.merchant_id = endpoint.merchant_id and attempt_hourly.endpoint_id = endpoint.endpoint_id
                and attempt_hourly.hour = last_hour.hour
            order by attempt_hourly.last_at desc nulls last
            limit 1
        ) as call on true
        left join lateral (
            select delivery.due_at
            from delivery
            where delivery.merchant_id = endpoint.merchant_id and delivery.endpoint_id = endpoint.endpoint_id
                and delivery.due_at < 'infinity' and endpoint.paused_at is null
            order by delivery.due_at
            limit 1
        ) as next on true
        cross join lateral (
            select
                sum(attempt_hourly.count) filter (where attempt_hourly.outcome not like '2__')
                    > coalesce(sum(attempt_hourly.count) filter (where attempt_hourly.outcome like '2__'), 0) as failing
            from attempt_hourly
            where attempt_hourly.merchant_id = endpoint.merchant_id and attempt_hourly.endpoint_id = endpoint.endpoint_id
                and attempt_hourly.hour = last_hour.hour
        ) as latest
        where endpoint.merchant_id = $1 and endpoint.removed_at is null and not endpoint.internal
        "#,
        merchant.0,
        now - GRACE,
        most,
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
        last_success_at: row.last_success_at,
        failing: row.failing,
        failing_since: row.failing_since,
        last_call: row.call_at.zip(row.call_outcome).map(|(at, outcome)| LastCall { at, outcome, reason: row.call_reason }),
        next_attempt_at: row.next_attempt_at,
    });
    Ok(health.collect())
}

/// A process that delivers.
#[derive(Clone, Debug)]
pub struct Deliverer {
    /// `None` stands for the buckets without an owner.
    pub id: Option<Uuid>,
    pub name: Option<String>,
    /// The number of buckets it holds.
    pub buckets: i64,
    /// The time since its oldest lease was renewed.
    pub lease_age_seconds: Option<f64>,
    /// Calls in progress at the last renewal.
    pub calls: Option<i32>,
    /// Messages of its endpoints that should have been sent at least a minute ago.
    pub past_due: i64,
    /// The number of its endpoints that are paused.
    pub paused: i64,
}

/// The processes that deliver, plus one entry for what nobody delivers. `term` is the duration of a lease in seconds.
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

/// A process that delivers, by its own account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub name: Option<String>,
    pub version: Option<String>,
    /// The number of buckets it holds.
    pub buckets: i64,
    /// Calls in progress at the last renewal.
    pub calls: Option<i32>,
    /// Messages of its endpoints that should have been sent at least a minute ago.
    pub past_due: Option<i64>,
    /// Open entries of the failure queue of its endpoints.
    pub open_failures: Option<i64>,
}

/// The processes that deliver, and the number of buckets that nobody holds.
pub async fn processes(store: &Store) -> Result<(Vec<Process>, i64), Failed> {
    let processes = sqlx::query_as!(
        Process,
        r#"
        select live.name, live.version, held.buckets as "buckets!", live.calls, live.past_due, live.open_failures
        from deliverer as live
        cross join lateral (
            select count(*) as buckets
            from delivery_bucket
            where delivery_bucket.owner = live.deliverer_id and delivery_bucket.leased_until > now()
        ) as held
        where live.live_until > now()
        order by live.name, live.deliverer_id
        limit 100
        "#,
    );
    let processes = processes.fetch_all(&store.pool).await?;
    let nobodys =
        sqlx::query_scalar!(r#"select count(*) as "count!" from delivery_bucket where leased_until is null or leased_until <= now()"#);
    Ok((processes, nobodys.fetch_one(&store.pool).await?))
}
