//! Notices about failing endpoints: the health reported so far, and the facts that a new notice needs.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::messages::notice::{ReportedHealth, Run};
use uuid::Uuid;

use crate::connection::Connection;
use crate::messages::buckets::bucket;
use crate::messages::holds::{Hold, hold};
use crate::messages::log::first_id;
use crate::messages::settlement::UNKNOWN;
use crate::{Failed, Store, Tx};

/// Counting messages stops here.
pub const MOST_COUNTED: i64 = 10_000;

/// Limits on the attempts that a new owner reads to learn how an endpoint has been doing.
const LOOKED_BACK: TimeDelta = TimeDelta::hours(24);
const MOST_LOOKED_AT: i64 = 2_000;

/// An endpoint that may need a notice, as a new owner finds it.
pub struct TroubledEndpoint {
    pub merchant: MerchantId,
    pub endpoint: EndpointId,
    pub bucket: u8,
    pub reported: ReportedHealth,
    /// When a message was last given up, among those still open in the failure queue.
    pub given_up_at: Option<DateTime<Utc>>,
    /// The run of its latest attempts.
    pub run: Run,
    /// The outcome of the last attempt that failed.
    pub last_failure: Option<String>,
}

/// The endpoints of `buckets` that have been reported as failing, have messages waiting for a retry, or have open entries in
/// the failure queue.
pub async fn troubled(store: &Store, buckets: &[u8], now: DateTime<Utc>) -> Result<Vec<TroubledEndpoint>, Failed> {
    let buckets: Vec<i16> = buckets.iter().copied().map(i16::from).collect();
    let rows = sqlx::query!(
        r#"
        select
            endpoint.merchant_id, endpoint.endpoint_id, endpoint.bucket, told.failing_since as "failing_since?",
            told.failures_open_since as "failures_open_since?", told.recovered_at as "recovered_at?",
            told.failures_told_at as "failures_told_at?", newest.failed_at as "given_up_at?"
        from endpoint
        left join endpoint_notice as told on told.merchant_id = endpoint.merchant_id and told.endpoint_id = endpoint.endpoint_id
        left join lateral (
            select failure.failed_at
            from failure
            where failure.merchant_id = endpoint.merchant_id and failure.endpoint_id = endpoint.endpoint_id
                and failure.state in ('open', 'contacted')
            order by failure.failed_at desc
            limit 1
        ) as newest on true
        where endpoint.bucket = any ($1::smallint[]) and endpoint.removed_at is null and not endpoint.internal
            and (
                told.failing_since is not null or newest.failed_at is not null
                or exists (
                    select from delivery
                    where delivery.merchant_id = endpoint.merchant_id and delivery.endpoint_id = endpoint.endpoint_id
                        and delivery.attempts > 0
                )
            )
        "#,
        &buckets,
    )
    .fetch_all(&store.engine)
    .await?;
    let mut troubled = Vec::with_capacity(rows.len());
    for row in rows {
        let (merchant, endpoint) = (MerchantId(row.merchant_id), EndpointId(row.endpoint_id));
        let (run, last_failure) = look_back(store, merchant, endpoint, row.given_up_at, now).await?;
        let reported = ReportedHealth {
            failing_since: row.failing_since,
            failures_open_since: row.failures_open_since,
            recovered_at: row.recovered_at,
            failures_told_at: row.failures_told_at,
        };
        let bucket = bucket(row.bucket)?;
        troubled.push(TroubledEndpoint { merchant, endpoint, bucket, reported, given_up_at: row.given_up_at, run, last_failure });
    }
    Ok(troubled)
}

/// The run of the latest attempts at an endpoint, without test messages.
async fn look_back(
    store: &Store,
    merchant: MerchantId,
    endpoint: EndpointId,
    given_up_at: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> Result<(Run, Option<String>), Failed> {
    let rows = sqlx::query!(
        r#"
        select recent.started_at, recent.outcome, coalesce(recent.status between 200 and 299, false) as "arrived!"
        from (
            select attempt.attempt_id, attempt.message_id, attempt.endpoint_id, attempt.started_at, attempt.status, attempt.outcome
            from attempt
            where attempt.merchant_id = $1 and attempt.attempt_id >= $3
            order by attempt.attempt_id desc
            limit $4
        ) as recent
        where recent.endpoint_id = $2 and recent.outcome <> $5
            and not exists (
                select from message
                where message.merchant_id = $1 and message.message_id = recent.message_id and message.kind = 'endpoint_test'
            )
        order by recent.attempt_id
        "#,
        merchant.0,
        endpoint.0,
        first_id(now - LOOKED_BACK),
        MOST_LOOKED_AT,
        UNKNOWN,
    )
    .fetch_all(&store.engine)
    .await?;
    let (mut run, mut last_failure) = (Run::default(), None);
    for row in rows {
        if row.arrived {
            run.succeeds(row.started_at);
        } else {
            // The attempt that gave up a message started before the message was given up.
            let given_up = given_up_at.is_some_and(|at| at >= row.started_at);
            run.fails(row.started_at, given_up);
            last_failure = Some(row.outcome);
        }
    }
    Ok((run, last_failure))
}

/// The facts about an endpoint that a notice needs.
pub struct Facts {
    pub reported: ReportedHealth,
    /// The number of the last notice.
    pub sequence: i64,
    pub interface: String,
    pub url: String,
    /// True if the failure queue has open entries for it.
    pub open: bool,
    pub handle: String,
    pub technical_contact: Option<String>,
}

/// Locks the notice state of an endpoint for the holder of its bucket. Returns `None` if someone else holds the bucket by
/// now, or if the endpoint is paused or removed.
pub async fn lock(tx: &mut Tx, by: Hold, endpoint: EndpointId) -> Result<Option<Facts>, Failed> {
    if hold(tx.connection(), &[by]).await?.is_empty() {
        return Ok(None);
    }
    let merchant = tx.merchant();
    sqlx::query!(
        "insert into endpoint_notice (merchant_id, endpoint_id, sequence) values ($1, $2, 0) on conflict (merchant_id, endpoint_id) do nothing",
        merchant.0,
        endpoint.0,
    )
    .execute(tx.connection())
    .await?;
    let row = sqlx::query!(
        r#"
        select
            told.failing_since, told.failures_open_since, told.recovered_at, told.failures_told_at, told.sequence,
            endpoint.interface, endpoint.url, merchant.handle, merchant.technical_contact,
            exists (
                select from failure
                where failure.merchant_id = $1 and failure.endpoint_id = $2 and failure.state in ('open', 'contacted')
            ) as "open!"
        from endpoint_notice as told
        join endpoint on endpoint.merchant_id = $1 and endpoint.endpoint_id = told.endpoint_id
        join merchant on merchant.merchant_id = told.merchant_id
        where told.merchant_id = $1 and told.endpoint_id = $2 and endpoint.removed_at is null and endpoint.paused_at is null
        for update of told
        "#,
        merchant.0,
        endpoint.0,
    )
    .fetch_optional(tx.connection())
    .await?;
    Ok(row.map(|row| Facts {
        reported: ReportedHealth {
            failing_since: row.failing_since,
            failures_open_since: row.failures_open_since,
            recovered_at: row.recovered_at,
            failures_told_at: row.failures_told_at,
        },
        sequence: row.sequence,
        interface: row.interface,
        url: row.url,
        open: row.open,
        handle: row.handle,
        technical_contact: row.technical_contact,
    }))
}

/// An endpoint's backlog, each count bounded by [`MOST_COUNTED`].
pub struct Counts {
    pub waiting: i64,
    pub failed: i64,
}

/// Counts the backlog of an endpoint.
pub async fn count(tx: &mut Tx, endpoint: EndpointId) -> Result<Counts, Failed> {
    let counts = sqlx::query_as!(
        Counts,
        r#"
        select
            (
                select count(*)
                from (
                    select from delivery
                    where delivery.merchant_id = $1 and delivery.endpoint_id = $2
                    limit $3
                ) as waiting
            ) as "waiting!",
            (
                select count(*)
                from (
                    select from failure
                    where failure.merchant_id = $1 and failure.endpoint_id = $2 and failure.state in ('open', 'contacted')
                    limit $3
                ) as failed
            ) as "failed!"
        "#,
        tx.merchant().0,
        endpoint.0,
        MOST_COUNTED,
    )
    .fetch_one(tx.connection())
    .await?;
    Ok(counts)
}

/// Saves the reported health of an endpoint, and the number of the last notice.
pub async fn save(tx: &mut Tx, endpoint: EndpointId, reported: ReportedHealth, sequence: i64) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        update endpoint_notice
        set failing_since = $3, failures_open_since = $4, recovered_at = $5, failures_told_at = $6, sequence = $7
        where merchant_id = $1 and endpoint_id = $2
        "#,
        tx.merchant().0,
        endpoint.0,
        reported.failing_since,
        reported.failures_open_since,
        reported.recovered_at,
        reported.failures_told_at,
        sequence,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Clears the mark of open failures for those endpoints that no longer have any, so that the next failure is reported again. Runs in the
/// transaction that took entries out of the queue.
pub(crate) async fn note_emptied(connection: &mut Connection, merchants: &[Uuid], endpoints: &[Uuid]) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        update endpoint_notice
        set failures_open_since = null
        from unnest($1::uuid[], $2::uuid[]) as emptied (merchant_id, endpoint_id)
        where endpoint_notice.merchant_id = emptied.merchant_id and endpoint_notice.endpoint_id = emptied.endpoint_id
            and endpoint_notice.failures_open_since is not null
            and not exists (
                select from failure
                where failure.merchant_id = emptied.merchant_id and failure.endpoint_id = emptied.endpoint_id
                    and failure.state in ('open', 'contacted')
            )
        "#,
        merchants,
        endpoints,
    )
    .execute(connection)
    .await?;
    Ok(())
}
