//! The shopper who reads a page: the session that the cookie names.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use domain::id::MerchantId;
use domain::returns::portal::SupportName;
use domain::returns::rma::policy::{BY_SHOPPER, BY_SUPPORT};
use secrecy::{ExposeSecret as _, SecretString};
use store::returns::portal_sessions::{self, Session};
use wire::returns::draft::Answers;

use crate::app::App;
use crate::flow::returns::answer_draft::save_answers;
use crate::flow::returns::find_order::keep_session;
use crate::http::pages::cookie;
use crate::http::pages::error::PageError;
use crate::http::pages::frame::Reader;
use crate::platform::keys::bearer;
use crate::show::returns::portal::{self, PortalOrder, PortalReturn};

const COOKIE: &str = "backhaul_return";
/// The shopper, in the audit.
const SHOPPER: &str = "shopper";

/// A shopper with a session for an order.
pub(super) struct Shopper {
    pub(super) reader: Reader,
    pub(super) merchant: MerchantId,
    pub(super) session: Session,
    pub(super) hash: bearer::Hash,
}

/// A shopper with any session: for an order, or for one return of it.
pub(super) struct Follower(pub(super) Shopper);

impl FromRequestParts<App> for Reader {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, PageError> {
        parts.extensions.get::<Self>().cloned().ok_or_else(|| PageError::Internal("a page without a shop".to_owned()))
    }
}

impl FromRequestParts<App> for Follower {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, PageError> {
        let mut reader = Reader::from_request_parts(parts, app).await?;
        let merchant = reader.shop.merchant.id;
        let secret = cookie(&parts.headers).ok_or(PageError::SessionOver)?;
        let hash = bearer::hash(secret.expose_secret());
        let session = portal_sessions::find(app.store(merchant), merchant, &hash, app.now()).await?;
        let session = session.filter(|_| reader.shop.merchant.paused_at.is_none()).ok_or(PageError::SessionOver)?;
        keep_session(app, merchant, &hash, &session).await?;
        reader.support.clone_from(&session.support);
        Ok(Self(Shopper { reader, merchant, session, hash }))
    }
}

impl FromRequestParts<App> for Shopper {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, PageError> {
        let Follower(shopper) = Follower::from_request_parts(parts, app).await?;
        if shopper.session.proof.allows_order() { Ok(shopper) } else { Err(PageError::OneReturn) }
    }
}

impl Shopper {
    /// Whoever makes the changes of this session, in the audit.
    pub(super) fn actor(&self) -> String {
        self.session.support.as_ref().map_or_else(|| SHOPPER.to_owned(), SupportName::actor)
    }

    /// The reason of a return that is cancelled in this session.
    pub(super) const fn cancel_reason(&self) -> &'static str {
        if self.session.support.is_some() { BY_SUPPORT } else { BY_SHOPPER }
    }

    /// The order that the session is for. If it is gone, so is the session.
    pub(super) async fn order(&self, app: &App) -> Result<PortalOrder, PageError> {
        portal::load(app, self.merchant, &self.session.order, &self.hash).await?.ok_or(PageError::SessionOver)
    }

    /// Saves the answers about that order. Those about a gift are for this session only, so that its buyer does not learn of them.
    pub(super) async fn save(&self, app: &App, order: &PortalOrder) -> Result<(), PageError> {
        let owner = order.is_gift().then_some(self.hash.as_slice());
        let answers = Answers { language: Some(self.reader.language.code().to_owned()), ..order.answers.clone() };
        Ok(save_answers(app, self.merchant, &order.sale().identifier, &answers, owner).await?)
    }

    /// A return of that order; with a session for one return, only that one.
    pub(super) async fn find_return(&self, app: &App, identifier: &str) -> Result<PortalReturn, PageError> {
        let identifier = crate::show::returns::rmas::identifier(identifier);
        if self.session.rma.as_ref().is_some_and(|only| *only != identifier) {
            return Err(PageError::NotFound);
        }
        portal::find_return(app, self.merchant, &self.session.order, &identifier, &self.hash).await?.ok_or(PageError::NotFound)
    }

    /// Both at once.
    pub(super) async fn find_return_and_order(&self, app: &App, identifier: &str) -> Result<(PortalReturn, PortalOrder), PageError> {
        // Both to their end: a statement that is dropped half way costs its connection.
        let (one, order) = tokio::join!(self.find_return(app, identifier), self.order(app));
        Ok((one?, order?))
    }
}

/// The order that the session in the cookies is for, if there is one.
pub(super) async fn order(app: &App, reader: &Reader, headers: &HeaderMap) -> Result<Option<String>, PageError> {
    let Some(secret) = cookie(headers) else { return Ok(None) };
    let merchant = reader.shop.merchant.id;
    let session = portal_sessions::find(app.store(merchant), merchant, &bearer::hash(secret.expose_secret()), app.now()).await?;
    Ok(session.filter(|session| session.proof.allows_order()).map(|session| session.order))
}

/// Reads the session's secret from the cookies.
pub(super) fn cookie(headers: &HeaderMap) -> Option<SecretString> {
    cookie::find(headers, COOKIE).map(Into::into)
}

/// The cookie of a new session.
pub(super) fn set_cookie(reader: &Reader, secret: &SecretString) -> Result<HeaderValue, PageError> {
    Ok(cookie::write(reader, COOKIE, secret.expose_secret(), None)?)
}

/// The cookie that ends a session.
pub(super) fn remove_cookie(reader: &Reader) -> Result<HeaderValue, PageError> {
    Ok(cookie::write(reader, COOKIE, "", Some(0))?)
}
