//! Merchants' data keys, sealed with a key of the installation. Whatever a data key sealed cannot be opened without it.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::merchants::operator::OperatorId;
use uuid::Uuid;

use crate::{Failed, HomeTx, Store, Tx};

/// A data key, sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MerchantKey {
    /// The key that sealed it.
    pub key_id: String,
    pub sealed: Vec<u8>,
}

/// The merchant's data key, locked until the transaction ends.
pub async fn lock(tx: &mut Tx) -> Result<Option<MerchantKey>, Failed> {
    let key = sqlx::query_as!(MerchantKey, "select key_id, sealed from merchant_key where merchant_id = $1 for update", tx.merchant().0);
    Ok(key.fetch_optional(tx.connection()).await?)
}

/// The merchant's data key, which is `new` if it has none.
pub async fn find_or_insert(tx: &mut Tx, new: &MerchantKey, now: DateTime<Utc>) -> Result<MerchantKey, Failed> {
    let merchant = tx.merchant().0;
    sqlx::query!(
        "insert into merchant_key (merchant_id, key_id, sealed, made_at) values ($1, $2, $3, $4) on conflict (merchant_id) do nothing",
        merchant,
        new.key_id,
        new.sealed,
        now,
    )
    .execute(tx.connection())
    .await?;
    let key = sqlx::query_as!(MerchantKey, "select key_id, sealed from merchant_key where merchant_id = $1", merchant);
    Ok(key.fetch_one(tx.connection()).await?)
}

/// Saves the data key, sealed anew.
pub async fn save(tx: &mut Tx, key: &MerchantKey) -> Result<(), Failed> {
    sqlx::query!("update merchant_key set key_id = $2, sealed = $3 where merchant_id = $1", tx.merchant().0, key.key_id, key.sealed)
        .execute(tx.connection())
        .await?;
    Ok(())
}

/// Deletes the merchant's data key. Nothing that it sealed can be opened any more, not even from a backup of other tables. Returns
/// false if the merchant has none.
pub async fn delete(tx: &mut Tx) -> Result<bool, Failed> {
    let deleted = sqlx::query!("delete from merchant_key where merchant_id = $1", tx.merchant().0).execute(tx.connection()).await?;
    Ok(deleted.rows_affected() > 0)
}

/// Merchants with secrets that the installation's keys sealed directly, or with a data key that another key than `active` sealed; those
/// after `after`, at most `most`.
pub async fn list_to_reseal(store: &Store, active: &str, after: Uuid, most: i64) -> Result<Vec<MerchantId>, Failed> {
    let merchants = sqlx::query_scalar!(
        r#"
        -- Across merchants: what has to be sealed anew.
        select theirs.merchant_id as "merchant_id!"
        from (
            select merchant_id from endpoint where not internal and key_id <> '@merchant'
            union
            select merchant_id from carrier_account where key_id <> '@merchant'
            union
            select merchant_id from merchant_key where key_id <> $1
        ) as theirs
        where theirs.merchant_id > $2
        order by theirs.merchant_id
        limit $3
        "#,
        active,
        after,
        most,
    );
    Ok(merchants.fetch_all(&store.pool).await?.into_iter().map(MerchantId).collect())
}

/// The number of values that the installation's key `key_id` sealed: data keys, secrets without one, and operators' authenticators.
pub async fn count_sealed_with(store: &Store, key_id: &str) -> Result<i64, Failed> {
    let count = sqlx::query_scalar!(
        r#"
        -- Across merchants: what a key has sealed.
        select (
            (select count(*) from endpoint where not internal and key_id = $1)
            + (select count(*) from carrier_account where key_id = $1)
            + (select count(*) from merchant_key where key_id = $1)
            + (select count(*) from operator where totp_key_id = $1)
        ) as "count!"
        "#,
        key_id,
    );
    Ok(count.fetch_one(&store.pool).await?)
}

/// The operators whose authenticators another key than `active` sealed, at most `most`.
pub async fn list_operators_to_reseal(store: &Store, active: &str, most: i64) -> Result<Vec<OperatorId>, Failed> {
    let operators =
        sqlx::query_scalar!("select operator_id from operator where totp_key_id <> $1 order by operator_id limit $2", active, most);
    Ok(operators.fetch_all(&store.pool).await?.into_iter().map(OperatorId).collect())
}

/// Saves an operator's authenticator, sealed anew, unless it has been changed since it was read.
pub async fn save_operator(tx: &mut HomeTx, id: OperatorId, before: &[u8], key_id: &str, sealed: &[u8]) -> Result<(), Failed> {
    sqlx::query!(
        "update operator set totp_secret = $3, totp_key_id = $4 where operator_id = $1 and totp_secret = $2",
        id.0,
        before,
        sealed,
        key_id,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}
