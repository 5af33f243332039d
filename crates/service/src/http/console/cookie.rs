//! The console's cookies. They are sent to this console only, over TLS or on this machine, and no script can read them.

use axum::http::header::{InvalidHeaderValue, SET_COOKIE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};

use crate::http::pages::cookie::find;
use crate::platform::keys::bearer::{self, Hash};

/// The cookie with the token of a session.
pub(crate) const SESSION: &str = "__Host-console";
/// The cookie with the token of a browser in which somebody has signed in before.
pub(super) const DEVICE: &str = "__Host-console-device";
/// The cookie of a sign-in that is not complete.
pub(super) const STEP: &str = "__Host-console-step";
/// The cookie of a sign-in for which somebody was sent to the identity provider.
pub(super) const PROVIDER: &str = "__Host-console-provider";

/// The hash of the session's token.
pub(crate) fn session_hash(headers: &HeaderMap) -> Option<Hash> {
    find(headers, SESSION).map(bearer::hash)
}

/// The hash of the browser's token.
pub(super) fn device_hash(headers: &HeaderMap) -> Option<Hash> {
    find(headers, DEVICE).map(bearer::hash)
}

/// The header that sets the cookie `name`, for `seconds` or until the browser is closed.
pub(super) fn set(name: &str, value: &str, seconds: Option<i64>) -> Result<(HeaderName, HeaderValue), InvalidHeaderValue> {
    let life = seconds.map(|seconds| format!("; Max-Age={seconds}")).unwrap_or_default();
    let mut cookie = HeaderValue::try_from(format!("{name}={value}; Path=/; HttpOnly; Secure; SameSite=Lax{life}"))?;
    cookie.set_sensitive(true);
    Ok((SET_COOKIE, cookie))
}

/// The header that removes the cookie `name`.
pub(super) fn remove(name: &str) -> Result<(HeaderName, HeaderValue), InvalidHeaderValue> {
    set(name, "", Some(0))
}
