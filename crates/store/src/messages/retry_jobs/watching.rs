//! Jobs as people watch them: over all merchants, and how far one has come.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use super::job::Job;
use crate::messages::log::first_id;
use crate::{Failed, Store};

/// A job with its merchant.
#[derive(Clone, Debug)]
pub struct JobOfMerchant {
    pub handle: String,
    /// The merchant's name.
    pub merchant: String,
    pub job: Uuid,
    pub interface: String,
    pub reason: Option<String>,
    pub total: i64,
    pub released: i64,
    pub per_second: i32,
    pub created_by: String,
    pub created_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
    pub cancelled_at: Option<DateTime<Utc>>,
}

/// The jobs of all merchants: those that run, and then those that ended last. At most `limit` of each.
pub async fn newest(store: &Store, limit: i64) -> Result<Vec<JobOfMerchant>, Failed> {
    let jobs = sqlx::query_as!(
        JobOfMerchant,
        r#"
        -- Across merchants: by the indexes of running and of ended jobs.
        select
            merchant.handle, merchant.name as merchant, job.job_id as "job!", endpoint.interface, job.reason, job.total as "total!",
            job.released as "released!", job.per_second as "per_second!", job.created_by as "created_by!",
            job.created_at as "created_at!", job.ended_at, job.cancelled_at
        from (
            (select * from retry_job where ended_at is null order by endpoint_id limit $1)
            union all
            (select * from retry_job where ended_at is not null order by ended_at desc limit $1)
        ) as job
        join merchant on merchant.merchant_id = job.merchant_id
        join endpoint on endpoint.merchant_id = job.merchant_id and endpoint.endpoint_id = job.endpoint_id
        order by job.ended_at desc nulls first, job.job_id desc
        "#,
        limit,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(jobs)
}

/// The messages that are counted in each place of a job's progress.
pub const MOST_WATCHED: i64 = 1_000;

/// The attempts of one round; a message with more has been retried by hand.
const ROUND: i16 = 6;

/// The messages of a job that are not where they should be yet. Retries of the same endpoint by others count as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Released and neither delivered nor given up, up to [`MOST_WATCHED`].
    pub out: i64,
    /// Given up again since the job was created, up to [`MOST_WATCHED`].
    pub failed_again: i64,
}

/// The progress of `job`.
pub async fn progress(store: &Store, merchant: MerchantId, job: &Job) -> Result<Progress, Failed> {
    let progress = sqlx::query_as!(
        Progress,
        r#"
        select
            (
                select count(*)
                from (
                    select from delivery
                    where delivery.merchant_id = $1 and delivery.endpoint_id = $2 and delivery.attempts_before > 0
                    limit $3
                ) as owed
            ) as "out!",
            (
                select count(*)
                from (
                    select failure.message_id, failure.attempts
                    from failure
                    where failure.merchant_id = $1 and failure.endpoint_id = $2 and failure.state in ('open', 'contacted')
                        and failure.failed_at > $4
                    order by failure.failed_at, failure.message_id
                    limit $3
                ) as again
                where again.message_id < $5 and again.attempts > $6
            ) as "failed_again!"
        "#,
        merchant.0,
        job.endpoint.0,
        MOST_WATCHED,
        job.created_at,
        first_id(job.created_at),
        ROUND,
    )
    .fetch_one(&store.pool)
    .await?;
    Ok(progress)
}
