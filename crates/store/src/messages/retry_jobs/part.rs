//! Jobs that retry a part of an endpoint's failures: those with one reason, or messages that a person has selected.

use chrono::{DateTime, Utc};
use domain::id::EndpointId;
use uuid::Uuid;

use super::job::NewJob;
use crate::{Failed, Tx};

/// The most messages that a job can be given one by one.
pub const MOST_SELECTED: usize = 1_000;

/// The part of an endpoint's failures that a job retries.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// Those that failed for this reason; only at the endpoint `at` if it is given, which may have been removed since.
    Reason { reason: &'a str, at: Option<EndpointId> },
    /// These messages, at most [`MOST_SELECTED`]. Those that are being retried already are left out.
    Selected(&'a [Uuid]),
}

/// Creates a job for a part, and returns the number of messages it covers. There is no job for a selection of which nothing is left
/// to retry.
pub async fn insert_part(tx: &mut Tx, job: &NewJob<'_>, part: Part<'_>, now: DateTime<Utc>) -> Result<i64, Failed> {
    let merchant = tx.merchant().0;
    let total = match part {
        Part::Reason { reason, at } => Some(
            sqlx::query_scalar!(
                r#"
                insert into retry_job (
                    merchant_id, job_id, endpoint_id, created_at, failed_since, paced_at, total, released, per_second, created_by,
                    reason, from_endpoint_id
                )
                select $1, $2, $3, $4, $5, $4, count(*), 0, $6, $7, $8, $9
                from endpoint
                join endpoint as former
                    on former.merchant_id = $1 and former.interface = endpoint.interface
                    and (former.endpoint_id = endpoint.endpoint_id or former.removed_at is not null)
                join failure on failure.merchant_id = $1 and failure.endpoint_id = former.endpoint_id
                where endpoint.merchant_id = $1 and endpoint.endpoint_id = $3 and ($9::uuid is null or former.endpoint_id = $9)
                    and failure.reason = $8 and failure.state in ('open', 'contacted') and not failure.erased
                    and failure.failed_at <= $4 and ($5::timestamptz is null or failure.failed_at >= $5)
                returning total
                "#,
                merchant,
                job.id,
                job.endpoint.0,
                now,
                job.failed_since,
                job.per_second,
                job.created_by,
                reason,
                at.map(|at| at.0),
            )
            .fetch_one(tx.connection())
            .await?,
        ),
        Part::Selected(messages) => {
            sqlx::query_scalar!(
                r#"
                insert into retry_job (
                    merchant_id, job_id, endpoint_id, created_at, paced_at, total, released, per_second, created_by, selected
                )
                select
                    $1, $2, $3, $4, $4, count(*), 0, $5, $6,
                    array_agg(failure.message_id order by failure.failed_at, failure.message_id)
                from endpoint
                join endpoint as former
                    on former.merchant_id = $1 and former.interface = endpoint.interface
                    and (former.endpoint_id = endpoint.endpoint_id or former.removed_at is not null)
                join failure on failure.merchant_id = $1 and failure.endpoint_id = former.endpoint_id
                where endpoint.merchant_id = $1 and endpoint.endpoint_id = $3 and failure.message_id = any($7)
                    and failure.state in ('open', 'contacted') and not failure.erased
                    and not exists (select from delivery where delivery.merchant_id = $1 and delivery.message_id = failure.message_id)
                having count(*) > 0
                returning total
                "#,
                merchant,
                job.id,
                job.endpoint.0,
                now,
                job.per_second,
                job.created_by,
                messages,
            )
            .fetch_optional(tx.connection())
            .await?
        }
    };
    Ok(total.unwrap_or(0))
}

/// The facts of a job's turn.
pub(super) struct Turn<'a> {
    pub(super) job: Uuid,
    pub(super) endpoint: Uuid,
    pub(super) interface: &'a str,
    pub(super) created_at: DateTime<Utc>,
    /// The most messages to release.
    pub(super) most: i64,
    pub(super) now: DateTime<Utc>,
}

/// Releases the next messages that failed for `reason`, after the place `(failed_at, message)`. Returns their places.
pub(super) async fn release_of_reason(
    tx: &mut Tx,
    turn: &Turn<'_>,
    reason: &str,
    at: Option<Uuid>,
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
                where failure.merchant_id = $1 and failure.endpoint_id = former.endpoint_id and failure.reason = $9
                    and failure.state in ('open', 'contacted') and not failure.erased
                    and (failure.failed_at, failure.message_id) > ($3, $4) and failure.failed_at <= $5
                order by failure.failed_at, failure.message_id
                limit $6
                -- Whoever withdraws one at the same time goes first, or waits.
                for share of failure
            ) as oldest
            where former.merchant_id = $1 and former.interface = $8 and ($10::uuid is null or former.endpoint_id = $10)
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
        reason,
        at,
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(rows.into_iter().map(|row| (row.failed_at, row.message_id)).collect())
}

/// The place up to which a job has gone through its selection.
pub(super) struct GoneThrough {
    pub(super) to: i32,
    /// True if that was all.
    pub(super) done: bool,
}

/// Releases the next messages of a selection, after the first `from`. Returns the number of those that were still in the queue.
pub(super) async fn release_selected(tx: &mut Tx, turn: &Turn<'_>, from: i32) -> Result<(i64, GoneThrough), Failed> {
    let to = from.saturating_add(i32::try_from(turn.most).unwrap_or(i32::MAX));
    let row = sqlx::query!(
        r#"
        with chosen as materialized (
            select retry_job.selected[$3 + 1 : $4] as messages, cardinality(retry_job.selected) as count
            from retry_job
            where retry_job.merchant_id = $1 and retry_job.job_id = $2
        ),
        next as materialized (
            select failure.message_id, failure.sequence, failure.attempts
            from failure
            where failure.merchant_id = $1 and failure.message_id = any(array(select unnest(chosen.messages) from chosen))
                and failure.state in ('open', 'contacted') and not failure.erased
            -- Whoever withdraws one at the same time goes first, or waits.
            for share of failure
        ),
        owed as (
            insert into delivery (merchant_id, message_id, endpoint_id, sequence, due_at, attempts, attempts_before, discard, lane)
            select $1, next.message_id, $5, next.sequence, $6, 0, next.attempts, false, next.message_id::text
            from next
            order by next.message_id
            on conflict (merchant_id, message_id) do nothing
        )
        select (select count(*) from next) as "released!", chosen.count as "count!"
        from chosen
        "#,
        tx.merchant().0,
        turn.job,
        from,
        to,
        turn.endpoint,
        turn.now,
    )
    .fetch_one(tx.connection())
    .await?;
    Ok((row.released, GoneThrough { to: to.min(row.count), done: to >= row.count }))
}

/// Records the progress of a job through its selection.
pub(super) async fn record(
    tx: &mut Tx,
    job: Uuid,
    gone_through: i32,
    count: i64,
    paced_at: DateTime<Utc>,
    ended_at: Option<DateTime<Utc>>,
) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        update retry_job
        set gone_through = $3, released = released + $4, paced_at = $5, ended_at = $6
        where merchant_id = $1 and job_id = $2
        "#,
        tx.merchant().0,
        job,
        gone_through,
        count,
        paced_at,
        ended_at,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}
