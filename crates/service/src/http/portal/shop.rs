//! The shop that a request is about, and the language of its reader.

use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::app::App;
use crate::http::own_host::OwnHost;
use crate::http::pages::error::PageError;
use crate::http::pages::frame::Reader;
use crate::http::pages::language::Choice;

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
    let choice = Choice::of(&app, &request);
    let reader = Reader { shop, language: choice.language, languages: choice.languages, root, support: None, is_preview: false };
    request.extensions_mut().insert(reader.clone());
    let mut response = next.run(request).await;
    match choice.cookie(&reader) {
        Ok(Some(cookie)) => _ = response.headers_mut().append(header::SET_COOKIE, cookie),
        Ok(None) => {}
        Err(error) => return PageError::from(error).into_response(),
    }
    // An error is shown in the shop and in the language.
    response.extensions_mut().insert(reader);
    response
}
