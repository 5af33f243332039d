//! Makes a link for a shopper whom the merchant knows: one who is logged in to the shop, or one for whom support acts. It opens one
//! order, once, within ten minutes.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::returns::portal::{Proof, SupportName};
use secrecy::{ExposeSecret as _, SecretString};
use store::Failed;
use store::merchants::accounts::Merchant;
use store::merchants::audit::{self, Entry};
use store::merchants::mail_settings;
use store::orders::snapshots;
use store::returns::portal_links::{self, MADE_LASTS, Made};
use store::returns::portal_sessions::{self, Session};

use super::find_order::{Reach, new_session};
use crate::app::App;
use crate::delivery::mails::portal_address;
use crate::platform::keys::bearer;

/// A link that was made.
pub struct MadeLink {
    pub url: SecretString,
    pub expires_at: DateTime<Utc>,
}

/// The reasons a link cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum MakeLinkError {
    #[error("the merchant has no such order")]
    NoSuchOrder,
    #[error("the portal has no public address to link to; set `portal.url`, or a host name with `backhaul portal set --host`")]
    NoAddress,
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Makes a link to an order. Its pages are in `language` if the portal has it. The audit names `actor`, or else support; a link that the
/// merchant's system makes for the shopper alone is not recorded.
pub async fn make_link(
    app: &App,
    actor: Option<&str>,
    merchant: MerchantId,
    made: &Made,
    language: Option<&str>,
) -> Result<MadeLink, MakeLinkError> {
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    if !snapshots::exists(&mut tx, &made.order).await? {
        return Err(MakeLinkError::NoSuchOrder);
    }
    let address = portal_address(app, &mail_settings::sender(&mut tx).await?).ok_or(MakeLinkError::NoAddress)?;
    let secret = bearer::new_secret(&app.entropy);
    portal_links::insert_made(&mut tx, &bearer::hash(secret.expose_secret()), made, now).await?;
    let support = made.support.as_ref().map(SupportName::actor);
    if let Some(actor) = actor.or(support.as_deref()) {
        audit::record(&mut tx, Entry { id: app.mint(), actor, action: "portal.link_made", detail: &made.order, done_at: now }).await?;
    }
    app.commit(tx).await?;
    let language = language.and_then(|code| app.settings.portal.languages().find(code));
    let query = language.map(|language| format!("?lang={}", language.code())).unwrap_or_default();
    Ok(MadeLink { url: format!("{address}/m/{}{query}", secret.expose_secret()).into(), expires_at: now + MADE_LASTS })
}

/// Uses a link up and opens a session for its order. Returns the session's secret; `None` if the link does not work any more.
pub async fn open_made_link(app: &App, merchant: &Merchant, link: &SecretString) -> Result<Option<SecretString>, Failed> {
    if merchant.paused_at.is_some() {
        return Ok(None);
    }
    let mut tx = app.begin(merchant.id).await?;
    let made = portal_links::take_made(&mut tx, &bearer::hash(link.expose_secret()), app.now()).await?;
    let Some(Made { order, support }) = made else { return Ok(None) };
    let (secret, session) = new_session(app, &order, Proof::Merchant, Reach::Order);
    portal_sessions::insert(&mut tx, &bearer::hash(secret.expose_secret()), &Session { support, ..session }).await?;
    app.commit(tx).await?;
    Ok(Some(secret))
}
