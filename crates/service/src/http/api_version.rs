//! The version of the order interface, requested and returned in the header `Api-Version`.

use axum::extract::{FromRequestParts, Request};
use axum::http::HeaderValue;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::Response;

use super::error::ApiError;

const API_VERSION: &str = "api-version";
const OURS: &str = "3";

/// The check that a caller asks for our version, or for none.
pub(super) struct ApiVersion;

impl<S: Sync> FromRequestParts<S> for ApiVersion {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let ours = parts.headers.get_all(API_VERSION).iter().all(|asked| asked.to_str().is_ok_and(|asked| asked.trim() == OURS));
        if ours { Ok(Self) } else { Err(ApiError::UnknownVersion) }
    }
}

/// Adds the version to every answer of a route.
pub(super) async fn announce(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    response.headers_mut().insert(API_VERSION, HeaderValue::from_static(OURS));
    response
}
