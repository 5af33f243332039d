//! The shopper who reads a page: the session that the cookie names.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use domain::id::MerchantId;
use secrecy::{ExposeSecret as _, SecretString};
use store::returns::portal_sessions::{self, Session};

use crate::app::App;
use crate::flow::returns::find_order::keep_session;
use crate::http::pages::error::PageError;
use crate::http::pages::frame::Reader;
use crate::platform::keys::bearer;
use crate::show::returns::portal::{self, PortalOrder, PortalReturn};

const COOKIE: &str = "backhaul_return";

/// A shopper with a session.
pub(super) struct Shopper {
    pub(super) reader: Reader,
    pub(super) merchant: MerchantId,
    pub(super) session: Session,
    pub(super) hash: bearer::Hash,
}

impl FromRequestParts<App> for Reader {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, PageError> {
        parts.extensions.get::<Self>().cloned().ok_or_else(|| PageError::Internal("a page without a shop".to_owned()))
    }
}

impl FromRequestParts<App> for Shopper {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, PageError> {
        let reader = Reader::from_request_parts(parts, app).await?;
        let merchant = reader.shop.merchant.id;
        let secret = cookie(&parts.headers).ok_or(PageError::SessionOver)?;
        let hash = bearer::hash(secret.expose_secret());
        let session = portal_sessions::find(app.store(merchant), merchant, &hash, app.now()).await?;
        let session = session.filter(|_| reader.shop.merchant.paused_at.is_none()).ok_or(PageError::SessionOver)?;
        keep_session(app, merchant, &hash, &session).await?;
        Ok(Self { reader, merchant, session, hash })
    }
}

impl Shopper {
    /// The order that the session is for. If it is gone, so is the session.
    pub(super) async fn order(&self, app: &App) -> Result<PortalOrder, PageError> {
        portal::load(app, self.merchant, &self.session.order).await?.ok_or(PageError::SessionOver)
    }

    /// A return of that order.
    pub(super) async fn find_return(&self, app: &App, identifier: &str) -> Result<PortalReturn, PageError> {
        let identifier = crate::show::returns::rmas::identifier(identifier);
        portal::find_return(app, self.merchant, &self.session.order, &identifier).await?.ok_or(PageError::NotFound)
    }
}

/// Reads the session's secret from the cookies.
pub(super) fn cookie(headers: &HeaderMap) -> Option<SecretString> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, value)| value.into())
}

/// The cookie of a new session. It is sent to this shop's portal only.
pub(super) fn set_cookie(reader: &Reader, secret: &SecretString) -> Result<HeaderValue, PageError> {
    write_cookie(reader, secret.expose_secret(), "")
}

/// The cookie that ends a session.
pub(super) fn remove_cookie(reader: &Reader) -> Result<HeaderValue, PageError> {
    write_cookie(reader, "", "; Max-Age=0")
}

fn write_cookie(reader: &Reader, value: &str, life: &str) -> Result<HeaderValue, PageError> {
    let path = reader.path("");
    let cookie = format!("{COOKIE}={value}; Path={path}; HttpOnly; Secure; SameSite=Lax{life}");
    let mut cookie = HeaderValue::try_from(cookie).map_err(|_| PageError::Internal("a cookie cannot be written".to_owned()))?;
    cookie.set_sensitive(true);
    Ok(cookie)
}
