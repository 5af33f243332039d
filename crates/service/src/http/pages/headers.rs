//! The headers of every page: nothing is loaded from elsewhere, nothing runs inline, nothing is kept by caches or framed.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// Scripts, styles and pictures come from our own origin only; forms go there only.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; \
    base-uri 'none'; frame-ancestors 'none'";

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
