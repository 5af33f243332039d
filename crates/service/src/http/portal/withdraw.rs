//! `/r/{merchant}/withdraw…`: withdraws from a contract. `form.rs` asks for the statement, `goods.rs` for the goods of a part,
//! `confirm.rs` shows the statement and takes it, `done.rs` acknowledges it, `link.rs` shows it again by the link in the mail. `receipt.rs`
//! is what the last two show.

pub(super) mod confirm;
pub(super) mod done;
pub(super) mod form;
pub(super) mod goods;
pub(super) mod link;
mod receipt;

use axum::extract::FromRequestParts;
use axum::http::HeaderValue;
use axum::http::request::Parts;
use domain::id::MerchantId;
use secrecy::{ExposeSecret as _, SecretString};
use store::returns::withdrawal_drafts;
use wire::returns::withdrawal::Statement;

use crate::app::App;
use crate::http::pages::cookie;
use crate::http::pages::error::PageError;
use crate::http::pages::frame::Reader;
use crate::platform::keys::bearer;
use crate::show::returns::portal::{self, PortalOrder};
use crate::show::returns::returnable::NO_SESSION;

const COOKIE: &str = "backhaul_withdrawal";

/// A shopper who is withdrawing, or has just done so.
pub(super) struct Withdrawing {
    reader: Reader,
    merchant: MerchantId,
    /// The hash of the secret in the cookie, if there is one.
    session: Option<bearer::Hash>,
}

impl FromRequestParts<App> for Withdrawing {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, PageError> {
        let reader = Reader::from_request_parts(parts, app).await?;
        if reader.shop.exemptions.shop.is_some() {
            return Err(PageError::NotFound);
        }
        let session = cookie::find(&parts.headers, COOKIE).map(bearer::hash);
        Ok(Self { merchant: reader.shop.merchant.id, reader, session })
    }
}

impl Withdrawing {
    /// The statement that is not confirmed yet.
    async fn statement(&self, app: &App) -> Result<Option<Statement>, PageError> {
        let Some(session) = &self.session else { return Ok(None) };
        let draft = withdrawal_drafts::find(app.store(self.merchant), self.merchant, session).await?;
        Ok(draft.map(|draft| Statement::read(&draft)))
    }

    /// The order of a statement, if the shopper has shown that it is theirs.
    async fn order(&self, app: &App, statement: &Statement) -> Result<Option<PortalOrder>, PageError> {
        let Some(order) = &statement.found else { return Ok(None) };
        Ok(portal::load(app, self.merchant, order, NO_SESSION).await?)
    }
}

fn set_cookie(reader: &Reader, secret: &SecretString) -> Result<HeaderValue, PageError> {
    Ok(cookie::write(reader, COOKIE, secret.expose_secret(), None)?)
}
