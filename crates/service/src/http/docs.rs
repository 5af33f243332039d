//! The documentation, served by the program itself: `/docs`, and `/llms.txt` for programs.
//!
//! - `guides.rs` has the pages that are Markdown in the repository; `markdown.rs` renders them, `links.rs` says where their links lead.
//! - `document.rs` reads the OpenAPI document; `reference.rs` has a page for each operation, `messages.rs` one for each message to a
//!   merchant, with `fields.rs` and `samples.rs` for what they are made of. `errors.rs` lists the errors.
//! - `site.rs` makes all pages, with the frame in `page.rs`. `search.rs` finds in them, `llms.rs` lists them.
//!
//! Pages are made when the first one is asked for, and then kept: they say nothing about a merchant or the caller.

mod document;
mod errors;
mod fields;
mod guides;
mod links;
mod llms;
mod markdown;
mod messages;
mod page;
mod reference;
mod samples;
mod search;
mod site;

use std::sync::OnceLock;

use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query};
use axum::http::{HeaderMap, Uri};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use serde::Deserialize;

use self::search::LONGEST;
use self::site::Site;
use super::error::ApiError;
use super::pages::{assets, headers};
use super::prepared::Prepared;
use crate::app::App;

/// The first segments of the documentation's paths.
pub(super) const SEGMENTS: [&str; 2] = ["docs", "llms.txt"];

static SITE: OnceLock<Site> = OnceLock::new();

/// The routes. `document` is the OpenAPI document.
pub(super) fn router(document: &'static str) -> Router<App> {
    let site = move || SITE.get_or_init(|| Site::new(document));
    let page = move |uri: Uri, asked: HeaderMap| async move { answer(site().page(uri.path().trim_end_matches('/')), &asked) };
    let found = move |query: Result<Query<Search>, QueryRejection>| async move { search(site(), query.ok().map(|Query(query)| query)) };
    let file = move |Path(name): Path<String>, asked: HeaderMap| async move { answer(site().file(&name), &asked) };
    Router::new()
        .route("/docs", get(page))
        .route("/docs/", get(page))
        .route("/docs/{*page}", get(page))
        .route("/docs/search", get(found))
        .route("/docs/files/{name}", get(file))
        .route("/docs/assets/{name}", get(asset))
        .route("/llms.txt", get(move |asked: HeaderMap| async move { answer(Some(site().llms()), &asked) }))
}

/// The words that somebody looks for.
#[derive(Deserialize)]
struct Search {
    #[serde(default)]
    q: String,
}

/// Answers with a page, or says that there is none.
fn answer(page: Option<&Prepared>, asked: &HeaderMap) -> Result<Response, ApiError> {
    Ok(secured(page.ok_or(ApiError::NoSuchRoute)?.answer(asked)))
}

/// `GET /docs/search`: the sections that hold all words of a query.
fn search(site: &Site, query: Option<Search>) -> Result<Response, ApiError> {
    let Search { q } = query.ok_or_else(|| ApiError::BadQuery("q is given twice".to_owned()))?;
    if q.len() > LONGEST {
        return Err(ApiError::BadQuery(format!("q may have up to {LONGEST} bytes; search for fewer words")));
    }
    let html = site.search(q.trim()).map_err(|error| ApiError::Internal(format!("a page cannot be rendered: {error}")))?;
    Ok(secured(Html(html).into_response()))
}

/// `GET /docs/assets/{name}`.
async fn asset(Path(name): Path<String>) -> Result<Response, ApiError> {
    assets::find(&name).map(secured).ok_or(ApiError::NoSuchRoute)
}

/// Adds the headers of every page.
fn secured(mut response: Response) -> Response {
    headers::add(response.headers_mut());
    response
}
