//! The installation's keys, as far as the database knows them: check values, and which of them is in use.

use chrono::{DateTime, Utc};

use crate::{Failed, HomeTx, Store};

/// A key that was used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedKey {
    pub kind: String,
    pub id: String,
    pub check_value: Vec<u8>,
    pub first_used_at: DateTime<Utc>,
    /// The time since which it is used for what is new; the newest one is.
    pub activated_at: Option<DateTime<Utc>>,
    /// The time since which nothing needs it any more.
    pub retired_at: Option<DateTime<Utc>>,
}

/// Every key that was ever used, the newest in use first.
pub async fn list(store: &Store) -> Result<Vec<UsedKey>, Failed> {
    let keys = sqlx::query_as!(
        UsedKey,
        r#"
        select kind, key_id as id, check_value, first_used_at, activated_at, retired_at
        from installation_key
        order by kind, activated_at desc nulls last, first_used_at desc, key_id
        "#,
    );
    Ok(keys.fetch_all(&store.aside).await?)
}

/// Keeps the check value of a key that is used for the first time. The first key of its kind is in use at once.
pub async fn insert(store: &Store, kind: &str, id: &str, check_value: &[u8], now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into installation_key (kind, key_id, check_value, first_used_at, activated_at)
        select $1, $2, $3, $4, case when not exists (select from installation_key where kind = $1) then $4::timestamptz end
        on conflict (kind, key_id) do nothing
        "#,
        kind,
        id,
        check_value,
        now,
    )
    .execute(&store.aside)
    .await?;
    Ok(())
}

/// Uses this key for what is new from `now` on.
pub async fn activate(tx: &mut HomeTx, kind: &str, id: &str, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!("update installation_key set activated_at = $3, retired_at = null where kind = $1 and key_id = $2", kind, id, now,)
        .execute(tx.connection())
        .await?;
    Ok(())
}

/// Notes that nothing needs the key any more.
pub async fn retire(tx: &mut HomeTx, kind: &str, id: &str, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!("update installation_key set retired_at = $3 where kind = $1 and key_id = $2 and retired_at is null", kind, id, now)
        .execute(tx.connection())
        .await?;
    Ok(())
}
