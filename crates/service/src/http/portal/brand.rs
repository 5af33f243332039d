//! `/r/{merchant}/brand/{file}`: the style sheet and the logos of the merchant's brand, named by their hashes.

use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use store::merchants::brands;

use crate::app::App;
use crate::http::pages::error::PageError;
use crate::http::pages::frame::Reader;
use crate::platform::content_hash::KEPT_FOR_GOOD;
use crate::shops::StyleSheet;

/// `GET /r/{merchant}/brand/{file}`. It does not go by the shop that this node remembers: the page may come from a node that has
/// learnt of a change before.
pub(super) async fn show(State(app): State<App>, reader: Reader, Path((_, file)): Path<(String, String)>) -> Result<Response, PageError> {
    let merchant = reader.shop.merchant.id;
    let (media_type, content) = match file.rsplit_once('.') {
        Some((_, "css")) => {
            let settings = brands::current(app.store(merchant), merchant).await?;
            let style = StyleSheet::of(&settings)?.filter(|style| style.name == file).ok_or(PageError::NotFound)?;
            ("text/css; charset=utf-8", style.css.into_bytes())
        }
        // No stored hash has a NUL, and PostgreSQL refuses even to compare with one.
        Some((hash, "png")) if !hash.contains('\0') => {
            ("image/png", brands::find_logo(app.store(merchant), merchant, hash).await?.ok_or(PageError::NotFound)?)
        }
        _ => return Err(PageError::NotFound),
    };
    Ok(([(header::CONTENT_TYPE, media_type), (header::CACHE_CONTROL, KEPT_FOR_GOOD)], content).into_response())
}
