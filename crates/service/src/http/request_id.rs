//! The id of a request.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::error::ApiError;

/// The id of a request in its response, in the logs and in the refusals kept for support.
#[derive(Clone)]
pub(super) struct RequestId(pub(super) String);

impl<S: Sync> FromRequestParts<S> for RequestId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parts.extensions.get::<Self>().cloned().ok_or_else(|| ApiError::Internal("a request without an id".to_owned()))
    }
}
