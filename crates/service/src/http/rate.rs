//! The rate limit of a request: counted before anything else is done for it, and told with every answer.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue};

use super::address;
use super::error::{ApiError, Exceeded};
use crate::app::App;
use crate::metrics::ReasonLabels;
use crate::rate::Verdict;

const LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("ratelimit-reset");
const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// Counts a request for its address, which the handlers find in it from then on.
pub(super) fn count(app: &App, request: &mut Request) -> Verdict {
    let client = address::of(request.extensions(), request.headers(), &app.settings.http.trusted_proxies);
    request.extensions_mut().insert(client);
    app.rates.requests.take(client.0, app.clock.uptime().as_secs(), app.limits.requests_per_minute())
}

/// The error of a request that is one too many.
pub(super) fn refuse(app: &App, exceeded: Exceeded, verdict: Verdict) -> ApiError {
    app.metrics.rate_limited.get_or_create(&ReasonLabels { reason: exceeded.as_str() }).inc();
    ApiError::TooManyRequests { exceeded, limit: verdict.limit, retry_after: verdict.reset }
}

/// Tells the caller where it stands: the three fields that most clients know, and the two of the IETF's draft that
/// follow them (draft-ietf-httpapi-ratelimit-headers).
pub(super) fn announce(verdict: Verdict, headers: &mut HeaderMap) {
    let Verdict { limit, remaining, reset, .. } = verdict;
    headers.insert(LIMIT, limit.into());
    headers.insert(REMAINING, remaining.into());
    headers.insert(RESET, reset.into());
    for (name, value) in [(POLICY, format!(r#""address";q={limit};w=60"#)), (RATE_LIMIT, format!(r#""address";r={remaining};t={reset}"#))] {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name, value);
        }
    }
}
