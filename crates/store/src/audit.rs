//! Who changed what, written in the transaction of the change.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::{Failed, Tx};

/// One change.
pub struct Entry<'a> {
    /// Its id.
    pub id: Uuid,
    /// Who did it.
    pub actor: &'a str,
    /// What was done, as a past participle: `merchant.added`.
    pub action: &'a str,
    /// To what.
    pub detail: &'a str,
    /// When.
    pub done_at: DateTime<Utc>,
}

/// Records a change in the data of the transaction's merchant.
pub async fn record(tx: &mut Tx, entry: Entry<'_>) -> Result<(), Failed> {
    sqlx::query!(
        "insert into audit (merchant_id, audit_id, actor, action, detail, done_at) values ($1, $2, $3, $4, $5, $6)",
        tx.merchant().0,
        entry.id,
        entry.actor,
        entry.action,
        entry.detail,
        entry.done_at,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}
