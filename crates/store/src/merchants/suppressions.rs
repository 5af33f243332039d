//! The shoppers who were erased, as keyed fingerprints of their e-mail addresses.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;

use crate::orders::snapshots::Fingerprint;
use crate::{Failed, Store, Tx};

/// A fingerprint and the id of the key that it was made with.
#[derive(Clone, Copy, Debug)]
pub struct Keyed<'k> {
    pub print: Fingerprint,
    pub key_id: &'k str,
}

/// Keeps the shopper with this fingerprint from coming back with orders that were placed until `now`.
pub async fn suppress(tx: &mut Tx, email: Keyed<'_>, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into suppression (merchant_id, fingerprint, key_id, erased_at) values ($1, $2, $3, $4)
        on conflict (merchant_id, fingerprint) do update set erased_at = greatest(suppression.erased_at, excluded.erased_at)
        "#,
        tx.merchant().0,
        email.print.as_slice(),
        email.key_id,
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Those of the fingerprints that are on the merchant's list.
pub async fn among(store: &Store, merchant: MerchantId, prints: &[Fingerprint]) -> Result<Vec<Vec<u8>>, Failed> {
    let prints: Vec<&[u8]> = prints.iter().map(<[u8; 16]>::as_slice).collect();
    let found = sqlx::query_scalar!(
        "select fingerprint from suppression where merchant_id = $1 and fingerprint = any ($2)",
        merchant.0,
        &prints as &[&[u8]],
    );
    Ok(found.fetch_all(&store.pool).await?)
}

/// Puts the fingerprint by another key in the place of one that is on the list.
pub async fn renew(tx: &mut Tx, from: &Fingerprint, to: Keyed<'_>) -> Result<(), Failed> {
    let merchant = tx.merchant().0;
    let removed = sqlx::query_scalar!(
        "delete from suppression where merchant_id = $1 and fingerprint = $2 returning erased_at",
        merchant,
        from.as_slice()
    )
    .fetch_optional(tx.connection())
    .await?;
    match removed {
        Some(erased_at) => suppress(tx, to, erased_at).await,
        None => Ok(()),
    }
}

/// The number of shoppers on the lists by a fingerprint of the key `key_id`.
pub async fn count_of_key(store: &Store, key_id: &str) -> Result<i64, Failed> {
    let count = sqlx::query_scalar!(
        r#"
        -- Across merchants: what a key has suppressed.
        select count(*) as "count!" from suppression where key_id = $1
        "#,
        key_id,
    );
    Ok(count.fetch_one(&store.pool).await?)
}
