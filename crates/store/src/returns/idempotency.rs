//! Idempotency keys and the responses to their requests: a repeated request gets the same response.

use chrono::{DateTime, TimeDelta, Utc};

use crate::{Failed, Tx};

/// The time within which a request may be repeated.
pub const KEPT_FOR: TimeDelta = TimeDelta::hours(48);

/// A request made with a key.
pub struct Used {
    /// SHA-256 of the request.
    pub request_hash: Vec<u8>,
    pub answer: String,
}

/// The request made with `key`, if there was one.
pub async fn find(tx: &mut Tx, key: &str, now: DateTime<Utc>) -> Result<Option<Used>, Failed> {
    let used = sqlx::query_as!(
        Used,
        "select request_hash, answer from idempotency_key where merchant_id = $1 and key = $2 and used_at > $3",
        tx.merchant().0,
        key,
        now - KEPT_FOR,
    )
    .fetch_optional(tx.connection())
    .await?;
    Ok(used)
}

/// Records the use of `key`, and deletes some of the merchant's expired keys. A key that has been used in the meantime
/// violates `a_key_is_used_once`.
pub async fn insert(tx: &mut Tx, key: &str, request_hash: &[u8; 32], answer: &str, now: DateTime<Utc>) -> Result<(), Failed> {
    let merchant = tx.merchant().0;
    sqlx::query!(
        r#"
        delete from idempotency_key
        -- One list of keys goes by the primary key; with `or` every key of every merchant would be read.
        where merchant_id = $1 and used_at <= $2 and key = any(array(
            select old.key from idempotency_key as old where old.merchant_id = $1 and old.used_at <= $2 order by old.used_at limit 10
        ) || $3::text)
        "#,
        merchant,
        now - KEPT_FOR,
        key,
    )
    .execute(tx.connection())
    .await?;
    sqlx::query!(
        "insert into idempotency_key (merchant_id, key, request_hash, used_at, answer) values ($1, $2, $3, $4, $5)",
        merchant,
        key,
        request_hash.as_slice(),
        now,
        answer,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Deletes the merchant's expired keys, about `most` of them, oldest first. Returns how many it deleted.
pub async fn forget_expired(tx: &mut Tx, now: DateTime<Utc>, most: i64) -> Result<u64, Failed> {
    let deleted = sqlx::query!(
        r#"
        delete from idempotency_key
        where merchant_id = $1 and used_at <= (
            select max(old.used_at)
            from (select used_at from idempotency_key where merchant_id = $1 and used_at <= $2 order by used_at limit $3) as old
        )
        "#,
        tx.merchant().0,
        now - KEPT_FOR,
        most,
    )
    .execute(tx.connection())
    .await?;
    Ok(deleted.rows_affected())
}
