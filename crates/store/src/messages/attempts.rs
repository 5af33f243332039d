//! The history of calls.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use crate::{Failed, Store, Tx};

/// One call.
#[derive(Clone, Debug)]
pub struct Attempt {
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

/// The attempts to deliver `message`, first to last.
pub async fn list(store: &Store, merchant: MerchantId, message: Uuid) -> Result<Vec<Attempt>, Failed> {
    let attempts = sqlx::query_as!(
        Attempt,
        r#"
        select started_at, took_ms, number, status, outcome, reason, answer
        from attempt
        where merchant_id = $1 and message_id = $2
        order by started_at, number, attempt_id
        "#,
        merchant.0,
        message,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(attempts)
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
