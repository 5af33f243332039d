//! The versions of the API, requested and announced in headers.
//!
//! The order interface has its version in the header `Api-Version`, everything else in its path. A version lives for 24 months
//! after its successor; from then on every answer says so, in `Deprecation` (RFC 9745) and `Sunset` (RFC 8594).

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use chrono::{DateTime, Months, Utc};

use super::error::ApiError;

const API_VERSION: HeaderName = HeaderName::from_static("api-version");
const DEPRECATION: HeaderName = HeaderName::from_static("deprecation");
const SUNSET: HeaderName = HeaderName::from_static("sunset");
const OURS: &str = "3";

/// The path of the order interface, and the beginning of all others with a version.
const ORDERS: &str = "/returns_portal_orders";
const FIRST: &str = "/v1/";

/// The time for which a version lives after its successor.
const LIVES_ON: Months = Months::new(24);

/// A version of an interface.
#[derive(Clone, Copy, Default)]
pub struct Version {
    /// The time of its successor; `None` while it has none.
    pub succeeded_at: Option<DateTime<Utc>>,
}

impl Version {
    /// Announces the end of a version that has a successor.
    fn announce(self, headers: &mut HeaderMap) {
        let Some(succeeded_at) = self.succeeded_at else { return };
        let ends_at = succeeded_at + LIVES_ON;
        let sunset = HeaderValue::from_str(&ends_at.format("%a, %d %b %Y %H:%M:%S GMT").to_string());
        let deprecation = HeaderValue::from_str(&format!("@{}", succeeded_at.timestamp()));
        if let (Ok(deprecation), Ok(sunset)) = (deprecation, sunset) {
            headers.insert(DEPRECATION, deprecation);
            headers.insert(SUNSET, sunset);
        }
    }
}

/// The versions that are served. None has a successor yet.
#[derive(Clone, Copy, Default)]
pub struct Versions {
    /// `Api-Version: 3` of the order interface.
    pub orders: Version,
    /// Everything below `/v1`.
    pub v1: Version,
}

/// The check that a caller asks for our version, or for none.
pub(super) struct ApiVersion;

impl<S: Sync> FromRequestParts<S> for ApiVersion {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let ours = parts.headers.get_all(API_VERSION).iter().all(|asked| asked.to_str().is_ok_and(|asked| asked.trim() == OURS));
        if ours { Ok(Self) } else { Err(ApiError::UnknownVersion) }
    }
}

/// Adds the version of its interface, and the version's end, to every answer.
pub(super) async fn announce(State(versions): State<Versions>, request: Request, next: Next) -> Response {
    let (orders, v1) = (request.uri().path() == ORDERS, request.uri().path().starts_with(FIRST));
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    if orders {
        headers.insert(API_VERSION, HeaderValue::from_static(OURS));
        versions.orders.announce(headers);
    } else if v1 {
        versions.v1.announce(headers);
    }
    response
}
