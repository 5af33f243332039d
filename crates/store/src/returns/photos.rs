//! Small copies of the photos of goods, by the hash of the URL that they come from.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;
use sha2::{Digest as _, Sha256};

use crate::{Failed, Store, Tx};

/// The time for which a photo is kept. If it is still asked for, it is then fetched anew.
const KEPT_FOR: TimeDelta = TimeDelta::days(90);
/// The time after which a photo that could not be had is tried again.
const RETRIED_AFTER: TimeDelta = TimeDelta::hours(1);

/// The state of a photo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// There is a picture.
    Pictured,
    /// It could not be had a short while ago.
    Missing,
    /// It has not been fetched yet, or can be tried again.
    Unknown,
}

/// The picture from `url`: empty if it could not be had a short while ago, `None` if it is yet to be fetched.
pub async fn find(store: &Store, merchant: MerchantId, url: &str, now: DateTime<Utc>) -> Result<Option<Vec<u8>>, Failed> {
    let picture = sqlx::query_scalar!(
        "select picture from photo where merchant_id = $1 and url_hash = $2 and (picture <> '' or fetched_at > $3)",
        merchant.0,
        &hash(url),
        now - RETRIED_AFTER,
    )
    .fetch_optional(&store.pool)
    .await?;
    Ok(picture)
}

/// The states of the photos from these URLs, in the same order.
pub async fn known(store: &Store, merchant: MerchantId, urls: &[&str], now: DateTime<Utc>) -> Result<Vec<Known>, Failed> {
    let hashes: Vec<Vec<u8>> = urls.iter().map(|url| hash(url)).collect();
    let rows = sqlx::query!(
        r#"
        select url_hash, picture <> '' as "pictured!"
        from photo
        where merchant_id = $1 and url_hash = any($2) and (picture <> '' or fetched_at > $3)
        "#,
        merchant.0,
        &hashes,
        now - RETRIED_AFTER,
    )
    .fetch_all(&store.pool)
    .await?;
    let stored: HashMap<Vec<u8>, bool> = rows.into_iter().map(|row| (row.url_hash, row.pictured)).collect();
    let state = |hash: &Vec<u8>| match stored.get(hash) {
        Some(true) => Known::Pictured,
        Some(false) => Known::Missing,
        None => Known::Unknown,
    };
    Ok(hashes.iter().map(state).collect())
}

/// Saves the picture from `url`, or that there is none if it is empty. A picture that another node has got meanwhile stays.
pub async fn save(tx: &mut Tx, url: &str, picture: &[u8], now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into photo as stored (merchant_id, url_hash, fetched_at, picture)
        values ($1, $2, $3, $4)
        on conflict (merchant_id, url_hash) do update set fetched_at = excluded.fetched_at, picture = excluded.picture
        where stored.picture = '' or excluded.picture <> ''
        "#,
        tx.merchant().0,
        &hash(url),
        now,
        picture,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The URL hashes of all merchants' photos that are too old at `now`, oldest first.
pub async fn list_outdated(store: &Store, now: DateTime<Utc>, most: i64) -> Result<Vec<(MerchantId, Vec<u8>)>, Failed> {
    let rows =
        sqlx::query!("select merchant_id, url_hash from photo where fetched_at <= $1 order by fetched_at limit $2", now - KEPT_FOR, most)
            .fetch_all(&store.pool)
            .await?;
    Ok(rows.into_iter().map(|row| (MerchantId(row.merchant_id), row.url_hash)).collect())
}

/// Deletes the photos with these URL hashes.
pub async fn forget(tx: &mut Tx, hashes: &[Vec<u8>]) -> Result<(), Failed> {
    sqlx::query!("delete from photo where merchant_id = $1 and url_hash = any($2)", tx.merchant().0, hashes)
        .execute(tx.connection())
        .await?;
    Ok(())
}

fn hash(url: &str) -> Vec<u8> {
    Sha256::digest(url).to_vec()
}
