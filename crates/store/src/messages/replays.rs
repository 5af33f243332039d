//! Replay jobs: each sends the delivered messages of a time range to an endpoint once more, with the same ids and bytes, in order and
//! a few at a time. The owner of the endpoint's bucket runs them.
//!
//! A replayed message is owed again in the lane `replay <subject>`: the messages of a subject are replayed one after the other, and
//! new messages of the subject do not wait for them. See `docs/adr/0039-replays.md`.

mod release;

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::messages::message::Interface;
use uuid::Uuid;

pub(crate) use self::release::is_replay;
pub use self::release::{RunningReplay, release, running};
use crate::messages::log::{first_id, written_at};
use crate::{Failed, Store, Tx};

/// A job that replays messages to an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    pub id: Uuid,
    pub interface: String,
    /// Messages written from this time on.
    pub from: DateTime<Utc>,
    /// Messages written before this time.
    pub to: DateTime<Utc>,
    /// The rate in messages per second.
    pub per_second: i32,
    /// The number of messages that were owed once more so far.
    pub released: i64,
    /// The number of messages of the interface that were left out so far: erased, still owed, or never delivered.
    pub left_out: i64,
    /// The time up to which messages have been looked at.
    pub looked_at_until: Option<DateTime<Utc>>,
    pub created_by: String,
    pub created_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
    pub cancelled_at: Option<DateTime<Utc>>,
}

/// A job to create.
pub struct NewReplay<'a> {
    pub id: Uuid,
    pub endpoint: EndpointId,
    pub from: DateTime<Utc>,
    pub to: DateTime<Utc>,
    /// The rate in messages per second.
    pub per_second: i32,
    pub created_by: &'a str,
}

/// Creates a job. The constraint `one_replay_job_per_endpoint` allows one running job per endpoint.
pub async fn insert(tx: &mut Tx, job: &NewReplay<'_>, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into replay_job (
            merchant_id, job_id, endpoint_id, created_at, replayed_from, replayed_to, paced_at, released, left_out, per_second, created_by
        )
        values ($1, $2, $3, $4, $5, $6, $4, 0, 0, $7, $8)
        "#,
        tx.merchant().0,
        job.id,
        job.endpoint.0,
        now,
        job.from,
        job.to,
        job.per_second,
        job.created_by,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Cancels a job. Returns false if it was not running any more. Messages that it has released are still delivered.
pub async fn cancel(tx: &mut Tx, job: Uuid, now: DateTime<Utc>) -> Result<bool, Failed> {
    let done = sqlx::query!(
        "update replay_job set cancelled_at = $3, ended_at = $3 where merchant_id = $1 and job_id = $2 and ended_at is null",
        tx.merchant().0,
        job,
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(done.rows_affected() > 0)
}

/// The newest jobs of `merchant`, or only those of `interface`, or only `job`.
pub async fn list(
    store: &Store,
    merchant: MerchantId,
    interface: Option<Interface>,
    job: Option<Uuid>,
    limit: i64,
) -> Result<Vec<Replay>, Failed> {
    let rows = sqlx::query!(
        r#"
        with target as materialized (
            select endpoint.endpoint_id, endpoint.interface
            from endpoint
            where endpoint.merchant_id = $1 and ($3::text is null or endpoint.interface = $3)
        )
        select
            replay_job.job_id, target.interface, replay_job.replayed_from, replay_job.replayed_to, replay_job.per_second,
            replay_job.released, replay_job.left_out, replay_job.cursor_message_id, replay_job.created_by, replay_job.created_at,
            replay_job.ended_at, replay_job.cancelled_at
        from replay_job
        join target on target.endpoint_id = replay_job.endpoint_id
        where replay_job.merchant_id = $1 and ($2::uuid is null or replay_job.job_id = $2)
        order by replay_job.job_id desc
        limit $4
        "#,
        merchant.0,
        job,
        interface.map(Interface::as_str),
        limit,
    )
    .fetch_all(&store.pool)
    .await?;
    let replays = rows.into_iter().map(|row| Replay {
        id: row.job_id,
        interface: row.interface,
        from: row.replayed_from,
        to: row.replayed_to,
        per_second: row.per_second,
        released: row.released,
        left_out: row.left_out,
        looked_at_until: row.cursor_message_id.map(written_at),
        created_by: row.created_by,
        created_at: row.created_at,
        ended_at: row.ended_at,
        cancelled_at: row.cancelled_at,
    });
    Ok(replays.collect())
}

/// The most messages of a range that a preview looks at.
const LOOKED_AT: i64 = 150;

/// What a replay of a range would send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preview {
    /// The range is short: exactly so many delivered messages, and so many that are left out.
    Exact { delivered: i64, left_out: i64 },
    /// The range is long: about so many were delivered in the hours that it touches.
    About { delivered: i64 },
}

/// Counts the messages that a replay of the range would send. A short range is counted message by message, a long one by the hourly
/// counts of the endpoint, so that a preview costs the same whatever is stored.
pub async fn preview(
    store: &Store,
    merchant: MerchantId,
    (endpoint, interface): (EndpointId, Interface),
    (from, to): (DateTime<Utc>, DateTime<Utc>),
) -> Result<Preview, Failed> {
    let row = sqlx::query!(
        r#"
        with looked as materialized (
            select message.message_id, message.kind, message.erased
            from message
            where message.merchant_id = $1 and message.message_id >= $2 and message.message_id < $3
            order by message.message_id
            limit $4
        ),
        last as materialized (select looked.message_id from looked order by looked.message_id desc limit 1),
        -- Messages that were not delivered: three reads of the same range, instead of three for each message.
        aside as materialized (
            select delivery.message_id
            from delivery
            where delivery.merchant_id = $1 and delivery.message_id >= $2 and delivery.message_id <= (select last.message_id from last)
            union
            select failure.message_id
            from failure
            where failure.merchant_id = $1 and failure.message_id >= $2 and failure.message_id <= (select last.message_id from last)
                and failure.state <> 'resolved'
            union
            select unsent_message.message_id
            from unsent_message
            where unsent_message.merchant_id = $1 and unsent_message.message_id >= $2
                and unsent_message.message_id <= (select last.message_id from last)
        )
        select
            count(*) as "looked_at!",
            count(*) filter (where looked.kind = $5 and not looked.erased and aside.message_id is null) as "delivered!",
            count(*) filter (where looked.kind = $5 and (looked.erased or aside.message_id is not null)) as "left_out!"
        from looked
        left join aside on aside.message_id = looked.message_id
        "#,
        merchant.0,
        first_id(from),
        first_id(to),
        LOOKED_AT,
        interface.as_str(),
    )
    .fetch_one(&store.pool)
    .await?;
    if row.looked_at < LOOKED_AT {
        return Ok(Preview::Exact { delivered: row.delivered, left_out: row.left_out });
    }
    let delivered = sqlx::query_scalar!(
        r#"
        select coalesce(sum(count), 0)::bigint as "delivered!"
        from attempt_hourly
        where merchant_id = $1 and endpoint_id = $2 and hour >= date_trunc('hour', $3::timestamptz, 'UTC') and hour < $4
            and outcome like '2__'
        "#,
        merchant.0,
        endpoint.0,
        from,
        to,
    )
    .fetch_one(&store.pool)
    .await?;
    Ok(Preview::About { delivered })
}

/// The time for which a job is listed after it ended.
const KEPT_FOR: TimeDelta = TimeDelta::days(90);

/// Jobs of all merchants that ended long enough before `now`, oldest first.
pub async fn list_outdated(store: &Store, now: DateTime<Utc>, most: i64) -> Result<Vec<(MerchantId, Uuid)>, Failed> {
    let rows =
        sqlx::query!("select merchant_id, job_id from replay_job where ended_at <= $1 order by ended_at limit $2", now - KEPT_FOR, most,)
            .fetch_all(&store.pool)
            .await?;
    Ok(rows.into_iter().map(|row| (MerchantId(row.merchant_id), row.job_id)).collect())
}

/// Deletes these jobs.
pub async fn forget(tx: &mut Tx, jobs: &[Uuid]) -> Result<(), Failed> {
    sqlx::query!("delete from replay_job where merchant_id = $1 and job_id = any($2)", tx.merchant().0, jobs)
        .execute(tx.connection())
        .await?;
    Ok(())
}
