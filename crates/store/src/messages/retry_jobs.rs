//! Retry jobs: each retries the messages in the failure queue that an endpoint can take, a few at a time: its own, and those of removed
//! endpoints for the same interface. The owner of the endpoint's bucket runs them.

mod job;
mod part;
mod watching;

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::{EndpointId, MerchantId};
use uuid::Uuid;

pub use self::job::{Job, NewJob};
pub use self::part::{MOST_SELECTED, Part, insert_part};
pub use self::watching::{JobOfMerchant, MOST_WATCHED, Progress, newest, progress};
use crate::messages::buckets::bucket;
use crate::messages::holds::{Hold, hold};
use crate::messages::outbox::Signal;
use crate::{Failed, Store, Tx};

struct Row {
    job_id: Uuid,
    endpoint_id: Uuid,
    interface: String,
    failed_since: Option<DateTime<Utc>>,
    reason: Option<String>,
    selected: Option<i32>,
    per_second: i32,
    total: i64,
    released: i64,
    created_by: String,
    created_at: DateTime<Utc>,
    ended_at: Option<DateTime<Utc>>,
    cancelled_at: Option<DateTime<Utc>>,
}

impl From<Row> for Job {
    fn from(row: Row) -> Self {
        Self {
            id: row.job_id,
            endpoint: EndpointId(row.endpoint_id),
            interface: row.interface,
            failed_since: row.failed_since,
            reason: row.reason,
            selected: row.selected,
            per_second: row.per_second,
            total: row.total,
            released: row.released,
            created_by: row.created_by,
            created_at: row.created_at,
            ended_at: row.ended_at,
            cancelled_at: row.cancelled_at,
        }
    }
}

/// Creates a job and returns the number of messages it covers. Counting goes by the index and is cheap compared with the
/// calls that follow. The constraint `one_retry_job_per_endpoint` allows one running job per endpoint.
pub async fn insert(tx: &mut Tx, job: &NewJob<'_>, now: DateTime<Utc>) -> Result<i64, Failed> {
    let total = sqlx::query_scalar!(
        r#"
        insert into retry_job (
            merchant_id, job_id, endpoint_id, created_at, failed_since, paced_at, total, released, per_second, created_by
        )
        select $1, $2, $3, $4, $5, $4, count(*), 0, $6, $7
        from endpoint
        join endpoint as former
            on former.merchant_id = $1 and former.interface = endpoint.interface
            and (former.endpoint_id = endpoint.endpoint_id or former.removed_at is not null)
        join failure on failure.merchant_id = $1 and failure.endpoint_id = former.endpoint_id
        where endpoint.merchant_id = $1 and endpoint.endpoint_id = $3
            and failure.state in ('open', 'contacted') and not failure.erased
            and failure.failed_at <= $4 and ($5::timestamptz is null or failure.failed_at >= $5)
        returning total
        "#,
        tx.merchant().0,
        job.id,
        job.endpoint.0,
        now,
        job.failed_since,
        job.per_second,
        job.created_by,
    )
    .fetch_one(tx.connection())
    .await?;
    Ok(total)
}

/// Cancels a job. Returns false if it was not running any more. Messages that it has released are still delivered.
pub async fn cancel(tx: &mut Tx, job: Uuid, now: DateTime<Utc>) -> Result<bool, Failed> {
    let done = sqlx::query!(
        "update retry_job set cancelled_at = $3, ended_at = $3 where merchant_id = $1 and job_id = $2 and ended_at is null",
        tx.merchant().0,
        job,
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(done.rows_affected() > 0)
}

/// The newest jobs of `merchant`, or only `job` if it is given.
pub async fn list(store: &Store, merchant: MerchantId, job: Option<Uuid>, limit: i64) -> Result<Vec<Job>, Failed> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select
            retry_job.job_id, retry_job.endpoint_id, endpoint.interface, retry_job.failed_since, retry_job.reason,
            cardinality(retry_job.selected) as selected, retry_job.per_second, retry_job.total, retry_job.released,
            retry_job.created_by, retry_job.created_at, retry_job.ended_at, retry_job.cancelled_at
        from retry_job
        join endpoint on endpoint.merchant_id = retry_job.merchant_id and endpoint.endpoint_id = retry_job.endpoint_id
        where retry_job.merchant_id = $1 and ($2::uuid is null or retry_job.job_id = $2)
        order by retry_job.job_id desc
        limit $3
        "#,
        merchant.0,
        job,
        limit,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows.into_iter().map(Job::from).collect())
}

/// A running job, as the owner of its endpoint's bucket sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningJob {
    pub merchant: MerchantId,
    pub job: Uuid,
    pub bucket: u8,
}

/// The running jobs for endpoints of `buckets`.
pub async fn running(store: &Store, buckets: &[u8]) -> Result<Vec<RunningJob>, Failed> {
    let buckets: Vec<i16> = buckets.iter().copied().map(i16::from).collect();
    let rows = sqlx::query!(
        r#"
        -- Across merchants: few rows, by an index of their own.
        select retry_job.merchant_id, retry_job.job_id, endpoint.bucket
        from retry_job
        join endpoint on endpoint.merchant_id = retry_job.merchant_id and endpoint.endpoint_id = retry_job.endpoint_id
        where retry_job.ended_at is null and endpoint.bucket = any ($1::smallint[]) and endpoint.paused_at is null
            and not exists (select from moved_merchant as moved where moved.merchant_id = endpoint.merchant_id)
        "#,
        &buckets,
    )
    .fetch_all(&store.engine)
    .await?;
    let job = |(merchant, job, number)| Ok(RunningJob { merchant: MerchantId(merchant), job, bucket: bucket(number)? });
    rows.into_iter().map(|row| job((row.merchant_id, row.job_id, row.bucket))).collect()
}

/// The result of one turn of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The bucket belongs to someone else, or the job has ended.
    NotOurs,
    /// Messages were released, and there may be more.
    Released(Option<Signal>),
    /// The job has ended.
    Ended(Option<Signal>),
}

/// The maximum number of an endpoint's messages that are owed through retries at a time, including those that failed again
/// and wait for their next attempt. So a job waits while its messages keep failing, instead of piling everything onto an
/// endpoint that is still down.
const MOST_OWED: i64 = 1_000;

/// Releases the next messages of a job: no more than its rate allows by `now`, and no more than half of the endpoint's slots
/// at a time, so that live messages get through. The job's progress commits in the same transaction.
pub async fn release(tx: &mut Tx, by: Hold, job: Uuid, now: DateTime<Utc>) -> Result<Turn, Failed> {
    if hold(tx.connection(), &[by]).await?.is_empty() {
        return Ok(Turn::NotOurs);
    }
    let merchant = tx.merchant();
    let Some(row) = sqlx::query!(
        r#"
        select
            retry_job.endpoint_id, retry_job.created_at, retry_job.failed_since, retry_job.cursor_failed_at,
            retry_job.cursor_message_id, retry_job.paced_at, retry_job.per_second, retry_job.reason, retry_job.from_endpoint_id,
            retry_job.selected is not null as "selected!", retry_job.gone_through, endpoint.interface, endpoint.slots,
            endpoint.removed_at is not null as "removed!"
        from retry_job
        join endpoint on endpoint.merchant_id = retry_job.merchant_id and endpoint.endpoint_id = retry_job.endpoint_id
        where retry_job.merchant_id = $1 and retry_job.job_id = $2 and retry_job.ended_at is null
        for update of retry_job
        "#,
        merchant.0,
        job,
    )
    .fetch_optional(tx.connection())
    .await?
    else {
        return Ok(Turn::NotOurs);
    };
    let capacity = capacity(tx, row.endpoint_id, i64::from(row.slots / 2).max(1), now).await?;
    let limiter = RateLimiter::new(row.paced_at, row.per_second, now);
    let most = limiter.allowed.min(capacity);
    if most <= 0 && !row.removed {
        return Ok(Turn::Released(None));
    }
    // The remaining failures of a removed endpoint stay in the failure queue.
    let most = if row.removed { 0 } else { most };
    let here = part::Turn { job, endpoint: row.endpoint_id, interface: &row.interface, created_at: row.created_at, most, now };
    if row.selected && !row.removed {
        let (released, gone_through) = part::release_selected(tx, &here, row.gone_through).await?;
        let ended = gone_through.done.then_some(now);
        part::record(tx, job, gone_through.to, released, limiter.after(released), ended).await?;
        let signal = (released > 0).then_some(Signal { merchant, endpoint: EndpointId(row.endpoint_id), bucket: by.bucket, due_at: now });
        return Ok(if ended.is_some() { Turn::Ended(signal) } else { Turn::Released(signal) });
    }
    let (failed_at, message) =
        row.cursor_failed_at.zip(row.cursor_message_id).unwrap_or((row.failed_since.unwrap_or(DateTime::UNIX_EPOCH), Uuid::nil()));
    let released = match &row.reason {
        Some(reason) => part::release_of_reason(tx, &here, reason, row.from_endpoint_id, (failed_at, message)).await?,
        None => release_all(tx, &here, (failed_at, message)).await?,
    };
    let count = i64::try_from(released.len()).unwrap_or(i64::MAX);
    let ended = count < most || row.removed;
    let last = released.last().copied();
    record(tx, job, last, count, limiter.after(count), ended.then_some(now)).await?;
    let signal = (count > 0).then_some(Signal { merchant, endpoint: EndpointId(row.endpoint_id), bucket: by.bucket, due_at: now });
    Ok(if ended { Turn::Ended(signal) } else { Turn::Released(signal) })
}

/// Releases the next messages of a job for everything, after the place `(failed_at, message)`. Returns their places.
async fn release_all(
    tx: &mut Tx,
    turn: &part::Turn<'_>,
    (failed_at, message): (DateTime<Utc>, Uuid),
) -> Result<Vec<(DateTime<Utc>, Uuid)>, Failed> {
    let rows = sqlx::query!(
        r#"
        with next as materialized (
            select oldest.message_id, oldest.sequence, oldest.failed_at, oldest.attempts
            from endpoint as former
            cross join lateral (
                select failure.message_id, failure.sequence, failure.failed_at, failure.attempts
                from failure
                where failure.merchant_id = $1 and failure.endpoint_id = former.endpoint_id
                    and failure.state in ('open', 'contacted') and not failure.erased
                    and (failure.failed_at, failure.message_id) > ($3, $4) and failure.failed_at <= $5
                order by failure.failed_at, failure.message_id
                limit $6
                -- Whoever withdraws one at the same time goes first, or waits.
                for share of failure
            ) as oldest
            where former.merchant_id = $1 and former.interface = $8
                and (former.endpoint_id = $2 or former.removed_at is not null)
            order by oldest.failed_at, oldest.message_id
            limit $6
        ),
        -- One that is tried again already is left as it is.
        owed as (
            insert into delivery (merchant_id, message_id, endpoint_id, sequence, due_at, attempts, attempts_before, discard, lane)
            select $1, next.message_id, $2, next.sequence, $7, 0, next.attempts, false, next.message_id::text
            from next
            order by next.message_id
            on conflict (merchant_id, message_id) do nothing
        )
        select next.failed_at, next.message_id
        from next
        order by next.failed_at, next.message_id
        "#,
        tx.merchant().0,
        turn.endpoint,
        failed_at,
        message,
        turn.created_at,
        turn.most,
        turn.now,
        turn.interface,
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(rows.into_iter().map(|row| (row.failed_at, row.message_id)).collect())
}

/// Records the progress of a job: the `last` message it has released, and how many more than before.
async fn record(
    tx: &mut Tx,
    job: Uuid,
    last: Option<(DateTime<Utc>, Uuid)>,
    count: i64,
    paced_at: DateTime<Utc>,
    ended_at: Option<DateTime<Utc>>,
) -> Result<(), Failed> {
    let (failed_at, message) = last.unzip();
    sqlx::query!(
        r#"
        update retry_job
        set cursor_failed_at = coalesce($3, cursor_failed_at), cursor_message_id = coalesce($4, cursor_message_id),
            released = released + $5, paced_at = $6, ended_at = $7
        where merchant_id = $1 and job_id = $2
        "#,
        tx.merchant().0,
        job,
        failed_at,
        message,
        count,
        paced_at,
        ended_at,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The number of further retries that an endpoint can take at `now`.
pub(crate) async fn capacity(tx: &mut Tx, endpoint: Uuid, most_due: i64, now: DateTime<Utc>) -> Result<i64, Failed> {
    let retried = sqlx::query!(
        r#"
        select
            (
                select count(*)
                from (
                    select from delivery
                    where delivery.merchant_id = $1 and delivery.endpoint_id = $2 and delivery.attempts_before > 0 and delivery.due_at <= $3
                    limit $4
                ) as due
            ) as "due!",
            (
                select count(*)
                from (
                    select from delivery
                    where delivery.merchant_id = $1 and delivery.endpoint_id = $2 and delivery.attempts_before > 0
                    limit $5
                ) as waiting
            ) as "owed!"
        "#,
        tx.merchant().0,
        endpoint,
        now,
        most_due,
        MOST_OWED,
    )
    .fetch_one(tx.connection())
    .await?;
    Ok((most_due - retried.due).min(MOST_OWED - retried.owed))
}

/// The rate limiter of a job. Permits accumulate over time, up to one second's worth.
pub(crate) struct RateLimiter {
    from: DateTime<Utc>,
    per_second: i64,
    pub(crate) allowed: i64,
}

impl RateLimiter {
    pub(crate) fn new(paced_at: DateTime<Utc>, per_second: i32, now: DateTime<Utc>) -> Self {
        let from = paced_at.max(now - TimeDelta::seconds(1)).min(now);
        let per_second = i64::from(per_second).max(1);
        let micros = (now - from).num_microseconds().unwrap_or(0);
        Self { from, per_second, allowed: micros * per_second / 1_000_000 }
    }

    /// The start of the accumulation period after releasing `count` messages.
    pub(crate) fn after(&self, count: i64) -> DateTime<Utc> {
        self.from + TimeDelta::microseconds(count * 1_000_000 / self.per_second)
    }
}

/// The time for which a job is listed after it ended.
const KEPT_FOR: TimeDelta = TimeDelta::days(90);

/// Jobs of all merchants that ended long enough before `now`, oldest first.
pub async fn list_outdated(store: &Store, now: DateTime<Utc>, most: i64) -> Result<Vec<(MerchantId, Uuid)>, Failed> {
    let rows =
        sqlx::query!("select merchant_id, job_id from retry_job where ended_at <= $1 order by ended_at limit $2", now - KEPT_FOR, most,)
            .fetch_all(&store.pool)
            .await?;
    Ok(rows.into_iter().map(|row| (MerchantId(row.merchant_id), row.job_id)).collect())
}

/// Deletes these jobs.
pub async fn forget(tx: &mut Tx, jobs: &[Uuid]) -> Result<(), Failed> {
    sqlx::query!("delete from retry_job where merchant_id = $1 and job_id = any($2)", tx.merchant().0, jobs)
        .execute(tx.connection())
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(millis).expect("a time")
    }

    #[test]
    fn permits_accumulate_up_to_a_seconds_worth() {
        assert_eq!(RateLimiter::new(at(10_000), 20, at(10_000)).allowed, 0);
        assert_eq!(RateLimiter::new(at(10_000), 20, at(10_049)).allowed, 0);
        assert_eq!(RateLimiter::new(at(10_000), 20, at(10_500)).allowed, 10);
        assert_eq!(RateLimiter::new(at(10_000), 20, at(99_000)).allowed, 20);
        assert_eq!(RateLimiter::new(at(10_000), 20, at(9_000)).allowed, 0, "a clock that went back");
    }

    #[test]
    fn unused_time_counts_towards_the_next_permit() {
        let limiter = RateLimiter::new(at(10_000), 3, at(10_400));
        assert_eq!((limiter.allowed, limiter.after(1)), (1, at(10_000) + TimeDelta::microseconds(333_333)));
        let limiter = RateLimiter::new(at(10_000), 10, at(10_500));
        assert_eq!(limiter.after(2), at(10_200));
    }
}
