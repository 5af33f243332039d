//! The audit trail of what belongs to no merchant: operators, their sign-ins and requests.

use chrono::{DateTime, Months, Utc};
use uuid::Uuid;

use super::audit_rows::{Changed, Unwritten};
use crate::{Failed, HomeTx, Store};

/// Records a change that concerns no merchant: an entry, or one with what it was before and is after. It is written when the transaction
/// commits.
#[expect(clippy::unused_async, reason = "every write of the store is awaited, also one that waits for the commit")]
pub async fn record<'a>(tx: &mut HomeTx, entry: impl Into<Changed<'a>>) -> Result<(), Failed> {
    tx.keep_audit(Unwritten::new(entry.into()));
    Ok(())
}

/// The time for which the audit trail is kept: 7 years.
const KEPT_FOR: Months = Months::new(7 * 12);

/// Entries that are too old at `now`, oldest first.
pub async fn list_outdated(store: &Store, now: DateTime<Utc>, most: i64) -> Result<Vec<Uuid>, Failed> {
    let entries =
        sqlx::query_scalar!("select audit_id from home_audit where done_at <= $1 order by done_at limit $2", now - KEPT_FOR, most);
    Ok(entries.fetch_all(&store.pool).await?)
}

/// Deletes those of the entries that are older than 7 years by the database's clock. The program's role has no right to delete from
/// the audit trail; the database does it on its behalf.
pub async fn forget(tx: &mut HomeTx, entries: &[Uuid]) -> Result<(), Failed> {
    sqlx::query!("select forget_home_audit($1)", entries).fetch_one(tx.connection()).await?;
    Ok(())
}
