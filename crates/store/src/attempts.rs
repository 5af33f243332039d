//! The history of calls.

use std::ops::Range;

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use crate::{Failed, Store, Tx};

/// One call.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// When it began.
    pub started_at: DateTime<Utc>,
    /// How long it took.
    pub took_ms: i32,
    /// As the receiver was told.
    pub number: i16,
    /// The answer's status.
    pub status: Option<i16>,
    /// The outcome in a word.
    pub outcome: String,
    /// Why there was no answer.
    pub reason: Option<String>,
    /// How the answer began.
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

/// Whether every call of `message` so far is known to have been answered with one of the statuses of `refusals`: all of its
/// `counted` attempts, and every call that was written down, but those in `known`, of which the caller knows more.
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
