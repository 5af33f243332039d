//! Forms sent by browsers: small, in time, and from our own pages only.

use axum::extract::{FromRequest, Request};
use serde::de::DeserializeOwned;

use super::error::PageError;
use super::origin;
use crate::app::App;
use crate::http::body;
use crate::node::security::Event;

/// The largest form, in bytes.
const MOST_BYTES: usize = 64 * 1024;

/// The fields of a form.
pub(crate) struct Form<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for Form<T> {
    type Rejection = PageError;

    async fn from_request(request: Request, app: &App) -> Result<Self, PageError> {
        if !origin::is_own(request.headers()) {
            Event::ForeignForm.log();
            return Err(PageError::Foreign);
        }
        let bytes = body::read(request, app, MOST_BYTES).await?;
        serde_urlencoded::from_bytes(&bytes).map(Self).map_err(|_| PageError::Foreign)
    }
}
