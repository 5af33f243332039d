//! The audit trail: every change is recorded in its own transaction.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::{Failed, Tx};

/// One change.
pub struct Entry<'a> {
    pub id: Uuid,
    /// The name of whoever made the change.
    pub actor: &'a str,
    /// A past participle: `merchant.added`.
    pub action: &'a str,
    /// The thing that was changed.
    pub detail: &'a str,
    pub done_at: DateTime<Utc>,
}

/// Records a change to the merchant's data.
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
