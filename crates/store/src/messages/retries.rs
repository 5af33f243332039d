//! Manual retries. The message is owed once more, with the same id and body, in a lane of its own so that it holds up
//! nothing else.

use chrono::{DateTime, Utc};
use domain::id::EndpointId;
use uuid::Uuid;

use crate::messages::buckets::bucket;
use crate::messages::outbox::Signal;
use crate::messages::unsent;
use crate::{Failed, Tx};

/// A message that may be retried.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The message kind as stored.
    pub kind: String,
    /// Messages with the same subject are delivered in order.
    pub subject: String,
    /// Position within the subject.
    pub sequence: i64,
    /// Counted attempts so far.
    pub attempts: i16,
    /// True if newer messages of its subject have been delivered.
    pub overtaken: bool,
    /// True if the content has been erased.
    pub erased: bool,
}

/// Locks `message` until the transaction ends, if it still exists, so that nobody can erase it.
pub async fn hold(tx: &mut Tx, message: Uuid) -> Result<(), Failed> {
    let merchant = tx.merchant().0;
    sqlx::query!("select from message where merchant_id = $1 and message_id = $2 for share", merchant, message)
        .fetch_optional(tx.connection())
        .await?;
    Ok(())
}

/// The number of newer messages of a subject that are examined.
const NEWER_LOOKED_AT: i64 = 50;

/// The message `message`, with what a retry needs to know.
pub async fn find(tx: &mut Tx, message: Uuid) -> Result<Option<Candidate>, Failed> {
    let candidate = sqlx::query_as!(
        Candidate,
        r#"
        select
            text.kind as "kind!", text.subject as "subject!", text.sequence as "sequence!", text.erased as "erased!",
            greatest(
                (select max(attempt.number) from attempt where attempt.merchant_id = $1 and attempt.message_id = $2),
                (select failure.attempts from failure where failure.merchant_id = $1 and failure.message_id = $2),
                0::smallint
            ) as "attempts!",
            exists (
                select
                from (
                    select newer.message_id, newer.sequence
                    from message as newer
                    where newer.merchant_id = $1 and newer.subject = text.subject and newer.message_id > $2
                        and newer.kind <> 'endpoint_test' and not newer.internal
                    order by newer.message_id
                    limit $3
                ) as newer
                where newer.sequence > text.sequence
                    and not exists (
                        select from delivery where delivery.merchant_id = $1 and delivery.message_id = newer.message_id
                    )
                    and not exists (
                        select from failure
                        where failure.merchant_id = $1 and failure.message_id = newer.message_id and failure.state <> 'resolved'
                    )
            ) as "overtaken!"
        from (
            select kept.*
            from (
                select message.kind, message.subject, message.sequence, message.erased
                from message
                where message.merchant_id = $1 and message.message_id = $2
                union all
                select failure.kind, failure.subject, failure.sequence, failure.erased
                from failure
                where failure.merchant_id = $1 and failure.message_id = $2
            ) as kept
            limit 1
        ) as text
        "#,
        tx.merchant().0,
        message,
        NEWER_LOOKED_AT,
    )
    .fetch_optional(tx.connection())
    .await?;
    Ok(candidate)
}

/// The endpoint for messages of `kind`, and its bucket.
pub async fn endpoint(tx: &mut Tx, kind: &str) -> Result<Option<(EndpointId, u8)>, Failed> {
    let row = sqlx::query!(
        "select endpoint_id, bucket from endpoint where merchant_id = $1 and interface = $2 and removed_at is null",
        tx.merchant().0,
        kind,
    )
    .fetch_optional(tx.connection())
    .await?;
    row.map(|row| Ok((EndpointId(row.endpoint_id), bucket(row.bucket)?))).transpose()
}

/// Owes `message` once more to `endpoint`, due at once. Answers nothing when it is still owed.
pub async fn insert(
    tx: &mut Tx,
    message: Uuid,
    candidate: &Candidate,
    (endpoint, bucket): (EndpointId, u8),
    now: DateTime<Utc>,
) -> Result<Option<Signal>, Failed> {
    let merchant = tx.merchant();
    let done = sqlx::query!(
        r#"
        insert into delivery (merchant_id, message_id, endpoint_id, sequence, due_at, attempts, attempts_before, discard, lane)
        values ($1, $2, $3, $4, $5, 0, $6, false, $2::uuid::text)
        on conflict (merchant_id, message_id) do nothing
        "#,
        merchant.0,
        message,
        endpoint.0,
        candidate.sequence,
        now,
        candidate.attempts,
    )
    .execute(tx.connection())
    .await?;
    unsent::remove(tx, message).await?;
    Ok((done.rows_affected() > 0).then_some(Signal { merchant, endpoint, bucket, due_at: now }))
}
