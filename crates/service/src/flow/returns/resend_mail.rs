//! Support looks at the mails about a return, and sends one again.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::messages::message::{Internal, Kind};
use domain::returns::mail::Mail;
use store::Failed;
use store::merchants::audit::{self, Entry};
use store::messages::log::{self, MessageDetail, State, written_at};
use store::messages::mails;
use store::returns::rmas;
use uuid::Uuid;
use wire::messages::mail::{MailBody, PlainMail, ShopperMail, read};

use super::mail_shopper::message;
use crate::app::App;
use crate::delivery::mails::{Letterhead, render};

/// A mail in a list.
#[derive(Clone, Debug)]
pub struct SentMail {
    pub id: Uuid,
    /// Its name without the prefix, such as `reminder`.
    pub mail: String,
    pub written_at: DateTime<Utc>,
    pub state: State,
    /// The shopper's data has been erased, and the content with it.
    pub erased: bool,
}

/// A mail as its shopper reads it. It has no `Debug` because it is personal.
pub struct ReadMail {
    pub sent: SentMail,
    pub to: String,
    pub subject: String,
    pub text: String,
}

/// The reasons a mail cannot be shown or sent again.
#[derive(Debug, thiserror::Error)]
pub enum ResendMailError {
    #[error("the merchant has no such mail; mails are kept for 30 days")]
    NoSuchMail,
    #[error("the shopper's data has been erased, and with it the mail")]
    Erased,
    #[error("the mail is still owed and is retried automatically; wait until it is sent or in the failure queue")]
    StillOwed,
    #[error("a link to sign in works once and for an hour; ask the shopper to request a new one in the portal")]
    Link,
    #[error("an earlier version stored this mail, so it cannot be sent again")]
    OtherVersion,
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// The most mails about a return that are listed.
pub const MOST_MAILS: i64 = 50;

/// The newest mails about a return that have not been deleted yet, oldest first.
pub async fn list_mails(app: &App, merchant: MerchantId, rma: &str) -> Result<Vec<SentMail>, Failed> {
    let mut sent = Vec::new();
    for id in mails::list(app.store(merchant), merchant, rma, MOST_MAILS).await? {
        sent.extend(log::find(app.store(merchant), merchant, id).await?.as_ref().map(listed));
    }
    Ok(sent)
}

fn listed(detail: &MessageDetail) -> SentMail {
    SentMail {
        id: detail.id,
        mail: detail.event.trim_start_matches("mail.").to_owned(),
        written_at: written_at(detail.id),
        state: detail.state(),
        erased: detail.erased,
    }
}

async fn find(app: &App, merchant: MerchantId, id: Uuid) -> Result<(MessageDetail, MailBody), ResendMailError> {
    understood(log::find(app.store(merchant), merchant, id).await?)
}

/// The mail, if this is one that can still be read.
fn understood(found: Option<MessageDetail>) -> Result<(MessageDetail, MailBody), ResendMailError> {
    let detail = found.ok_or(ResendMailError::NoSuchMail)?;
    if detail.kind != Kind::Internal(Internal::Mail).as_str() {
        return Err(ResendMailError::NoSuchMail);
    }
    if detail.erased {
        return Err(ResendMailError::Erased);
    }
    let body = read(detail.body.as_bytes()).ok_or(ResendMailError::OtherVersion)?;
    Ok((detail, body))
}

/// The mail as its shopper reads it, with the letterhead that the merchant has now.
pub async fn read_mail(app: &App, merchant: MerchantId, id: Uuid) -> Result<ReadMail, ResendMailError> {
    let (detail, body) = find(app, merchant, id).await?;
    let PlainMail { to, subject, text } = match body {
        MailBody::Plain(plain) => plain,
        MailBody::Shopper(facts) => {
            let letterhead = Letterhead::current(app, merchant).await?;
            let rendered = render(&facts, &letterhead).ok_or(ResendMailError::OtherVersion)?;
            PlainMail { to: facts.to, subject: rendered.subject, text: without_secret(&rendered.text, facts.link.as_deref()) }
        }
    };
    Ok(ReadMail { sent: listed(&detail), to, subject, text })
}

/// Whoever has the link sees the return in the shopper's name, so support does not get it.
fn without_secret(text: &str, link: Option<&str>) -> String {
    let secret = link.and_then(|link| link.rsplit('/').next()).filter(|secret| !secret.is_empty());
    secret.map_or_else(|| text.to_owned(), |secret| text.replace(secret, "…"))
}

/// Sends a mail about a return again: the same content as a new message. Returns its id.
pub async fn resend_mail(app: &App, actor: &str, merchant: MerchantId, id: Uuid) -> Result<Uuid, ResendMailError> {
    let (detail, _) = find(app, merchant, id).await?;
    let mut tx = app.begin(merchant).await?;
    // An erasure holds the return, so either it waits for us or we see that the mail is erased.
    let Some(kept) = rmas::lock(&mut tx, &detail.subject).await? else { return Err(ResendMailError::Link) };
    let (detail, body) = understood(log::find_within(&mut tx, id).await?)?;
    if detail.state() == State::Owed {
        return Err(ResendMailError::StillOwed);
    }
    let MailBody::Shopper(facts) = body else { return Err(ResendMailError::OtherVersion) };
    let mail: Mail = facts.mail.parse().map_err(|_| ResendMailError::OtherVersion)?;
    let facts: &ShopperMail = &facts;
    let again = message(app, mail, facts, &kept.identifier, kept.sequence)?;
    let new = again.id;
    tx.owe(again);
    let detail = format!("{} of {}, as {new}", mail.short(), kept.identifier);
    audit::record(&mut tx, Entry { id: app.mint(), actor, action: "mail.resent", detail: &detail, done_at: app.now() }).await?;
    app.commit(tx).await?;
    Ok(new)
}
