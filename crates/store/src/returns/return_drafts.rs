//! Returns that shoppers are putting together in the portal.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use crate::{Failed, Store, Tx};

/// The time for which a draft is kept after its last change.
pub const KEPT_FOR: TimeDelta = TimeDelta::days(7);

/// A return that is being put together.
#[derive(Clone, Debug)]
pub struct Draft {
    pub id: Uuid,
    pub order: String,
    /// Counts the changes, from 1.
    pub revision: i32,
    /// The answers so far, as JSON.
    pub answers: String,
}

/// The open draft of an order, unless another session than `session` owns it.
pub async fn find(store: &Store, merchant: MerchantId, order: &str, session: &[u8]) -> Result<Option<Draft>, Failed> {
    let draft = sqlx::query_as!(
        Draft,
        r#"
        select draft_id as id, order_identifier as "order", revision, answers
        from return_draft
        where merchant_id = $1 and order_identifier = $2 and rma_identifier is null and (session_hash is null or session_hash = $3)
        "#,
        merchant.0,
        order,
        session,
    )
    .fetch_optional(&store.pool)
    .await?;
    Ok(draft)
}

/// Saves the answers to the open draft of an order, which becomes the draft `id` if there is none. With `owner`, the draft is for that
/// session only, and takes the place of another session's. The statement is a transaction of its own.
pub async fn save(
    store: &Store,
    merchant: MerchantId,
    id: Uuid,
    order: &str,
    answers: &str,
    owner: Option<&[u8]>,
    now: DateTime<Utc>,
) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into return_draft as stored (
            merchant_id, draft_id, order_identifier, created_at, changed_at, revision, answers, session_hash
        )
        values ($1, $2, $3, $5, $5, 1, $4, $6)
        on conflict (merchant_id, order_identifier) where rma_identifier is null do update
        set answers = excluded.answers, changed_at = excluded.changed_at, session_hash = excluded.session_hash,
            revision = case when stored.session_hash is not distinct from excluded.session_hash then stored.revision + 1 else 1 end,
            draft_id = case when stored.session_hash is not distinct from excluded.session_hash then stored.draft_id else excluded.draft_id end
        "#,
        merchant.0,
        id,
        order,
        answers,
        now,
        owner,
    )
    .execute(&store.pool)
    .await?;
    Ok(())
}

/// Notes that a draft became the return `rma`.
pub async fn finish(tx: &mut Tx, id: Uuid, rma: &str, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        "update return_draft set rma_identifier = $3, changed_at = $4 where merchant_id = $1 and draft_id = $2",
        tx.merchant().0,
        id,
        rma,
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The return that a draft of `order` became; `None` while it is open, or if another session than `session` owns it.
pub async fn outcome(store: &Store, merchant: MerchantId, order: &str, id: Uuid, session: &[u8]) -> Result<Option<String>, Failed> {
    let rma = sqlx::query_scalar!(
        r#"
        select rma_identifier
        from return_draft
        where merchant_id = $1 and draft_id = $2 and order_identifier = $3 and (session_hash is null or session_hash = $4)
        "#,
        merchant.0,
        id,
        order,
        session,
    )
    .fetch_optional(&store.pool)
    .await?;
    Ok(rma.flatten())
}

/// Deletes the drafts of an order, because the address of a giftee may be in them.
pub async fn erase(tx: &mut Tx, order: &str) -> Result<(), Failed> {
    sqlx::query!("delete from return_draft where merchant_id = $1 and order_identifier = $2", tx.merchant().0, order)
        .execute(tx.connection())
        .await?;
    Ok(())
}

/// Drafts of all merchants that nobody has changed for too long at `now`, oldest first.
pub async fn list_outdated(store: &Store, now: DateTime<Utc>, most: i64) -> Result<Vec<(MerchantId, Uuid)>, Failed> {
    let rows = sqlx::query!(
        "select merchant_id, draft_id from return_draft where changed_at <= $1 order by changed_at limit $2",
        now - KEPT_FOR,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows.into_iter().map(|row| (MerchantId(row.merchant_id), row.draft_id)).collect())
}

/// Deletes drafts.
pub async fn forget(tx: &mut Tx, drafts: &[Uuid]) -> Result<(), Failed> {
    sqlx::query!("delete from return_draft where merchant_id = $1 and draft_id = any($2)", tx.merchant().0, drafts)
        .execute(tx.connection())
        .await?;
    Ok(())
}
