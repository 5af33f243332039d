//! The history of calls.

use std::ops::Range;

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

/// True if every call of `message` is known to have been answered with a status in `refusals`: all of its `counted`
/// attempts, and every recorded call except those in `known`, about which the caller knows more.
pub async fn were_refused(tx: &mut Tx, message: Uuid, counted: i16, known: &[Uuid], refusals: Range<u16>) -> Result<bool, Failed> {
    let row = sqlx::query!(
        r#"
        select
            coalesce(bool_and(coalesce(status >= $4::integer and status < $5::integer, false)), true) as "refused!",
            count(distinct number) as "numbers!"
        from attempt
        where merchant_id = $1 and message_id = $2 and attempt_id <> all ($3)
        "#,
        tx.merchant().0,
        message,
        known,
        i32::from(refusals.start),
        i32::from(refusals.end),
    )
    .fetch_one(tx.connection())
    .await?;
    Ok(row.refused && row.numbers >= i64::from(counted))
}
