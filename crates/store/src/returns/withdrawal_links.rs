//! Links in acknowledgements of withdrawals. Each opens one statement.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::returns::mail::LINK_LASTS;
use uuid::Uuid;

use crate::{Failed, Store, Tx};

/// Saves a link to a statement.
pub async fn insert(tx: &mut Tx, hash: &[u8], withdrawal: Uuid, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        "insert into withdrawal_link (merchant_id, link_hash, withdrawal_id, sent_at) values ($1, $2, $3, $4)",
        tx.merchant().0,
        hash,
        withdrawal,
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The links of all merchants that have run out at `now`, oldest first.
pub async fn list_outdated(store: &Store, now: DateTime<Utc>, most: i64) -> Result<Vec<(MerchantId, Vec<u8>)>, Failed> {
    let rows = sqlx::query!(
        "select merchant_id, link_hash from withdrawal_link where sent_at <= $1 order by sent_at limit $2",
        now - LINK_LASTS,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows.into_iter().map(|row| (MerchantId(row.merchant_id), row.link_hash)).collect())
}

/// Deletes links.
pub async fn forget(tx: &mut Tx, hashes: &[Vec<u8>]) -> Result<(), Failed> {
    sqlx::query!("delete from withdrawal_link where merchant_id = $1 and link_hash = any($2)", tx.merchant().0, hashes)
        .execute(tx.connection())
        .await?;
    Ok(())
}

/// Deletes the links to the statements about an order.
pub async fn forget_of(tx: &mut Tx, order: &str) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        delete from withdrawal_link
        where merchant_id = $1 and withdrawal_id in (select withdrawal_id from withdrawal where merchant_id = $1 and order_identifier = $2)
        "#,
        tx.merchant().0,
        order,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}
