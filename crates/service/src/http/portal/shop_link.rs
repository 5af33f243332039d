//! `/r/{merchant}/m/{link}`: opens the order of a link that the merchant made. The shop's page sends the shopper's browser here, so there
//! is no button to press.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use secrecy::SecretString;

use super::session::set_cookie;
use crate::app::App;
use crate::flow::returns::make_link::open_made_link;
use crate::http::pages::error::PageError;
use crate::http::pages::frame::Reader;
use crate::http::pages::see;

/// The headers by which browsers say that they fetch a page before anybody asks for it.
const PURPOSES: [&str; 3] = ["sec-purpose", "purpose", "x-moz"];

/// `GET /r/{merchant}/m/{link}`: uses the link up.
pub(super) async fn open(
    State(app): State<App>,
    reader: Reader,
    method: Method,
    headers: HeaderMap,
    Path((_, link)): Path<(String, String)>,
) -> Result<Response, PageError> {
    // Browsers show nothing of a refused page that was fetched ahead, and ask again when the shopper does.
    if method != Method::GET || is_ahead(&headers) {
        return Ok(StatusCode::FORBIDDEN.into_response());
    }
    let opened = open_made_link(&app, &reader.shop.merchant, &SecretString::from(link)).await?;
    let secret = opened.ok_or(PageError::ShopLinkOver)?;
    let mut answer = see(&reader.path("returns"));
    answer.headers_mut().insert(header::SET_COOKIE, set_cookie(&reader, &secret)?);
    Ok(answer)
}

fn is_ahead(headers: &HeaderMap) -> bool {
    let says = |name: &&str| headers.get(*name).is_some_and(|purpose| purpose.to_str().is_ok_and(|text| text.contains("prefetch")));
    PURPOSES.iter().any(says)
}
