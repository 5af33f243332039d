//! Links that were mailed to shoppers and open the orders of their e-mail address.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;

use crate::orders::snapshots::Fingerprint;
use crate::{Failed, Store, Tx};

/// The time for which a link works.
pub const LASTS: TimeDelta = TimeDelta::hours(1);

/// Saves a link for the orders of an e-mail address.
pub async fn insert(tx: &mut Tx, hash: &[u8], email: Fingerprint, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        "insert into portal_link (merchant_id, link_hash, email_fingerprint, sent_at) values ($1, $2, $3, $4)",
        tx.merchant().0,
        hash,
        email.as_slice(),
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The e-mail address whose orders a link opens; `None` if it cannot be used at `now`.
pub async fn find(store: &Store, merchant: MerchantId, hash: &[u8], now: DateTime<Utc>) -> Result<Option<Fingerprint>, Failed> {
    let email = sqlx::query_scalar!(
        "select email_fingerprint from portal_link where merchant_id = $1 and link_hash = $2 and sent_at > $3",
        merchant.0,
        hash,
        now - LASTS,
    )
    .fetch_optional(&store.pool)
    .await?;
    Ok(email.and_then(|email| email.try_into().ok()))
}

/// Uses a link up. Returns false if somebody else has.
pub async fn take(tx: &mut Tx, hash: &[u8]) -> Result<bool, Failed> {
    let taken = sqlx::query!("delete from portal_link where merchant_id = $1 and link_hash = $2", tx.merchant().0, hash)
        .execute(tx.connection())
        .await?;
    Ok(taken.rows_affected() > 0)
}

/// The links of all merchants that have run out at `now`, oldest first.
pub async fn list_outdated(store: &Store, now: DateTime<Utc>, most: i64) -> Result<Vec<(MerchantId, Vec<u8>)>, Failed> {
    let rows =
        sqlx::query!("select merchant_id, link_hash from portal_link where sent_at <= $1 order by sent_at limit $2", now - LASTS, most)
            .fetch_all(&store.pool)
            .await?;
    Ok(rows.into_iter().map(|row| (MerchantId(row.merchant_id), row.link_hash)).collect())
}

/// Deletes links.
pub async fn forget(tx: &mut Tx, hashes: &[Vec<u8>]) -> Result<(), Failed> {
    sqlx::query!("delete from portal_link where merchant_id = $1 and link_hash = any($2)", tx.merchant().0, hashes)
        .execute(tx.connection())
        .await?;
    Ok(())
}
