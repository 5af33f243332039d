//! Merchants' carrier accounts, with which labels are bought.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::returns::carrier::Carrier;

use crate::connection::Connection;
use crate::merchants::merchant_keys::MerchantKey;
use crate::{Failed, Store, Tx};

/// A merchant's account with a carrier.
#[derive(Clone, Debug)]
pub struct Account {
    pub carrier: Carrier,
    /// The address of the carrier's API.
    pub url: String,
    /// The weight assumed for goods of unknown weight, in thousandths of a pound.
    pub usual_weight: u32,
    /// The address that parcels go to, as JSON.
    pub destination: String,
    /// The merchant's data key, sealed.
    pub merchant_key: Option<MerchantKey>,
    /// The key that sealed the secrets.
    pub key_id: String,
    /// The API key, sealed.
    pub api_key: Vec<u8>,
    /// The secret of the carrier's webhooks, sealed.
    pub webhook_secret: Vec<u8>,
    /// The secret before the newest rotation, sealed, and the end of its use.
    pub old_webhook_secret: Option<(Vec<u8>, DateTime<Utc>)>,
    /// The time of the last change.
    pub changed_at: DateTime<Utc>,
}

/// The merchant's account, if it has one.
pub async fn find(tx: &mut Tx) -> Result<Option<Account>, Failed> {
    let merchant = tx.merchant();
    read(tx.connection(), merchant).await
}

/// [`find`] outside of a transaction.
pub async fn current(store: &Store, merchant: MerchantId) -> Result<Option<Account>, Failed> {
    let mut connection = store.pool.single().await?;
    read(&mut connection, merchant).await
}

async fn read(connection: &mut Connection, merchant: MerchantId) -> Result<Option<Account>, Failed> {
    let row = sqlx::query!(
        r#"
        select carrier, url, usual_weight, destination, key_id, api_key, webhook_secret, changed_at, old_webhook_secret,
            old_webhook_secret_until,
            (select key_id from merchant_key where merchant_key.merchant_id = carrier_account.merchant_id) as merchant_key_id,
            (select sealed from merchant_key where merchant_key.merchant_id = carrier_account.merchant_id) as merchant_key
        from carrier_account
        where merchant_id = $1
        "#,
        merchant.0,
    )
    .fetch_optional(connection)
    .await?;
    row.map(|row| {
        Ok(Account {
            carrier: row.carrier.parse().map_err(|_| Failed::Internal("a stored carrier is unknown"))?,
            url: row.url,
            usual_weight: u32::try_from(row.usual_weight).unwrap_or_default(),
            destination: row.destination,
            merchant_key: row.merchant_key_id.zip(row.merchant_key).map(|(key_id, sealed)| MerchantKey { key_id, sealed }),
            key_id: row.key_id,
            api_key: row.api_key,
            webhook_secret: row.webhook_secret,
            old_webhook_secret: row.old_webhook_secret.zip(row.old_webhook_secret_until),
            changed_at: row.changed_at,
        })
    })
    .transpose()
}

/// A merchant's account as a list shows it.
#[derive(Clone, Debug)]
pub struct Listed {
    pub merchant: uuid::Uuid,
    pub handle: String,
    pub merchant_name: String,
    pub carrier: String,
    pub changed_at: DateTime<Utc>,
    /// The time since which buying labels fails.
    pub failing_since: Option<DateTime<Utc>>,
    /// The labels that were given up, counted up to the bound that was asked for.
    pub given_up: i64,
}

/// The accounts of all merchants after the merchant `after`, with at most `counted` labels of each counted.
pub async fn list_across(store: &Store, after: uuid::Uuid, most: i64, counted: i64) -> Result<Vec<Listed>, Failed> {
    let accounts = sqlx::query_as!(
        Listed,
        r#"
        select listed.merchant_id as merchant, merchant.handle, merchant.name as merchant_name, listed.carrier, listed.changed_at,
            endpoint_notice.failing_since as "failing_since?",
            (
                select count(*)
                from (
                    select from failure
                    where failure.merchant_id = listed.merchant_id and failure.endpoint_id = endpoint.endpoint_id
                        and failure.state in ('open', 'contacted')
                    limit $3
                ) as given_up
            ) as "given_up!"
        from (
            -- Over all merchants; what follows is bound to each.
            select * from carrier_account
            where carrier_account.merchant_id > $1
            order by carrier_account.merchant_id
            limit $2
        ) as listed
        join merchant on merchant.merchant_id = listed.merchant_id
        left join endpoint on endpoint.merchant_id = listed.merchant_id and endpoint.interface = 'label' and endpoint.internal
        left join endpoint_notice on endpoint_notice.merchant_id = listed.merchant_id
            and endpoint_notice.endpoint_id = endpoint.endpoint_id
        order by listed.merchant_id
        "#,
        after,
        most,
        counted,
    );
    Ok(accounts.fetch_all(&store.pool).await?)
}

/// Inserts or replaces the merchant's account.
pub async fn save(tx: &mut Tx, account: &Account) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into carrier_account (
            merchant_id, changed_at, usual_weight, carrier, url, key_id, api_key, webhook_secret, destination, old_webhook_secret,
            old_webhook_secret_until
        )
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        on conflict (merchant_id) do update set
            changed_at = excluded.changed_at, usual_weight = excluded.usual_weight, carrier = excluded.carrier, url = excluded.url,
            key_id = excluded.key_id, api_key = excluded.api_key, webhook_secret = excluded.webhook_secret,
            destination = excluded.destination, old_webhook_secret = excluded.old_webhook_secret,
            old_webhook_secret_until = excluded.old_webhook_secret_until
        "#,
        tx.merchant().0,
        account.changed_at,
        i32::try_from(account.usual_weight).unwrap_or(i32::MAX),
        account.carrier.as_str(),
        account.url,
        account.key_id,
        account.api_key,
        account.webhook_secret,
        account.destination,
        account.old_webhook_secret.as_ref().map(|(secret, _)| secret),
        account.old_webhook_secret.as_ref().map(|(_, until)| *until),
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Deletes the merchant's account. Returns false if it has none.
pub async fn remove(tx: &mut Tx) -> Result<bool, Failed> {
    let removed = sqlx::query!("delete from carrier_account where merchant_id = $1", tx.merchant().0).execute(tx.connection()).await?;
    Ok(removed.rows_affected() > 0)
}
