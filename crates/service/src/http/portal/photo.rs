//! `/r/{merchant}/photos/{line}`: the photo of an order line, from our own origin.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest as _, Sha256};

use super::session::Follower;
use crate::app::App;
use crate::flow::returns::fetch_photo::fetch_photo;
use crate::http::pages::error::PageError;
use crate::http::pages::frame::Reader;

/// Browsers keep a photo for a day; it belongs to the session, so shared caches do not.
const CACHED: &str = "private, max-age=86400";

/// The path of a line's photo. A photo from another URL has another path, so that no browser shows the one that it has kept.
pub(super) fn path(reader: &Reader, line: &str, url: &str) -> String {
    let version: Vec<u8> = Sha256::digest(url).into_iter().take(9).collect();
    let line = utf8_percent_encode(line, NON_ALPHANUMERIC);
    reader.path(&format!("photos/{line}?v={}", BASE64_URL_SAFE_NO_PAD.encode(version)))
}

/// `GET /r/{merchant}/photos/{line}`.
pub(super) async fn show(
    State(app): State<App>,
    Follower(shopper): Follower,
    Path((_, line)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    if let Some(only) = &shopper.session.rma
        && !shopper.find_return(&app, only).await?.kept.rma.units.iter().any(|unit| unit.line == line)
    {
        return Err(PageError::NotFound);
    }
    let photo = fetch_photo(&app, shopper.merchant, &shopper.session.order, &line).await?.ok_or(PageError::NotFound)?;
    let kept = [(header::ETAG, photo.etag()), (header::CACHE_CONTROL, CACHED.to_owned())];
    if headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == photo.etag().as_bytes()) {
        return Ok((StatusCode::NOT_MODIFIED, kept).into_response());
    }
    Ok((kept, [(header::CONTENT_TYPE, "image/jpeg")], photo.jpeg).into_response())
}
