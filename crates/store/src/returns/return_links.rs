//! Links in mails about returns. Each opens one return.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::returns::mail::LINK_LASTS;
use uuid::Uuid;

use crate::{Failed, Store, Tx};

/// The return that a link opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linked {
    pub rma: String,
    pub order: String,
}

/// Saves a link to a return.
pub async fn insert(tx: &mut Tx, hash: &[u8], rma: Uuid, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        "insert into return_link (merchant_id, link_hash, rma_id, sent_at) values ($1, $2, $3, $4)",
        tx.merchant().0,
        hash,
        rma,
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The return that a link opens; `None` if it cannot be used at `now`.
pub async fn find(store: &Store, merchant: MerchantId, hash: &[u8], now: DateTime<Utc>) -> Result<Option<Linked>, Failed> {
    let linked = sqlx::query_as!(
        Linked,
        r#"
        select rma.identifier as rma, rma.order_identifier as "order"
        from return_link join rma on rma.merchant_id = $1 and rma.rma_id = return_link.rma_id
        where return_link.merchant_id = $1 and link_hash = $2 and sent_at > $3
        "#,
        merchant.0,
        hash,
        now - LINK_LASTS,
    )
    .fetch_optional(&store.pool)
    .await?;
    Ok(linked)
}

/// The links of all merchants that have run out at `now`, oldest first.
pub async fn list_outdated(store: &Store, now: DateTime<Utc>, most: i64) -> Result<Vec<(MerchantId, Vec<u8>)>, Failed> {
    let rows = sqlx::query!(
        "select merchant_id, link_hash from return_link where sent_at <= $1 order by sent_at limit $2",
        now - LINK_LASTS,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows.into_iter().map(|row| (MerchantId(row.merchant_id), row.link_hash)).collect())
}

/// Deletes links.
pub async fn forget(tx: &mut Tx, hashes: &[Vec<u8>]) -> Result<(), Failed> {
    sqlx::query!("delete from return_link where merchant_id = $1 and link_hash = any($2)", tx.merchant().0, hashes)
        .execute(tx.connection())
        .await?;
    Ok(())
}

/// Deletes the links to these returns.
pub async fn forget_of(tx: &mut Tx, returns: &[Uuid]) -> Result<(), Failed> {
    sqlx::query!("delete from return_link where merchant_id = $1 and rma_id = any($2)", tx.merchant().0, returns)
        .execute(tx.connection())
        .await?;
    Ok(())
}
