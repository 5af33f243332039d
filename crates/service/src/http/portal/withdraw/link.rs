//! `/r/{merchant}/w/{link}`: shows a statement by the link in the acknowledgement of it, and nothing of the order. It changes nothing, so
//! there is no button to press first.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use store::returns::withdrawals;

use super::receipt::Receipt;
use crate::app::App;
use crate::http::pages::error::PageError;
use crate::http::pages::frame::{Frame, Reader};
use crate::http::pages::render;
use crate::http::portal::session;
use crate::platform::keys::bearer;

#[derive(Template)]
#[template(path = "portal/withdraw_link.html")]
struct Page {
    frame: Frame,
    receipt: Receipt,
    /// Where the shopper goes on: at the statement's order if they have found it, or else where it is found.
    onward: String,
}

/// `GET /r/{merchant}/w/{link}`.
pub(in crate::http::portal) async fn show(
    State(app): State<App>,
    reader: Reader,
    headers: HeaderMap,
    Path((_, link)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let merchant = reader.shop.merchant.id;
    let found = withdrawals::of_link(app.store(merchant), merchant, &bearer::hash(&link), app.now()).await?;
    let found = found.ok_or(PageError::StatementLinkOver)?;
    let session = session::order(&app, &reader, &headers).await?;
    let known = session.is_some() && session == found.order;
    let onward = if known { reader.path(&format!("withdrawals/{}", found.reference)) } else { reader.path("") };
    render(&Page { frame: reader.frame("statement-title").alone(), receipt: Receipt::of(&reader, &found), onward })
}
