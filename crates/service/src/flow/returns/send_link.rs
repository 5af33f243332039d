//! Mails a shopper a link that opens their orders, for those who do not have an order's number at hand.
//!
//! Whoever asks learns nothing: the answer is the same whether the address has orders or not. The mail goes to the address in the
//! order, never to the one that was typed.

use chrono::{DateTime, TimeDelta, Utc};
use domain::returns::mail::Mail;
use domain::returns::portal::Proof;
use secrecy::{ExposeSecret as _, SecretString};
use store::Failed;
use store::merchants::accounts::Merchant;
use store::orders::snapshots::{self, OfEmail};
use store::returns::portal_links;
use store::returns::portal_sessions::{self, Session};
use wire::messages::mail::ShopperMail;
use wire::orders::order::read_stored;

use super::find_order::{Reach, count, new_session};
use super::mail_shopper::message;
use crate::app::App;
use crate::node::security::Event;
use crate::platform::keys::bearer;
use crate::platform::metrics::PortalStep;
use crate::platform::texts::Language;
use crate::shops::Shop;

/// The most links that one network address may ask for in a quarter of an hour.
const OF_ADDRESS: (i32, TimeDelta) = (10, TimeDelta::minutes(15));
/// The most links that one e-mail address is sent in an hour. Beyond that nothing is sent, and nothing else is said.
const OF_EMAIL: (i32, TimeDelta) = (5, TimeDelta::hours(1));
/// The most links that may be asked for in one merchant's portal in a minute.
const OF_MERCHANT: (i32, TimeDelta) = (1_000, TimeDelta::minutes(1));

/// The reasons a link is not sent that may be told.
#[derive(Debug, thiserror::Error)]
pub enum SendLinkError {
    #[error("too many links were asked for, until {0}")]
    TooMany(DateTime<Utc>),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// True if links can be sent to the shoppers of `shop`: it takes a mail server, and an address of the portal to link to.
#[must_use]
pub fn can_send_links(app: &App, shop: &Shop) -> bool {
    app.mailer.has_server() && shop.address.is_some()
}

/// Sends a link to `email` if the merchant has orders of it. `from` is the network address that asks.
pub async fn send_link(app: &App, shop: &Shop, language: Language, email: &str, from: &str) -> Result<(), SendLinkError> {
    app.metrics.pages.stepped(PortalStep::LinkAsked);
    let (merchant, now, print) = (&shop.merchant, app.now(), app.fingerprints.email(email));
    let limits = [
        (app.fingerprints.miss("link-address", from), OF_ADDRESS),
        (app.fingerprints.miss("link-merchant", ""), OF_MERCHANT),
        (print, OF_EMAIL),
    ];
    let [of_address, of_merchant, of_email] = count(app, merchant.id, limits).await?;
    if let Some(until) = of_address.max(of_merchant) {
        Event::LimitHit { limit: "portal" }.log();
        return Err(SendLinkError::TooMany(until));
    }
    let newest = snapshots::of_email(app.store(merchant.id), merchant.id, &app.fingerprints.emails(email), 1).await?.pop();
    let usable = newest.filter(|_| of_email.is_none() && merchant.paused_at.is_none());
    let Some((order, address)) = usable.zip(shop.address.as_deref()) else { return Ok(()) };
    let Some(to) = address_of(&order).filter(|to| app.mailer.can_write_to(to)) else { return Ok(()) };
    let secret = bearer::new_secret(&app.entropy);
    // It may reach the wrong person, so it names neither the shopper nor an order.
    let body = ShopperMail {
        mail: Mail::SignInLink.as_str().to_owned(),
        to,
        language: language.code().to_owned(),
        name: None,
        link: Some(format!("{address}/l/{}", secret.expose_secret())),
        about: None,
        withdrawal: None,
    };
    let mut tx = app.begin(merchant.id).await?;
    portal_links::insert(&mut tx, &bearer::hash(secret.expose_secret()), print, now).await?;
    tx.owe(message(app, Mail::SignInLink, &body, &order.identifier, 1)?);
    Ok(app.commit(tx).await?)
}

/// The e-mail address in an order.
fn address_of(order: &OfEmail) -> Option<String> {
    Some(read_stored(&order.snapshot)?.customer.email?.0.to_string())
}

/// Uses a link up and opens a session for the orders of its e-mail address, at the newest one. Returns the session's secret; `None`
/// if the link does not work any more, or the orders are gone.
pub async fn open_link(app: &App, merchant: &Merchant, link: &SecretString) -> Result<Option<SecretString>, Failed> {
    let (store, hash) = (app.store(merchant.id), bearer::hash(link.expose_secret()));
    let email = portal_links::find(store, merchant.id, &hash, app.now()).await?;
    let Some(email) = email.filter(|_| merchant.paused_at.is_none()) else { return Ok(None) };
    let Some(order) = snapshots::of_email(store, merchant.id, &[email], 1).await?.pop() else { return Ok(None) };
    let mut tx = app.begin(merchant.id).await?;
    if !portal_links::take(&mut tx, &hash).await? {
        return Ok(None);
    }
    let (secret, session) = new_session(app, &order.identifier, Proof::Link, Reach::Email(email));
    portal_sessions::insert(&mut tx, &bearer::hash(secret.expose_secret()), &session).await?;
    app.commit(tx).await?;
    app.metrics.pages.stepped(PortalStep::LinkOpened);
    Ok(Some(secret))
}

/// Turns a session that a link opened to another order of the same e-mail address. Returns false if it is not one.
pub async fn choose_order(app: &App, merchant: &Merchant, hash: &[u8], session: &Session, order: &str) -> Result<bool, Failed> {
    let keys = snapshots::shopper_keys(app.store(merchant.id), merchant.id, &[order.to_owned()]).await?;
    if session.email.is_none() || !keys.iter().any(|keys| keys.email == session.email) {
        return Ok(false);
    }
    let mut tx = app.begin(merchant.id).await?;
    portal_sessions::turn_to(&mut tx, hash, order).await?;
    app.commit(tx).await?;
    Ok(true)
}
