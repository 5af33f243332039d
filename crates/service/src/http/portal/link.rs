//! `/r/{merchant}/l/{link}`: opens the orders of a mailed link. Opening the page uses nothing up, because mail programs open links to
//! check them; only the button does.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::Response;
use secrecy::SecretString;
use store::returns::portal_links;

use super::lost;
use super::session::set_cookie;
use crate::app::App;
use crate::flow::returns::send_link::{can_send_links, open_link};
use crate::http::pages::error::PageError;
use crate::http::pages::form::Form;
use crate::http::pages::frame::{Frame, Reader};
use crate::http::pages::{render, see};
use crate::platform::keys::bearer;

#[derive(Template)]
#[template(path = "portal/link.html")]
struct Link {
    frame: Frame,
    action: String,
}

/// `GET /r/{merchant}/l/{link}`.
pub(super) async fn show(State(app): State<App>, reader: Reader, Path((_, link)): Path<(String, String)>) -> Result<Response, PageError> {
    let merchant = &reader.shop.merchant;
    let known = portal_links::find(app.store(merchant.id), merchant.id, &bearer::hash(&link), app.now()).await?;
    if known.is_none() || merchant.paused_at.is_some() {
        return used(&app, &reader);
    }
    let action = reader.path(&format!("l/{link}"));
    render(&Link { frame: reader.frame("link-title").alone(), action })
}

/// `POST /r/{merchant}/l/{link}`: uses the link up.
pub(super) async fn open(
    State(app): State<App>,
    reader: Reader,
    Path((_, link)): Path<(String, String)>,
    Form(_): Form<Vec<(String, String)>>,
) -> Result<Response, PageError> {
    let Some(secret) = open_link(&app, &reader.shop.merchant, &SecretString::from(link)).await? else { return used(&app, &reader) };
    let mut answer = see(&reader.path("orders"));
    answer.headers_mut().insert(header::SET_COOKIE, set_cookie(&reader, &secret)?);
    Ok(answer)
}

/// The page is the same for links that were used, have run out or never were.
fn used(app: &App, reader: &Reader) -> Result<Response, PageError> {
    if !can_send_links(app, &reader.shop) {
        return Err(PageError::NotFound);
    }
    let mut answer = lost::page(reader, String::new(), Vec::new(), true)?;
    *answer.status_mut() = StatusCode::GONE;
    Ok(answer)
}
