//! The operator sets up a merchant's mails to shoppers: who they come from, and which of them are sent. Every change is audited in its
//! own transaction.

use std::collections::BTreeSet;

use domain::id::MerchantId;
use domain::returns::mail::Mail;
use store::Failed;
use store::merchants::accounts;
use store::merchants::audit::{self, Change, Entry};
use store::merchants::mail_settings::{self, MailSettings};
use wire::merchants::audit::Changes;

use crate::app::App;
use crate::delivery::transports::mail;

/// The most characters of a sender's name.
const LONGEST_NAME: usize = 100;

/// Changes to a merchant's mails. Absent fields stay as they are; an empty text restores the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MailChange {
    /// The name of the sender; by default that of the shop.
    pub sender_name: Option<String>,
    /// The address that answers go to; by default that of the portal's help.
    pub reply_to: Option<String>,
    /// Mails that are no longer sent.
    pub off: BTreeSet<Mail>,
    /// Mails that are sent again.
    pub on: BTreeSet<Mail>,
}

/// The reasons mails cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum ConfigureMailsError {
    #[error("no change was given; `backhaul mails set --help` lists the options")]
    Nothing,
    #[error("a sender's name must have at most {} characters, and no control characters", LONGEST_NAME)]
    SenderName,
    #[error("`{0}` is not an e-mail address, such as help@example.com")]
    ReplyTo(String),
    #[error("the mail {} cannot be switched off: a shopper asked for it and waits", .0.short())]
    NotOptional(Mail),
    #[error("the mail {} cannot be switched on and off at once; give one of the two", .0.short())]
    OnAndOff(Mail),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Changes the merchant's mails. Mails that are owed already are sent with the new sender.
pub async fn set_mails(app: &App, actor: &str, merchant: MerchantId, change: MailChange) -> Result<MailSettings, ConfigureMailsError> {
    if change == MailChange::default() {
        return Err(ConfigureMailsError::Nothing);
    }
    check(&change)?;
    let detail = describe(&change);
    let mut tx = app.begin(merchant).await?;
    // The settings may not exist yet, so lock the merchant instead.
    accounts::lock(&mut tx).await?;
    let before = mail_settings::get(&mut tx).await?;
    let settings = apply(before.clone(), change);
    mail_settings::save(&mut tx, &settings, app.now()).await?;
    let print = |settings: &MailSettings| settings.reply_to.as_deref().map(|address| app.fingerprints.audited(address));
    let off = |settings: &MailSettings| settings.switched_off.iter().map(|mail| mail.short()).collect::<Vec<_>>().join(", ");
    let changes = Changes::default()
        .field("sender_name", before.sender_name.clone(), settings.sender_name.clone())
        .field("reply_to", print(&before), print(&settings))
        .field("switched_off", off(&before), off(&settings));
    let entry = Entry { id: app.mint(), actor, action: "mails.changed", detail: &detail, done_at: app.now() };
    audit::record(&mut tx, entry.with(Change { before: changes.before(), after: changes.after() })).await?;
    app.commit(tx).await?;
    Ok(settings)
}

fn check(change: &MailChange) -> Result<(), ConfigureMailsError> {
    let is_wrong = |name: &str| name.chars().count() > LONGEST_NAME || name.contains(char::is_control);
    if change.sender_name.as_deref().is_some_and(is_wrong) {
        return Err(ConfigureMailsError::SenderName);
    }
    if let Some(address) = change.reply_to.as_deref().filter(|address| !address.is_empty() && !mail::is_address(address)) {
        return Err(ConfigureMailsError::ReplyTo(address.to_owned()));
    }
    if let Some(mail) = change.off.iter().find(|mail| !mail.is_optional()) {
        return Err(ConfigureMailsError::NotOptional(*mail));
    }
    change.off.intersection(&change.on).next().map_or(Ok(()), |mail| Err(ConfigureMailsError::OnAndOff(*mail)))
}

fn apply(settings: MailSettings, change: MailChange) -> MailSettings {
    let text = |old: Option<String>, new: Option<String>| new.or(old).filter(|text| !text.is_empty());
    let off: BTreeSet<Mail> = settings.switched_off.into_iter().chain(change.off).collect();
    MailSettings {
        sender_name: text(settings.sender_name, change.sender_name),
        reply_to: text(settings.reply_to, change.reply_to),
        switched_off: off.difference(&change.on).copied().collect(),
    }
}

/// The changes as text, for the audit log.
fn describe(change: &MailChange) -> String {
    let text = |name: &str, value: Option<&str>| {
        value.map(|value| if value.is_empty() { format!("no {name}") } else { format!("{name}: {value}") })
    };
    // The address may be a person's.
    let reply_to = change.reply_to.as_deref().map(|address| if address.is_empty() { "no reply_to" } else { "reply_to changed" }.to_owned());
    let texts = [text("sender_name", change.sender_name.as_deref()), reply_to];
    let off = change.off.iter().map(|mail| format!("{} off", mail.short()));
    let on = change.on.iter().map(|mail| format!("{} on", mail.short()));
    texts.into_iter().flatten().chain(off).chain(on).collect::<Vec<_>>().join("; ")
}
