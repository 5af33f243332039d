//! Fingerprints that are computed anew with another key, an order at a time.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use super::snapshots::Fingerprint;
use crate::{Failed, Store, Tx};

/// An order with fingerprints, locked.
pub struct Fingerprinted {
    pub identifier: String,
    pub snapshot: String,
}

/// An order's new fingerprints.
pub struct NewFingerprints {
    pub identifier: String,
    pub email: Option<Fingerprint>,
    pub zip: Option<Fingerprint>,
}

/// The merchants after `after` whose fingerprints are not all of the key `key_id` yet, at most `most`.
pub async fn list_unfinished(store: &Store, key_id: &str, after: Uuid, most: i64) -> Result<Vec<MerchantId>, Failed> {
    let merchants = sqlx::query_scalar!(
        r#"
        -- Across merchants: the progress of new fingerprints.
        select merchant.merchant_id
        from merchant
        left join fingerprint_progress as progress on progress.merchant_id = merchant.merchant_id and progress.key_id = $1
        where progress.done_at is null and merchant.merchant_id > $2
        order by merchant.merchant_id
        limit $3
        "#,
        key_id,
        after,
        most,
    );
    Ok(merchants.fetch_all(&store.pool).await?.into_iter().map(MerchantId).collect())
}

/// The number of merchants whose fingerprints are not all of the key `key_id` yet.
pub async fn count_unfinished(store: &Store, key_id: &str) -> Result<i64, Failed> {
    let count = sqlx::query_scalar!(
        r#"
        -- Across merchants: the progress of new fingerprints.
        select count(*) as "count!"
        from merchant
        left join fingerprint_progress as progress on progress.merchant_id = merchant.merchant_id and progress.key_id = $1
        where progress.done_at is null
        "#,
        key_id,
    );
    Ok(count.fetch_one(&store.pool).await?)
}

/// The number of orders whose fingerprints were looked at for the key `key_id`.
pub async fn count_done(store: &Store, key_id: &str) -> Result<i64, Failed> {
    let count = sqlx::query_scalar!(
        r#"
        -- Across merchants: the progress of new fingerprints.
        select coalesce(sum(orders), 0)::bigint as "count!" from fingerprint_progress where key_id = $1
        "#,
        key_id,
    );
    Ok(count.fetch_one(&store.pool).await?)
}

/// The order after which the merchant's fingerprints are still to be computed with the key `key_id`. Locks the progress, so that two
/// processes do not do the same.
pub async fn lock_progress(tx: &mut Tx, key_id: &str) -> Result<String, Failed> {
    let after = sqlx::query_scalar!(
        r#"
        insert into fingerprint_progress (merchant_id, key_id, after_identifier, orders) values ($1, $2, '', 0)
        on conflict (merchant_id) do update set
            key_id = excluded.key_id,
            after_identifier = case when fingerprint_progress.key_id = $2 then fingerprint_progress.after_identifier else '' end,
            orders = case when fingerprint_progress.key_id = $2 then fingerprint_progress.orders else 0 end,
            done_at = case when fingerprint_progress.key_id = $2 then fingerprint_progress.done_at end
        returning after_identifier
        "#,
        tx.merchant().0,
        key_id,
    );
    Ok(after.fetch_one(tx.connection()).await?)
}

/// The merchant's orders with fingerprints after `after`, at most `most`, locked in the order in which they are published too.
pub async fn lock_page(tx: &mut Tx, after: &str, most: i64) -> Result<Vec<Fingerprinted>, Failed> {
    let orders = sqlx::query_as!(
        Fingerprinted,
        r#"
        select identifier, snapshot
        from customer_order
        where merchant_id = $1 and identifier > $2 and (email_fingerprint is not null or zip_fingerprint is not null)
        order by identifier
        limit $3
        for update
        "#,
        tx.merchant().0,
        after,
        most,
    );
    Ok(orders.fetch_all(tx.connection()).await?)
}

/// Saves new fingerprints, and how far they have come. Without a next order, the merchant is done at `now`.
pub async fn save(tx: &mut Tx, orders: &[NewFingerprints], next: Option<&str>, now: DateTime<Utc>) -> Result<(), Failed> {
    let merchant = tx.merchant().0;
    let identifiers: Vec<String> = orders.iter().map(|order| order.identifier.clone()).collect();
    let emails: Vec<Option<Vec<u8>>> = orders.iter().map(|order| order.email.map(|print| print.to_vec())).collect();
    let zips: Vec<Option<Vec<u8>>> = orders.iter().map(|order| order.zip.map(|print| print.to_vec())).collect();
    sqlx::query!(
        r#"
        update customer_order
        set email_fingerprint = case when customer_order.email_fingerprint is not null then new.email end,
            zip_fingerprint = case when customer_order.zip_fingerprint is not null then new.zip end
        from unnest($2::text[], $3::bytea[], $4::bytea[]) as new (identifier, email, zip)
        where customer_order.merchant_id = $1 and customer_order.identifier = new.identifier
        "#,
        merchant,
        &identifiers,
        &emails as &[Option<Vec<u8>>],
        &zips as &[Option<Vec<u8>>],
    )
    .execute(tx.connection())
    .await?;
    sqlx::query!(
        r#"
        update fingerprint_progress
        set after_identifier = coalesce($2, after_identifier), orders = orders + $3,
            done_at = case when $2::text is null then $4::timestamptz end
        where merchant_id = $1
        "#,
        merchant,
        next,
        i64::try_from(orders.len()).unwrap_or(i64::MAX),
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}
