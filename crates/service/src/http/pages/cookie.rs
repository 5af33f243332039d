//! Cookies. Each is sent to the portal of one shop only, and no script can read it.

use axum::http::header::InvalidHeaderValue;
use axum::http::{HeaderMap, HeaderValue, header};

use super::frame::Reader;

/// The value of the cookie `name`.
pub(crate) fn find<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(found, _)| *found == name).map(|(_, value)| value)
}

/// The header that sets the cookie `name`, for `seconds` or until the browser is closed.
pub(crate) fn write(reader: &Reader, name: &str, value: &str, seconds: Option<u32>) -> Result<HeaderValue, InvalidHeaderValue> {
    let life = seconds.map(|seconds| format!("; Max-Age={seconds}")).unwrap_or_default();
    let cookie = format!("{name}={value}; Path={}; HttpOnly; Secure; SameSite=Lax{life}", reader.path(""));
    let mut cookie = HeaderValue::try_from(cookie)?;
    cookie.set_sensitive(true);
    Ok(cookie)
}
