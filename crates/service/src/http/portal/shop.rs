//! The shop that a request is about, and the language of its reader.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::app::App;
use crate::http::own_host::OwnHost;
use crate::http::pages::error::PageError;
use crate::http::pages::frame::Reader;
use crate::platform::texts::Language;

/// Finds the shop of the path, and lets the page know its reader.
pub(super) async fn enter(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let handle = request.uri().path().strip_prefix("/r/").and_then(|rest| rest.split('/').next()).unwrap_or_default();
    let shop = match app.shops.find_by_handle(&app, handle).await {
        Ok(Some(shop)) => shop,
        Ok(None) => return PageError::NotFound.into_response(),
        Err(failed) => return PageError::from(failed).into_response(),
    };
    let own = request.extensions().get::<OwnHost>().is_some();
    let root = if own { "".into() } else { format!("/r/{}", shop.merchant.handle).into() };
    let reader = Reader { shop, language: language(request.headers()), root };
    request.extensions_mut().insert(reader.clone());
    let mut response = next.run(request).await;
    // An error is shown in the shop and in the language.
    response.extensions_mut().insert(reader);
    response
}

fn language(headers: &HeaderMap) -> Language {
    let accepted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    accepted.and_then(Language::accepted).unwrap_or_default()
}
