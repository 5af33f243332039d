//! Failed tries to sign in, counted so that guessing does not pay.

use chrono::{DateTime, Utc};
use domain::merchants::operator::slow_down::{FORGOTTEN_AFTER, Trouble};

use crate::{Failed, HomeTx};

/// The keyed hash of what is counted: an address, an account or a device.
pub type Key = [u8; 16];

/// Locks the counter of `key`; one that does not exist yet starts at 0.
pub async fn lock(tx: &mut HomeTx, key: Key, now: DateTime<Utc>) -> Result<Trouble, Failed> {
    let trouble = sqlx::query_as!(
        Trouble,
        r#"
        insert into sign_in_trouble as stored (key_hash, failures, open_at) values ($1, 0, $2)
        on conflict (key_hash) do update set failures = stored.failures
        returning failures, open_at
        "#,
        key.as_slice(),
        now,
    );
    Ok(trouble.fetch_one(tx.connection()).await?)
}

/// Saves the counter of `key`.
pub async fn save(tx: &mut HomeTx, key: Key, trouble: Trouble) -> Result<(), Failed> {
    sqlx::query!(
        "update sign_in_trouble set failures = $2, open_at = $3 where key_hash = $1",
        key.as_slice(),
        trouble.failures,
        trouble.open_at,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Deletes the counters of these keys: somebody has signed in.
pub async fn clear(tx: &mut HomeTx, keys: &[Key]) -> Result<(), Failed> {
    let keys: Vec<&[u8]> = keys.iter().map(Key::as_slice).collect();
    sqlx::query!("delete from sign_in_trouble where key_hash = any($1)", &keys as &[&[u8]]).execute(tx.connection()).await?;
    Ok(())
}

/// Deletes counters without a failed try for a day at `now`. Returns their number.
pub async fn forget(tx: &mut HomeTx, now: DateTime<Utc>, most: i64) -> Result<u64, Failed> {
    let forgotten = sqlx::query!(
        r#"
        delete from sign_in_trouble where key_hash in (
            select key_hash from sign_in_trouble where open_at <= $1 order by open_at limit $2 for update skip locked
        )
        "#,
        now - FORGOTTEN_AFTER,
        most,
    )
    .execute(tx.connection())
    .await?;
    Ok(forgotten.rows_affected())
}
