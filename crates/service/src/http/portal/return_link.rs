//! `/r/{merchant}/s/{link}`: opens the return of a link in a mail. Only the button opens it, because mail programs open links to check
//! them.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::Response;
use secrecy::SecretString;

use super::session::set_cookie;
use crate::app::App;
use crate::flow::returns::open_return::{find_linked, open_return};
use crate::http::pages::error::PageError;
use crate::http::pages::form::Form;
use crate::http::pages::frame::{Frame, Reader};
use crate::http::pages::{render, see};

#[derive(Template)]
#[template(path = "portal/return_link.html")]
struct ReturnLink {
    frame: Frame,
    lede: String,
    action: String,
}

/// `GET /r/{merchant}/s/{link}`.
pub(super) async fn show(State(app): State<App>, reader: Reader, Path((_, link)): Path<(String, String)>) -> Result<Response, PageError> {
    let action = reader.path(&format!("s/{link}"));
    let linked = find_linked(&app, &reader.shop.merchant, &SecretString::from(link)).await?.ok_or(PageError::LinkOver)?;
    let lede = reader.text_with("return-link-lede", [("rma", linked.rma.into())]);
    render(&ReturnLink { frame: reader.frame("return-link-title").alone(), lede, action })
}

/// `POST /r/{merchant}/s/{link}`: opens the return.
pub(super) async fn open(
    State(app): State<App>,
    reader: Reader,
    Path((_, link)): Path<(String, String)>,
    Form(_): Form<Vec<(String, String)>>,
) -> Result<Response, PageError> {
    let opened = open_return(&app, &reader.shop.merchant, &SecretString::from(link)).await?;
    let (secret, rma) = opened.ok_or(PageError::LinkOver)?;
    let mut answer = see(&reader.path(&format!("returns/{rma}")));
    answer.headers_mut().insert(header::SET_COOKIE, set_cookie(&reader, &secret)?);
    Ok(answer)
}
