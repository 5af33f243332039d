//! The audit trail: every change is recorded in its own transaction, and chained to the entry before it (`audit_chain`).

use chrono::{DateTime, Months, TimeDelta, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use super::audit_rows::Unwritten;
pub use super::audit_rows::{Change, Changed, Entry};
use crate::messages::log::first_id;
use crate::{Failed, Store, Tx};

/// Records a change to the merchant's data: an [`Entry`], or one [with](Entry::with) what it was before and is after. It is written when
/// the transaction commits.
#[expect(clippy::unused_async, reason = "every write of the store is awaited, also one that waits for the commit")]
pub async fn record<'a>(tx: &mut Tx, entry: impl Into<Changed<'a>>) -> Result<(), Failed> {
    tx.keep_audit(Unwritten::new(entry.into()));
    Ok(())
}

/// The most entries that are looked at for one change.
const LOOKED_AT: i64 = 20;
/// Ids are minted while a change is made, so an entry's id may be that much older or newer than the time of the change.
const AROUND: TimeDelta = TimeDelta::seconds(2);

/// The actors of the changes to `detail`, each given by its time and action; `None` where the audit has no such change.
pub async fn actors(
    store: &Store,
    merchant: MerchantId,
    detail: &str,
    changes: &[(DateTime<Utc>, &str)],
) -> Result<Vec<Option<String>>, Failed> {
    let first: Vec<Uuid> = changes.iter().map(|(time, _)| first_id(*time - AROUND)).collect();
    let last: Vec<Uuid> = changes.iter().map(|(time, _)| first_id(*time + AROUND)).collect();
    let actions: Vec<&str> = changes.iter().map(|(_, action)| *action).collect();
    let actors = sqlx::query_scalar!(
        r#"
        select (
            select near.actor
            from (
                -- By the key: ids begin with the time.
                select audit.actor, audit.action, audit.detail
                from audit
                where audit.merchant_id = $1 and audit.audit_id >= wanted.first and audit.audit_id < wanted.last
                order by audit.audit_id
                limit $6
            ) as near
            where near.detail = $2 and near.action = wanted.action
            limit 1
        ) as actor
        from unnest($3::text[], $4::uuid[], $5::uuid[]) with ordinality as wanted (action, first, last, nth)
        order by wanted.nth
        "#,
        merchant.0,
        detail,
        &actions as &[&str],
        &first,
        &last,
        LOOKED_AT,
    );
    Ok(actors.fetch_all(&store.pool).await?)
}

/// A change as it is read.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// `None` for what belongs to no merchant.
    pub handle: Option<String>,
    pub id: Uuid,
    pub actor: String,
    pub action: String,
    pub detail: String,
    pub before: Option<String>,
    pub after: Option<String>,
    pub done_at: DateTime<Utc>,
    /// Its place in the chain; `None` for entries from before there was one.
    pub sequence: Option<i64>,
    pub previous_hash: Option<Vec<u8>>,
    pub hash: Option<Vec<u8>>,
}

/// The most entries that [`list`] and [`list_all`] return.
pub const LISTED: i64 = 100;

/// The merchant's entries since `since` that were made before the entry `before`, newest first.
pub async fn list(
    store: &Store,
    merchant: MerchantId,
    since: DateTime<Utc>,
    before: (DateTime<Utc>, Uuid),
) -> Result<Vec<Recorded>, Failed> {
    // Ids begin with the time. Before the first page there is only a time.
    let before = if before.1 == Uuid::max() { first_id(before.0) } else { before.1 };
    let entries = sqlx::query_as!(
        Recorded,
        r#"
        select merchant.handle as "handle?", audit.audit_id as id, audit.actor, audit.action, audit.detail, audit.before, audit.after,
            audit.done_at, audit.sequence, audit.previous_hash, audit.hash
        from audit
        join merchant on merchant.merchant_id = audit.merchant_id
        where audit.merchant_id = $1 and audit.audit_id >= $2 and audit.audit_id < $3
        order by audit.audit_id desc
        limit $4
        "#,
        merchant.0,
        first_id(since),
        before,
        LISTED,
    );
    Ok(entries.fetch_all(&store.pool).await?)
}

/// The entries of all merchants, and of what belongs to none, since `since` that were made before the entry `before`, newest first.
pub async fn list_all(store: &Store, since: DateTime<Utc>, before: (DateTime<Utc>, Uuid)) -> Result<Vec<Recorded>, Failed> {
    let entries = sqlx::query_as!(
        Recorded,
        r#"
        select merchant.handle as "handle?", every.audit_id as "id!", every.actor as "actor!", every.action as "action!",
            every.detail as "detail!", every.before, every.after, every.done_at as "done_at!", every.sequence, every.previous_hash,
            every.hash
        from (
            (
                -- Across merchants: the audit trail by time.
                select audit.merchant_id, audit.audit_id, audit.actor, audit.action, audit.detail, audit.before, audit.after,
                    audit.done_at, audit.sequence, audit.previous_hash, audit.hash
                from audit
                where audit.done_at >= $1 and (audit.done_at, audit.audit_id) < ($2, $3)
                order by audit.done_at desc, audit.audit_id desc
                limit $4
            )
            union all
            (
                select null, home_audit.audit_id, home_audit.actor, home_audit.action, home_audit.detail, home_audit.before,
                    home_audit.after, home_audit.done_at, home_audit.sequence, home_audit.previous_hash, home_audit.hash
                from home_audit
                where home_audit.done_at >= $1 and (home_audit.done_at, home_audit.audit_id) < ($2, $3)
                order by home_audit.done_at desc, home_audit.audit_id desc
                limit $4
            )
        ) as every
        left join merchant on merchant.merchant_id = every.merchant_id
        order by every.done_at desc, every.audit_id desc
        limit $4
        "#,
        since,
        before.0,
        before.1,
        LISTED,
    );
    Ok(entries.fetch_all(&store.pool).await?)
}

/// The time for which the audit trail is kept: 7 years.
pub(crate) const KEPT_FOR: Months = Months::new(7 * 12);

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
