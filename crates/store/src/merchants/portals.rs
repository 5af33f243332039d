//! Merchants' portals: what they show, and the host names that lead to them.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;

use crate::connection::Connection;
use crate::{Failed, Store, Tx};

/// The settings of a merchant's portal. Whatever is absent has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortalSettings {
    /// The merchant's name unless set.
    pub shop_name: Option<String>,
    /// The address that shoppers can turn to.
    pub help_email: Option<String>,
    /// A name of the IANA database; UTC unless set.
    pub time_zone: Option<String>,
    /// The start of order numbers, which shoppers may leave out.
    pub number_prefix: Option<String>,
    /// Days from shipping to delivery, where nobody reports the delivery.
    pub transit_days: Option<i16>,
    /// Goods that are exempt from withdrawal, each with its legal ground.
    pub exemptions: Vec<String>,
}

/// The settings of the merchant's portal.
pub async fn get(tx: &mut Tx) -> Result<PortalSettings, Failed> {
    let merchant = tx.merchant();
    read(tx.connection(), merchant).await
}

/// [`get`] outside of a transaction.
pub async fn current(store: &Store, merchant: MerchantId) -> Result<PortalSettings, Failed> {
    let mut connection = store.pool.single().await?;
    read(&mut connection, merchant).await
}

async fn read(connection: &mut Connection, merchant: MerchantId) -> Result<PortalSettings, Failed> {
    let settings = sqlx::query_as!(
        PortalSettings,
        "select shop_name, help_email, time_zone, number_prefix, transit_days, exemptions from portal_setting where merchant_id = $1",
        merchant.0,
    )
    .fetch_optional(connection)
    .await?;
    Ok(settings.unwrap_or_default())
}

/// Inserts or replaces the settings of the merchant's portal.
pub async fn save(tx: &mut Tx, settings: &PortalSettings, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into portal_setting (
            merchant_id, shop_name, help_email, time_zone, number_prefix, transit_days, exemptions, changed_at
        )
        values ($1, $2, $3, $4, $5, $6, $7, $8)
        on conflict (merchant_id) do update set
            shop_name = excluded.shop_name, help_email = excluded.help_email, time_zone = excluded.time_zone,
            number_prefix = excluded.number_prefix, transit_days = excluded.transit_days, exemptions = excluded.exemptions,
            changed_at = excluded.changed_at
        "#,
        tx.merchant().0,
        settings.shop_name.as_deref(),
        settings.help_email.as_deref(),
        settings.time_zone.as_deref(),
        settings.number_prefix.as_deref(),
        settings.transit_days,
        &settings.exemptions,
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Inserts a host name of the merchant's portal; one that it has already stays. Returns false if the name is another merchant's.
pub async fn insert_host(tx: &mut Tx, host: &str) -> Result<bool, Failed> {
    let done = sqlx::query!(
        r#"
        insert into portal_host (host, merchant_id)
        values ($1, $2)
        on conflict (host) do update set merchant_id = excluded.merchant_id where portal_host.merchant_id = excluded.merchant_id
        "#,
        host,
        tx.merchant().0,
    )
    .execute(tx.connection())
    .await?;
    Ok(done.rows_affected() > 0)
}

/// Deletes a host name of the merchant's portal. Returns false if it has no such name.
pub async fn remove_host(tx: &mut Tx, host: &str) -> Result<bool, Failed> {
    let removed = sqlx::query!("delete from portal_host where merchant_id = $1 and host = $2", tx.merchant().0, host)
        .execute(tx.connection())
        .await?;
    Ok(removed.rows_affected() > 0)
}

/// The host names of `merchant`, in alphabetical order.
pub async fn list_hosts(store: &Store, merchant: MerchantId) -> Result<Vec<String>, Failed> {
    let hosts = sqlx::query_scalar!("select host from portal_host where merchant_id = $1 order by host", merchant.0);
    Ok(hosts.fetch_all(&store.pool).await?)
}

/// The host names of all merchants, in alphabetical order.
pub async fn list_all_hosts(store: &Store) -> Result<Vec<String>, Failed> {
    Ok(sqlx::query_scalar!("select host from portal_host order by host").fetch_all(&store.pool).await?)
}

/// The handle of the merchant to whose portal `host` leads.
pub async fn find_handle(store: &Store, host: &str) -> Result<Option<String>, Failed> {
    let handle = sqlx::query_scalar!(
        "select merchant.handle from portal_host join merchant on merchant.merchant_id = portal_host.merchant_id where host = $1",
        host,
    );
    Ok(handle.fetch_optional(&store.pool).await?)
}
