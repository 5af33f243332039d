//! The audit trail: every change is recorded in its own transaction.

use chrono::{DateTime, Months, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use crate::{Failed, Store, Tx};

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

/// The time for which the audit trail is kept: 7 years.
const KEPT_FOR: Months = Months::new(7 * 12);

/// Entries of all merchants that are too old at `now`, oldest first.
pub async fn list_outdated(store: &Store, now: DateTime<Utc>, most: i64) -> Result<Vec<(MerchantId, Uuid)>, Failed> {
    let rows = sqlx::query!("select merchant_id, audit_id from audit where done_at <= $1 order by done_at limit $2", now - KEPT_FOR, most,)
        .fetch_all(&store.pool)
        .await?;
    Ok(rows.into_iter().map(|row| (MerchantId(row.merchant_id), row.audit_id)).collect())
}

/// Deletes those of the entries that are older than 7 years by the database's clock. The program's role has no right to delete from
/// the audit trail; the database does it on its behalf.
pub async fn forget(tx: &mut Tx, entries: &[Uuid]) -> Result<(), Failed> {
    sqlx::query!("select forget_audit($1, $2)", tx.merchant().0, entries).fetch_one(tx.connection()).await?;
    Ok(())
}
