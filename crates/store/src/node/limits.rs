//! The limits that the operator has lowered. They belong to no merchant.

use chrono::{DateTime, Utc};

use crate::{Failed, HomeTx, Store};

/// A limit that the operator has set or reset.
#[derive(Clone, Debug)]
pub struct OperatorLimit {
    pub name: String,
    /// `None` if the limit has been reset.
    pub value: Option<i64>,
    pub set_by: String,
    pub set_at: DateTime<Utc>,
}

/// Every limit that was ever set.
pub async fn list(store: &Store) -> Result<Vec<OperatorLimit>, Failed> {
    let limits = sqlx::query_as!(OperatorLimit, "select name, value, set_by, set_at from operator_limit order by name")
        .fetch_all(&store.aside)
        .await?;
    Ok(limits)
}

/// Locks a limit and returns its value; `None` if it was never set, or has been reset.
pub async fn lock(tx: &mut HomeTx, name: &str) -> Result<Option<i64>, Failed> {
    let value = sqlx::query_scalar!("select value from operator_limit where name = $1 for update", name);
    Ok(value.fetch_optional(tx.connection()).await?.flatten())
}

/// Saves a limit, or resets it if it has no value.
pub async fn save(tx: &mut HomeTx, limit: &OperatorLimit) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into operator_limit (name, value, set_by, set_at) values ($1, $2, $3, $4)
        on conflict (name) do update set value = excluded.value, set_by = excluded.set_by, set_at = excluded.set_at
        "#,
        limit.name,
        limit.value,
        limit.set_by,
        limit.set_at,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}
