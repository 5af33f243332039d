//! Links that sign shoppers in: mailed ones open the orders of an e-mail address, those that the merchant makes open one order.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;
use domain::returns::portal::SupportName;

use crate::orders::snapshots::Fingerprint;
use crate::{Failed, Store, Tx};

/// The time for which a mailed link works. No link is kept for longer.
pub const LASTS: TimeDelta = TimeDelta::hours(1);
/// The time for which a link that the merchant made works.
pub const MADE_LASTS: TimeDelta = TimeDelta::minutes(10);

/// The order that a link of the merchant's opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    pub order: String,
    /// Who acts for the shopper, if it is support.
    pub support: Option<SupportName>,
}

/// Saves a mailed link for the orders of an e-mail address.
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

/// Saves a link of the merchant's.
pub async fn insert_made(tx: &mut Tx, hash: &[u8], made: &Made, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        "insert into portal_link (merchant_id, link_hash, order_identifier, support_name, sent_at) values ($1, $2, $3, $4, $5)",
        tx.merchant().0,
        hash,
        made.order,
        made.support.as_ref().map(SupportName::as_str),
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Uses a link of the merchant's up; `None` if it cannot be used at `now`, or somebody else has used it.
pub async fn take_made(tx: &mut Tx, hash: &[u8], now: DateTime<Utc>) -> Result<Option<Made>, Failed> {
    let taken = sqlx::query!(
        r#"
        delete from portal_link
        where merchant_id = $1 and link_hash = $2 and order_identifier is not null and sent_at > $3
        returning order_identifier as "order!", support_name
        "#,
        tx.merchant().0,
        hash,
        now - MADE_LASTS,
    )
    .fetch_optional(tx.connection())
    .await?;
    let Some(taken) = taken else { return Ok(None) };
    let support = taken.support_name.map(|name| name.parse()).transpose();
    let support = support.map_err(|_| Failed::Internal("a stored link has a name that is none"))?;
    Ok(Some(Made { order: taken.order, support }))
}

/// The e-mail address whose orders a mailed link opens; `None` if it cannot be used at `now`.
pub async fn find(store: &Store, merchant: MerchantId, hash: &[u8], now: DateTime<Utc>) -> Result<Option<Fingerprint>, Failed> {
    let email = sqlx::query_scalar!(
        r#"
        select email_fingerprint as "email!"
        from portal_link
        where merchant_id = $1 and link_hash = $2 and email_fingerprint is not null and sent_at > $3
        "#,
        merchant.0,
        hash,
        now - LASTS,
    )
    .fetch_optional(&store.pool)
    .await?;
    Ok(email.and_then(|email| email.try_into().ok()))
}

/// Uses a mailed link up. Returns false if somebody else has.
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
