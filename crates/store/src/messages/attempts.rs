//! The history of calls.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use crate::{Failed, Store, Tx};

/// One call.
#[derive(Clone, Debug)]
pub struct Attempt {
    pub attempt_id: Uuid,
    pub started_at: DateTime<Utc>,
    pub took_ms: i32,
    /// The attempt number that was sent to the receiver.
    pub number: i16,
    pub status: Option<i16>,
    pub outcome: String,
    /// The reason there was no response, or no usable one.
    pub reason: Option<String>,
    /// The beginning of the response body.
    pub answer: Option<Vec<u8>>,
}

impl Attempt {
    /// The place of the attempt among all attempts at its message.
    #[must_use]
    pub fn place(&self) -> Place {
        Place { started_at: self.started_at, number: self.number, attempt_id: self.attempt_id }
    }
}

/// The place of an attempt among all attempts at its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub started_at: DateTime<Utc>,
    pub number: i16,
    pub attempt_id: Uuid,
}

/// The most attempts that are read at once.
pub const MOST_LISTED: u32 = 100;

/// Some of the attempts to deliver a message, first to last.
#[derive(Clone, Debug)]
pub struct Page {
    pub attempts: Vec<Attempt>,
    /// The place after which the next page begins, unless this is the last one.
    pub next: Option<Place>,
}

/// The first attempts to deliver `message`, up to [`MOST_LISTED`].
pub async fn list(store: &Store, merchant: MerchantId, message: Uuid) -> Result<Vec<Attempt>, Failed> {
    Ok(page(store, merchant, message, None, MOST_LISTED).await?.attempts)
}

/// Up to `limit` attempts to deliver `message` which follow `after`.
pub async fn page(store: &Store, merchant: MerchantId, message: Uuid, after: Option<Place>, limit: u32) -> Result<Page, Failed> {
    let limit = limit.min(MOST_LISTED) as usize;
    // Read one more than asked for, to see whether there are more.
    let mut attempts = sqlx::query_as!(
        Attempt,
        r#"
        select attempt_id, started_at, took_ms, number, status, outcome, reason, answer
        from attempt
        where merchant_id = $1 and message_id = $2
            and ($3::timestamptz is null or (started_at, number, attempt_id) > ($3, $4::smallint, $5::uuid))
        order by started_at, number, attempt_id
        limit $6
        "#,
        merchant.0,
        message,
        after.map(|after| after.started_at),
        after.map(|after| after.number),
        after.map(|after| after.attempt_id),
        i64::try_from(limit + 1).unwrap_or(i64::MAX),
    )
    .fetch_all(&store.pool)
    .await?;
    let more = attempts.len() > limit;
    attempts.truncate(limit);
    Ok(Page { next: attempts.last().filter(|_| more).map(Attempt::place), attempts })
}

/// The `nth` newest attempt to deliver `message` that began after `since`: the time at which it began.
pub async fn nth_newest(tx: &mut Tx, message: Uuid, since: DateTime<Utc>, nth: u32) -> Result<Option<DateTime<Utc>>, Failed> {
    let began = sqlx::query_scalar!(
        r#"
        select started_at
        from attempt
        where merchant_id = $1 and message_id = $2 and started_at > $3
        order by started_at desc
        offset $4
        limit 1
        "#,
        tx.merchant().0,
        message,
        since,
        i64::from(nth.saturating_sub(1)),
    )
    .fetch_optional(tx.connection())
    .await?;
    Ok(began)
}

/// True if each of the `counted` attempts at `message` is known to have been answered with one of these `statuses`, apart from
/// refused tokens. Calls in `known` are left out, because the caller knows more about them.
pub async fn were_answered_with(tx: &mut Tx, message: Uuid, counted: i16, known: &[Uuid], statuses: &[i16]) -> Result<bool, Failed> {
    let row = sqlx::query!(
        r#"
        select
            -- A call without a recorded answer has no status.
            coalesce(bool_and(coalesce(status = any ($4::smallint[]) or status = 401, false)), true) as "all!",
            count(distinct number) filter (where status = any ($4::smallint[])) as "numbers!"
        from attempt
        where merchant_id = $1 and message_id = $2 and attempt_id <> all ($3)
        "#,
        tx.merchant().0,
        message,
        known,
        statuses,
    )
    .fetch_one(tx.connection())
    .await?;
    Ok(row.all && row.numbers >= i64::from(counted))
}

/// True if the answer to every attempt at the failed message `message` is recorded.
pub async fn were_answered(tx: &mut Tx, message: Uuid) -> Result<bool, Failed> {
    let answered = sqlx::query_scalar!(
        r#"
        select
            coalesce(bool_and(attempt.status is not null), true)
            -- Old attempts are deleted before the message that failed.
            and count(distinct attempt.number) >= coalesce(
                (select failure.attempts from failure where failure.merchant_id = $1 and failure.message_id = $2), 0
            ) as "answered!"
        from attempt
        where attempt.merchant_id = $1 and attempt.message_id = $2
        "#,
        tx.merchant().0,
        message,
    )
    .fetch_one(tx.connection())
    .await?;
    Ok(answered)
}
