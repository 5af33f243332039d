//! An operator sends a sample of a merchant's mail to their own address, to see it in their mail program.

use domain::id::MerchantId;
use domain::returns::mail::Mail;
use store::Failed;
use store::merchants::audit::{self, Entry};
use wire::messages::mail::ShopperMail;

use crate::app::App;
use crate::delivery::mails::{Letterhead, sample};
use crate::flow::returns::mail_shopper::message;
use crate::platform::texts::Language;

/// The reasons a sample cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum SampleMailError {
    #[error("there is no mail server; set mail.url and mail.from")]
    NoServer,
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Sends a sample of `mail` to the operator's address `to`. It has no shopper's data.
pub async fn send_sample_mail(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    (mail, language): (Mail, Language),
    to: &str,
) -> Result<(), SampleMailError> {
    if !app.mailer.can_write_to(to) {
        return Err(SampleMailError::NoServer);
    }
    let shop = Letterhead::current(app, merchant).await?.sender.name;
    let body = ShopperMail { to: to.to_owned(), ..sample(mail, language, &shop, app.now()) };
    let mut tx = app.begin(merchant).await?;
    // Each is a subject of its own, so that none waits for another.
    tx.owe(message(app, mail, &body, &format!("sample-{}", app.mint()), 1)?);
    let detail = format!("{}, {}", mail.short(), language.code());
    audit::record(&mut tx, Entry { id: app.mint(), actor, action: "mail.sample_sent", detail: &detail, done_at: app.now() }).await?;
    Ok(app.commit(tx).await?)
}
