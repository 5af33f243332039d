//! What pages for people have in common: the frame, assets, language, texts, forms, cookies, headers and errors.

pub(super) mod assets;
pub(super) mod cookie;
pub(super) mod error;
pub(super) mod form;
pub(super) mod frame;
pub(super) mod headers;
pub(super) mod language;
pub(super) mod markup;
pub(super) mod origin;

use askama::Template;
use axum::extract::Path;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};

use self::error::PageError;

/// Renders a page.
pub(super) fn render(page: &impl Template) -> Result<Response, PageError> {
    let html = page.render().map_err(|error| PageError::Internal(format!("a page cannot be rendered: {error}")))?;
    Ok(Html(html).into_response())
}

/// Sends the browser on to another page with a plain GET.
pub(super) fn see(path: &str) -> Response {
    let location = HeaderValue::try_from(path).unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response()
}

/// `GET /assets/{name}`.
pub(super) async fn asset(Path(name): Path<String>) -> Result<Response, PageError> {
    assets::find(&name).ok_or(PageError::NotFound)
}

/// `GET /favicon.ico`: browsers ask for it when they show a label, because a PDF names no icon.
pub(super) async fn favicon() -> Response {
    see(&assets::ICON.path)
}
