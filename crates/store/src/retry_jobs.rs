//! Jobs that try everything of an endpoint in the failure queue again, a few at a time. They are carried out by the owner of
//! the endpoint's bucket.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::{EndpointId, MerchantId};
use uuid::Uuid;

use crate::buckets::bucket;
use crate::outbox::Signal;
use crate::settlements::{Hold, hold};
use crate::{Failed, Store, Tx};

/// Everything of an endpoint in the failure queue, tried again a few at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its id.
    pub id: Uuid,
    /// Of which endpoint.
    pub endpoint: EndpointId,
    /// The endpoint's interface.
    pub interface: String,
    /// Only what failed since then.
    pub failed_since: Option<DateTime<Utc>>,
    /// How many a second.
    pub per_second: i32,
    /// How many there were when it was made.
    pub total: i64,
    /// How many were tried again by now.
    pub released: i64,
    /// Who made it.
    pub created_by: String,
    /// When.
    pub created_at: DateTime<Utc>,
    /// When it was over.
    pub ended_at: Option<DateTime<Utc>>,
    /// When it was called off.
    pub cancelled_at: Option<DateTime<Utc>>,
}

struct Row {
    job_id: Uuid,
    endpoint_id: Uuid,
    interface: String,
    failed_since: Option<DateTime<Utc>>,
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

/// A job that is to be made.
pub struct NewJob<'a> {
    /// Its id.
    pub id: Uuid,
    /// Of which endpoint.
    pub endpoint: EndpointId,
    /// Only what failed since then.
    pub failed_since: Option<DateTime<Utc>>,
    /// How many a second.
    pub per_second: i32,
    /// Who makes it.
    pub created_by: &'a str,
}

/// Makes a job, and answers how many messages it is about: they are counted by their index, which is little beside the calls
/// that follow. One job of an endpoint runs at a time: `one_retry_job_per_endpoint`.
pub async fn insert(tx: &mut Tx, job: &NewJob<'_>, now: DateTime<Utc>) -> Result<i64, Failed> {
    let total = sqlx::query_scalar!(
        r#"
        insert into retry_job (
            merchant_id, job_id, endpoint_id, created_at, failed_since, paced_at, total, released, per_second, created_by
        )
        select $1, $2, $3, $4, $5, $4, count(*), 0, $6, $7
        from failure
        where failure.merchant_id = $1 and failure.endpoint_id = $3 and failure.state in ('open', 'contacted')
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

/// Calls a job off; answers whether it was still running. What was released already is delivered all the same.
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

/// The newest jobs of `merchant`; `job` alone, where it is given.
pub async fn list(store: &Store, merchant: MerchantId, job: Option<Uuid>, limit: i64) -> Result<Vec<Job>, Failed> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select
            retry_job.job_id, retry_job.endpoint_id, endpoint.interface, retry_job.failed_since, retry_job.per_second,
            retry_job.total, retry_job.released, retry_job.created_by, retry_job.created_at, retry_job.ended_at,
            retry_job.cancelled_at
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

/// A job at work, as the owner of its endpoint's bucket sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtWork {
    /// Whose.
    pub merchant: MerchantId,
    /// Which job.
    pub job: Uuid,
    /// The endpoint's bucket.
    pub bucket: u8,
}

/// The jobs at work for endpoints of `buckets`.
pub async fn at_work(store: &Store, buckets: &[u8]) -> Result<Vec<AtWork>, Failed> {
    let buckets: Vec<i16> = buckets.iter().copied().map(i16::from).collect();
    let rows = sqlx::query!(
        r#"
        -- Across merchants: few rows, by an index of their own.
        select retry_job.merchant_id, retry_job.job_id, endpoint.bucket
        from retry_job
        join endpoint on endpoint.merchant_id = retry_job.merchant_id and endpoint.endpoint_id = retry_job.endpoint_id
        where retry_job.ended_at is null and endpoint.bucket = any ($1::smallint[]) and endpoint.paused_at is null
        "#,
        &buckets,
    )
    .fetch_all(&store.engine)
    .await?;
    rows.into_iter().map(|row| Ok(AtWork { merchant: MerchantId(row.merchant_id), job: row.job_id, bucket: bucket(row.bucket)? })).collect()
}

/// What a turn of a job came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The bucket is somebody else's, or the job is over.
    NotOurs,
    /// So many were released, and there may be more.
    Released(Option<Signal>),
    /// The job is over.
    Ended(Option<Signal>),
}

/// How many messages of an endpoint may be owed by retries at a time, those included that failed again and wait: a job whose
/// messages fail again waits for them, so that an endpoint that is still down does not gather everything once more.
const MOST_OWED: i64 = 1_000;

/// Releases the next messages of a job: no more than its rate allows by `now`, and no more than half of the endpoint's slots
/// at a time, so that live messages find room. How far it has come is part of the same transaction.
pub async fn release(tx: &mut Tx, by: Hold, job: Uuid, now: DateTime<Utc>) -> Result<Turn, Failed> {
    if hold(tx.connection(), &[by]).await?.is_empty() {
        return Ok(Turn::NotOurs);
    }
    let merchant = tx.merchant();
    let Some(row) = sqlx::query!(
        r#"
        select
            retry_job.endpoint_id, retry_job.created_at, retry_job.failed_since, retry_job.cursor_failed_at,
            retry_job.cursor_message_id, retry_job.paced_at, retry_job.per_second, endpoint.slots,
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
    let due_at_most = i64::from(row.slots / 2).max(1);
    let room = room(tx, row.endpoint_id, due_at_most, now).await?;
    let pace = Pace::new(row.paced_at, row.per_second, now);
    let most = pace.allowed.min(room);
    if most <= 0 && !row.removed {
        return Ok(Turn::Released(None));
    }
    // What of a removed endpoint is left stays in the failure queue.
    let most = if row.removed { 0 } else { most };
    let (failed_at, message) =
        row.cursor_failed_at.zip(row.cursor_message_id).unwrap_or((row.failed_since.unwrap_or(DateTime::UNIX_EPOCH), Uuid::nil()));
    let released = sqlx::query!(
        r#"
        with next as materialized (
            select failure.message_id, failure.sequence, failure.failed_at, failure.attempts
            from failure
            where failure.merchant_id = $1 and failure.endpoint_id = $2 and failure.state in ('open', 'contacted')
                and (failure.failed_at, failure.message_id) > ($3, $4) and failure.failed_at <= $5
            order by failure.failed_at, failure.message_id
            limit $6
            -- Whoever withdraws one at the same time goes first, or waits.
            for share of failure
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
        merchant.0,
        row.endpoint_id,
        failed_at,
        message,
        row.created_at,
        most,
        now,
    )
    .fetch_all(tx.connection())
    .await?;
    let count = i64::try_from(released.len()).unwrap_or(i64::MAX);
    let ended = count < most || row.removed;
    let (failed_at, message) = released.last().map(|last| (last.failed_at, last.message_id)).unzip();
    sqlx::query!(
        r#"
        update retry_job
        set cursor_failed_at = coalesce($3, cursor_failed_at), cursor_message_id = coalesce($4, cursor_message_id),
            released = released + $5, paced_at = $6, ended_at = $7
        where merchant_id = $1 and job_id = $2
        "#,
        merchant.0,
        job,
        failed_at,
        message,
        count,
        pace.after(count),
        ended.then_some(now),
    )
    .execute(tx.connection())
    .await?;
    let signal = (count > 0).then_some(Signal { merchant, endpoint: EndpointId(row.endpoint_id), bucket: by.bucket, due_at: now });
    Ok(if ended { Turn::Ended(signal) } else { Turn::Released(signal) })
}

/// For how many more retries an endpoint has room at `now`.
async fn room(tx: &mut Tx, endpoint: Uuid, due_at_most: i64, now: DateTime<Utc>) -> Result<i64, Failed> {
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
        due_at_most,
        MOST_OWED,
    )
    .fetch_one(tx.connection())
    .await?;
    Ok((due_at_most - retried.due).min(MOST_OWED - retried.owed))
}

/// The rate of a job: the right to release gathers with time, up to a second's worth.
struct Pace {
    from: DateTime<Utc>,
    per_second: i64,
    allowed: i64,
}

impl Pace {
    fn new(paced_at: DateTime<Utc>, per_second: i32, now: DateTime<Utc>) -> Self {
        let from = paced_at.max(now - TimeDelta::seconds(1)).min(now);
        let per_second = i64::from(per_second).max(1);
        let micros = (now - from).num_microseconds().unwrap_or(0);
        Self { from, per_second, allowed: micros * per_second / 1_000_000 }
    }

    /// From when on the rate counts once `count` were released.
    fn after(&self, count: i64) -> DateTime<Utc> {
        self.from + TimeDelta::microseconds(count * 1_000_000 / self.per_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(millis).expect("a time")
    }

    #[test]
    fn the_right_to_release_gathers_up_to_a_seconds_worth() {
        assert_eq!(Pace::new(at(10_000), 20, at(10_000)).allowed, 0);
        assert_eq!(Pace::new(at(10_000), 20, at(10_049)).allowed, 0);
        assert_eq!(Pace::new(at(10_000), 20, at(10_500)).allowed, 10);
        assert_eq!(Pace::new(at(10_000), 20, at(99_000)).allowed, 20);
        assert_eq!(Pace::new(at(10_000), 20, at(9_000)).allowed, 0, "a clock that went back");
    }

    #[test]
    fn what_was_not_used_counts_on() {
        let pace = Pace::new(at(10_000), 3, at(10_400));
        assert_eq!((pace.allowed, pace.after(1)), (1, at(10_000) + TimeDelta::microseconds(333_333)));
        let pace = Pace::new(at(10_000), 10, at(10_500));
        assert_eq!(pace.after(2), at(10_200));
    }
}
