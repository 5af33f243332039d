//! Forms are accepted from our own pages only. Browsers say where a form was sent from, so no token is needed.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri, header};

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Returns true if a form was sent from a page of the same origin. Without any word from the browser it was not.
pub(crate) fn is_own(headers: &HeaderMap) -> bool {
    match headers.get(FETCH_SITE).map(HeaderValue::as_bytes) {
        Some(site) => site == b"same-origin",
        None => origin_is_host(headers).unwrap_or(false),
    }
}

/// Browsers without `Sec-Fetch-Site` send `Origin` with every form.
fn origin_is_host(headers: &HeaderMap) -> Option<bool> {
    let origin: Uri = headers.get(header::ORIGIN)?.to_str().ok()?.parse().ok()?;
    let host = headers.get(header::HOST)?.to_str().ok()?;
    Some(origin.authority()?.as_str().eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(headers: &[(&'static str, &'static str)]) -> bool {
        is_own(&headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect())
    }

    #[test]
    fn only_our_own_pages_may_send_forms() {
        assert!(sent(&[("sec-fetch-site", "same-origin")]));
        assert!(sent(&[("origin", "https://returns.example.com"), ("host", "returns.example.com")]));
        for foreign in [
            &[("sec-fetch-site", "cross-site"), ("origin", "https://returns.example.com"), ("host", "returns.example.com")][..],
            &[("sec-fetch-site", "same-site")],
            &[("sec-fetch-site", "none")],
            &[("origin", "https://evil.example"), ("host", "returns.example.com")],
            &[("origin", "null"), ("host", "returns.example.com")],
            &[("host", "returns.example.com")],
            &[],
        ] {
            assert!(!sent(foreign), "{foreign:?}");
        }
    }
}
