//! What merchants' mails to shoppers say of their sender, and which of them are not sent.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::returns::mail::Mail;

use crate::connection::Connection;
use crate::{Failed, Store, Tx};

/// The settings of a merchant's mails to shoppers. Whatever is absent has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MailSettings {
    /// The portal's shop name unless set.
    pub sender_name: Option<String>,
    /// The portal's help address unless set.
    pub reply_to: Option<String>,
    /// The mails that are not sent.
    pub switched_off: Vec<Mail>,
}

/// The sender of a merchant's mails, with the defaults filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sender {
    pub handle: String,
    pub name: String,
    pub reply_to: Option<String>,
    /// A name of the IANA database.
    pub time_zone: Option<String>,
    /// The first of the portal's own host names.
    pub host: Option<String>,
    /// The mails that are not sent.
    pub switched_off: Vec<Mail>,
}

/// The settings of the merchant's mails.
pub async fn get(tx: &mut Tx) -> Result<MailSettings, Failed> {
    let merchant = tx.merchant().0;
    let row = sqlx::query!("select sender_name, reply_to, switched_off from mail_setting where merchant_id = $1", merchant)
        .fetch_optional(tx.connection())
        .await?;
    let Some(row) = row else { return Ok(MailSettings::default()) };
    Ok(MailSettings { sender_name: row.sender_name, reply_to: row.reply_to, switched_off: mails(&row.switched_off) })
}

/// Inserts or replaces the settings of the merchant's mails.
pub async fn save(tx: &mut Tx, settings: &MailSettings, now: DateTime<Utc>) -> Result<(), Failed> {
    let switched_off: Vec<&str> = settings.switched_off.iter().map(|mail| mail.as_str()).collect();
    sqlx::query!(
        r#"
        insert into mail_setting (merchant_id, sender_name, reply_to, switched_off, changed_at)
        values ($1, $2, $3, $4, $5)
        on conflict (merchant_id) do update set
            sender_name = excluded.sender_name, reply_to = excluded.reply_to, switched_off = excluded.switched_off,
            changed_at = excluded.changed_at
        "#,
        tx.merchant().0,
        settings.sender_name.as_deref(),
        settings.reply_to.as_deref(),
        &switched_off as &[&str],
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The sender of the merchant's mails.
pub async fn sender(tx: &mut Tx) -> Result<Sender, Failed> {
    let merchant = tx.merchant();
    read_sender(tx.connection(), merchant).await
}

/// [`sender`] outside of a transaction.
pub async fn current_sender(store: &Store, merchant: MerchantId) -> Result<Sender, Failed> {
    let mut connection = store.pool.single().await?;
    read_sender(&mut connection, merchant).await
}

async fn read_sender(connection: &mut Connection, merchant: MerchantId) -> Result<Sender, Failed> {
    let row = sqlx::query!(
        r#"
        select
            merchant.handle,
            coalesce(mail_setting.sender_name, portal_setting.shop_name, merchant.name) as "name!",
            coalesce(mail_setting.reply_to, portal_setting.help_email) as reply_to,
            portal_setting.time_zone as "time_zone?",
            (select min(host) from portal_host where portal_host.merchant_id = $1) as host,
            coalesce(mail_setting.switched_off, '{}') as "switched_off!"
        from merchant
        left join portal_setting on portal_setting.merchant_id = $1
        left join mail_setting on mail_setting.merchant_id = $1
        where merchant.merchant_id = $1
        "#,
        merchant.0,
    )
    .fetch_one(connection)
    .await?;
    Ok(Sender {
        handle: row.handle,
        name: row.name,
        reply_to: row.reply_to,
        time_zone: row.time_zone,
        host: row.host,
        switched_off: mails(&row.switched_off),
    })
}

/// Names that this version does not know belong to a newer one.
fn mails(names: &[String]) -> Vec<Mail> {
    names.iter().filter_map(|name| name.parse().ok()).collect()
}
