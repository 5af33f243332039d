//! The operator's work list: each open case once per kind and subject. Closed cases are kept for a while.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;
use domain::returns::work::WorkKind;
use uuid::Uuid;

use crate::{Failed, Store, Tx};

/// The time for which a closed case is kept.
pub const KEPT_FOR: TimeDelta = TimeDelta::days(30);

/// A case on the work list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkItem {
    pub id: Uuid,
    pub kind: WorkKind,
    /// The identifier of the return, or of the order if there is no return, or the reference of a withdrawal.
    pub subject: String,
    /// What happened, as a sentence for the operator.
    pub reason: String,
    pub opened_at: DateTime<Utc>,
}

/// Opens a case. If one of this kind is open for the subject already, it stays as it is.
pub async fn open(tx: &mut Tx, item: &WorkItem) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into work_item (merchant_id, item_id, opened_at, kind, subject, reason)
        values ($1, $2, $3, $4, $5, $6)
        on conflict (merchant_id, kind, subject) where closed_at is null do nothing
        "#,
        tx.merchant().0,
        item.id,
        item.opened_at,
        item.kind.as_str(),
        item.subject,
        item.reason,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Closes the open case of this kind for `subject`. Returns false if there is none.
pub async fn close(tx: &mut Tx, kind: WorkKind, subject: &str, now: DateTime<Utc>) -> Result<bool, Failed> {
    let closed = sqlx::query!(
        "update work_item set closed_at = $4 where merchant_id = $1 and kind = $2 and subject = $3 and closed_at is null",
        tx.merchant().0,
        kind.as_str(),
        subject,
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(closed.rows_affected() > 0)
}

/// Closes an open case. Returns its kind and subject, or `None` if there is no such case, or it is closed.
pub async fn close_by_id(tx: &mut Tx, item: Uuid, now: DateTime<Utc>) -> Result<Option<(WorkKind, String)>, Failed> {
    let row = sqlx::query!(
        "update work_item set closed_at = $3 where merchant_id = $1 and item_id = $2 and closed_at is null returning kind, subject",
        tx.merchant().0,
        item,
        now,
    )
    .fetch_optional(tx.connection())
    .await?;
    row.map(|row| Ok((parse(&row.kind)?, row.subject))).transpose()
}

/// The open cases of `merchant`, the newest first; those opened before `before` if it is given.
pub async fn list(store: &Store, merchant: MerchantId, before: Option<Uuid>, most: i64) -> Result<Vec<WorkItem>, Failed> {
    let rows = sqlx::query!(
        r#"
        select item_id, opened_at, kind, subject, reason
        from work_item
        where merchant_id = $1 and closed_at is null and ($2::uuid is null or item_id < $2)
        order by item_id desc
        limit $3
        "#,
        merchant.0,
        before,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    rows.into_iter()
        .map(|row| {
            let kind = parse(&row.kind)?;
            Ok(WorkItem { id: row.item_id, kind, subject: row.subject, reason: row.reason, opened_at: row.opened_at })
        })
        .collect()
}

fn parse(kind: &str) -> Result<WorkKind, Failed> {
    kind.parse().map_err(|_| Failed::Internal("a stored kind of case is unknown"))
}

/// Cases of all merchants that were closed long before `now`, oldest first.
pub async fn list_outdated(store: &Store, now: DateTime<Utc>, most: i64) -> Result<Vec<(MerchantId, Uuid)>, Failed> {
    let rows =
        sqlx::query!("select merchant_id, item_id from work_item where closed_at < $1 order by closed_at limit $2", now - KEPT_FOR, most,)
            .fetch_all(&store.pool)
            .await?;
    Ok(rows.into_iter().map(|row| (MerchantId(row.merchant_id), row.item_id)).collect())
}

/// Deletes these cases.
pub async fn forget(tx: &mut Tx, items: &[Uuid]) -> Result<(), Failed> {
    sqlx::query!("delete from work_item where merchant_id = $1 and item_id = any($2)", tx.merchant().0, items)
        .execute(tx.connection())
        .await?;
    Ok(())
}
