//! The rate limit of requests: counted before anything else is done, and reported in every answer.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue};

use super::address;
use super::error::{ApiError, Exceeded};
use crate::app::App;
use crate::node::rate::Verdict;
use crate::node::security::Event;
use crate::node::shares::{Full, Party};
use crate::platform::metrics::ReasonLabels;

const LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("ratelimit-reset");
const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// Counts a request for its address, once, and puts the address into the request for the handlers. Until a token says more, the
/// address is the party that takes shares.
pub(super) fn count(app: &App, request: &mut Request) -> Verdict {
    if let Some(verdict) = request.extensions().get::<Verdict>() {
        return *verdict;
    }
    let trusted = &app.settings.http.trusted_proxies;
    let client = address::of(request.extensions(), request.headers(), trusted);
    let (peer, forwarded) = address::is_forwarded(request.extensions(), request.headers(), trusted);
    app.rates.proxies.note(peer, forwarded);
    request.extensions_mut().insert(client);
    request.extensions_mut().insert(Party::Address(client.counted));
    let verdict = app.rates.requests.take(client.counted, app.clock.uptime().as_secs(), app.limits.requests_per_minute());
    request.extensions_mut().insert(verdict);
    verdict
}

/// Counts a request, and returns whether it may look something up before it is known what it wants. An address that sends too much may
/// not, unless it withdraws from a contract, which no limit may refuse.
pub(super) fn may_look_up(app: &App, request: &mut Request) -> bool {
    count(app, request).admitted || is_withdrawal(request.uri().path())
}

/// True for the path of a page on which shoppers withdraw from contracts, at a merchant's own host too.
fn is_withdrawal(path: &str) -> bool {
    let mut segments = path.split('/').skip(1);
    let page = match segments.next() {
        Some("r") => segments.nth(1),
        first => first,
    };
    page.is_some_and(|page| page.starts_with("withdraw"))
}

/// Counts a request above a limit in the metrics, and logs it.
fn count_refused(app: &App, exceeded: Exceeded) {
    app.metrics.rate_limited.get_or_create(&ReasonLabels { reason: exceeded.as_str() }).inc();
    Event::LimitHit { limit: exceeded.as_str() }.log();
}

/// The error of a request above a limit, which is counted in the metrics.
pub(super) fn refuse(app: &App, exceeded: Exceeded, verdict: Verdict) -> ApiError {
    count_refused(app, exceeded);
    ApiError::TooManyRequests { exceeded, limit: verdict.limit, retry_after: verdict.reset }
}

/// The error of a request for which there is no room, in all or for its party, which is counted in the metrics.
pub(super) fn full(app: &App, [in_all, for_one]: [Exceeded; 2], full: Full, retry_after: u32) -> ApiError {
    let (exceeded, limit) = match full {
        Full::InAll(limit) => (in_all, limit),
        Full::ForOne(limit) => (for_one, limit),
    };
    count_refused(app, exceeded);
    ApiError::TooManyRequests { exceeded, limit: u32::try_from(limit).unwrap_or(u32::MAX), retry_after }
}

/// Adds the rate limit headers: the three that most clients know, and the two of the IETF draft
/// (draft-ietf-httpapi-ratelimit-headers).
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_withdrawal_is_known_by_its_path() {
        for path in ["/r/acme/withdraw", "/r/acme/withdraw/confirm", "/r/acme/withdrawals/W-1", "/withdraw", "/withdraw/goods"] {
            assert!(is_withdrawal(path), "{path}");
        }
        for path in ["/", "/r/withdraw", "/r/acme", "/r/acme/items/withdraw", "/v1/withdraw", "*"] {
            assert!(!is_withdrawal(path), "{path}");
        }
    }
}
