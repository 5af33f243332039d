//! The headers of every page: nothing is loaded from elsewhere, nothing runs inline, nothing is kept by caches or framed by others.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::Response;

/// Scripts, styles and pictures come from our own origin only; forms go there only.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; \
    base-uri 'none'; frame-ancestors 'none'";

/// The same for a page with a frame, which shows a page of ours.
const WITH_FRAME: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; \
    base-uri 'none'; frame-ancestors 'none'; frame-src 'self'",
);
/// The same for a page within such a frame. It runs no scripts and sends no forms.
const WITHIN_FRAME: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'",
);

/// A page with a frame.
pub(crate) fn with_frame(mut page: Response) -> Response {
    page.headers_mut().insert(header::CONTENT_SECURITY_POLICY, WITH_FRAME);
    page
}

/// A page that is shown in a frame of one of our pages, and nowhere else.
pub(crate) fn within_frame(mut page: Response) -> Response {
    page.headers_mut().insert(header::CONTENT_SECURITY_POLICY, WITHIN_FRAME);
    page.headers_mut().insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN"));
    page
}

/// Adds the headers, unless the handler chose others.
pub(crate) fn add(headers: &mut HeaderMap) {
    let page = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
    ];
    for (name, value) in page {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}
