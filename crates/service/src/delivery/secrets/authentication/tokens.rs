//! The cache of OAuth tokens: a token is fetched once for all waiting calls, used while it is valid, and dropped when an endpoint
//! refuses it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use domain::messages::delivery::Outcome;
use hyper::Method;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use store::crash::{self, Point};
use uuid::Uuid;

use super::{OAuth, Style, bearer};
use crate::delivery::client::{Client, Identity, MOST_READ, Request};

/// The lifetime of a token whose answer does not name one.
const DEFAULT_LIFE: Duration = Duration::from_mins(5);
/// The longest lifetime, whatever the answer says.
const LONGEST: Duration = Duration::from_hours(24);
/// A token is not used in its last minute, or in the last tenth of its lifetime if that is shorter: it might expire on the way.
const MARGIN: Duration = Duration::from_mins(1);
/// The time after its lifetime until which an endpoint may still accept a token, because clocks differ.
const LEEWAY: Duration = Duration::from_mins(5);

/// A token for calls to an endpoint.
#[derive(Clone, Debug)]
pub struct Token {
    endpoint: Uuid,
    header: HeaderValue,
}

impl Token {
    /// The header for calls with this token.
    #[must_use]
    pub fn header(&self) -> (HeaderName, HeaderValue) {
        (AUTHORIZATION, self.header.clone())
    }
}

/// The number of endpoints in the cache. Beyond it, the least used are dropped.
const MOST_KEPT: usize = 100_000;

/// The tokens of all endpoints.
pub struct TokenCache(quick_cache::sync::Cache<Uuid, Arc<Endpoint>>);

impl Default for TokenCache {
    fn default() -> Self {
        Self(quick_cache::sync::Cache::new(MOST_KEPT))
    }
}

#[derive(Default)]
struct Endpoint {
    /// The number of fetches that have ended.
    fetches: AtomicU64,
    /// The lock is held during a fetch.
    tokens: tokio::sync::Mutex<Tokens>,
}

#[derive(Default)]
struct Tokens {
    /// The result of the last fetch.
    last: Option<Fetched>,
    /// The token before the last one.
    previous: Option<Kept>,
}

struct Fetched {
    /// The digest of the settings it was fetched with. It is not used with others.
    with: [u8; 32],
    result: Result<Kept, Outcome>,
}

struct Kept {
    token: Token,
    /// On the clock's uptime.
    valid_until: Duration,
    /// The end of the lifetime that the answer named, on the clock's uptime.
    expires: Option<Duration>,
}

impl TokenCache {
    /// The cached token of the endpoint, or a new one. Concurrent callers share one fetch; if it fails, they all get its outcome, and
    /// the next caller tries again.
    /// `identity` is presented to the token endpoint too, where it may be what authenticates us (RFC 8705).
    pub async fn token(&self, client: &Client, endpoint: Uuid, oauth: &OAuth, identity: Option<&Arc<Identity>>) -> Result<Token, Outcome> {
        let with = digest(oauth, identity.map(Arc::as_ref));
        let slot = self.slot(endpoint);
        let seen = slot.fetches.load(Ordering::SeqCst);
        let mut tokens = slot.tokens.lock().await;
        if let Some(fetched) = tokens.last.as_ref().filter(|fetched| fetched.with == with) {
            match &fetched.result {
                Ok(kept) if client.clock().uptime() < kept.valid_until => return Ok(kept.token.clone()),
                // The fetch failed while we waited for it.
                Err(outcome) if slot.fetches.load(Ordering::SeqCst) != seen => return Err(outcome.clone()),
                Ok(_) | Err(_) => {}
            }
        }
        let asked_at = client.clock().uptime();
        let result = fetch(client, oauth, identity).await.map(|(header, told)| {
            let life = told.unwrap_or(DEFAULT_LIFE);
            let valid_until = asked_at.saturating_add(life.saturating_sub(MARGIN.min(life / 10)));
            // The longest lifetime may be shorter than the one that was named.
            let expires = told.filter(|life| !life.is_zero() && *life < LONGEST).map(|life| client.clock().uptime().saturating_add(life));
            Kept { token: Token { endpoint, header }, valid_until, expires }
        });
        crash::point(Point::TokenFetched);
        let answer = result.as_ref().map(|kept| kept.token.clone()).map_err(Clone::clone);
        tokens.replace(Some(Fetched { with, result }));
        slot.fetches.fetch_add(1, Ordering::SeqCst);
        answer
    }

    /// Drops a token that the endpoint has refused, unless another one has been fetched since.
    pub async fn reject(&self, used: &Token) {
        let slot = self.slot(used.endpoint);
        let mut tokens = slot.tokens.lock().await;
        if tokens.last.as_ref().is_some_and(|fetched| matches!(&fetched.result, Ok(kept) if kept.token.header == used.header)) {
            tokens.replace(None);
        }
    }

    /// The token before the last one, if its lifetime has certainly ended. A check of the endpoint tries whether it is refused.
    pub async fn expired(&self, client: &Client, endpoint: Uuid) -> Option<Token> {
        let slot = self.slot(endpoint);
        let tokens = slot.tokens.lock().await;
        // Some servers issue the same token again.
        let is_current = |kept: &Kept| {
            tokens.last.as_ref().is_some_and(|fetched| matches!(&fetched.result, Ok(last) if last.token.header == kept.token.header))
        };
        let previous = tokens.previous.as_ref().filter(|previous| !is_current(previous))?;
        (previous.expires?.saturating_add(LEEWAY) < client.clock().uptime()).then(|| previous.token.clone())
    }

    fn slot(&self, endpoint: Uuid) -> Arc<Endpoint> {
        let Ok(slot) = self.0.get_or_insert_with(&endpoint, || Ok::<_, std::convert::Infallible>(Arc::default()));
        slot
    }
}

impl Tokens {
    /// Puts `fetched` in place of the last result, whose token is kept as the previous one.
    fn replace(&mut self, fetched: Option<Fetched>) {
        if let Some(Fetched { result: Ok(kept), .. }) = std::mem::replace(&mut self.last, fetched) {
            self.previous = Some(kept);
        }
    }
}

/// The digest of the settings, including the secret and the client certificate.
fn digest(oauth: &OAuth, identity: Option<&Identity>) -> [u8; 32] {
    // The header beside the token does not go to the token endpoint.
    let OAuth { token_url, client_id, client_secret, scope, style, extra: _ } = oauth;
    let style = match style {
        Style::Json => "json",
        Style::Form => "form",
        Style::Basic => "basic",
        Style::Certificate => "certificate",
    };
    let mut digest = Sha256::new();
    for part in [token_url, client_id, client_secret.expose_secret(), scope.as_deref().unwrap_or_default(), style] {
        digest.update(part.len().to_be_bytes());
        digest.update(part);
    }
    // A token may be bound to the certificate that it was fetched with.
    digest.update(identity.map_or(&[][..], |identity| identity.digest()));
    digest.finalize().into()
}

/// The fields we need from the token endpoint's answer.
#[derive(Deserialize)]
struct Answer {
    access_token: SecretString,
    #[serde(default)]
    expires_in: Value,
}

/// Fetches a token. Returns the header for calls, and the lifetime if the answer names one.
async fn fetch(client: &Client, oauth: &OAuth, identity: Option<&Arc<Identity>>) -> Result<(HeaderValue, Option<Duration>), Outcome> {
    let refused = |why: &str| Outcome::Refused(why.to_owned());
    let (content_type, body) = request_body(oauth).ok_or_else(|| refused("the OAuth settings cannot be written as a token request"))?;
    let mut headers = HeaderMap::from_iter([
        (CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (ACCEPT, HeaderValue::from_static("application/json")),
    ]);
    if oauth.style == Style::Basic {
        headers.insert(AUTHORIZATION, basic(oauth).ok_or_else(|| refused("the OAuth settings cannot be written as HTTP Basic"))?);
    }
    let identity = identity.cloned();
    let request = Request { headers, body, identity, most_kept: MOST_READ, ..client.request(Method::POST, &oauth.token_url) };
    let result = client.call(request).await;
    match result.outcome {
        Outcome::Answered { status: 200..=299, .. } => {}
        // Not `Answered`, because this is not the answer of the endpoint itself.
        Outcome::Answered { status, .. } => {
            return Err(Outcome::Refused(format!("the token endpoint answered {status}")));
        }
        Outcome::TimedOut => return Err(Outcome::Unreachable("the token endpoint did not answer in time".to_owned())),
        Outcome::Unreachable(why) => return Err(Outcome::Unreachable(format!("the token endpoint: {why}"))),
        Outcome::Refused(why) => return Err(Outcome::Refused(format!("the token endpoint: {why}"))),
    }
    let answer: Answer =
        serde_json::from_slice(&result.answer).map_err(|_| refused("the token endpoint answered without an access token"))?;
    let header = bearer(&answer.access_token).map_err(|_| refused("the token endpoint returned a token that a header cannot carry"))?;
    Ok((header, life(&answer.expires_in)))
}

/// The content type and the body of the token request.
fn request_body(oauth: &OAuth) -> Option<(&'static str, Bytes)> {
    let mut fields = vec![("grant_type", "client_credentials")];
    match oauth.style {
        Style::Json | Style::Form => {
            fields.extend([("client_id", oauth.client_id.as_str()), ("client_secret", oauth.client_secret.expose_secret())]);
        }
        Style::Certificate => fields.push(("client_id", oauth.client_id.as_str())),
        Style::Basic => {}
    }
    fields.extend(oauth.scope.as_deref().map(|scope| ("scope", scope)));
    match oauth.style {
        Style::Form | Style::Basic | Style::Certificate => {
            Some(("application/x-www-form-urlencoded", serde_urlencoded::to_string(&fields).ok()?.into()))
        }
        Style::Json => {
            let object: serde_json::Map<String, Value> = fields.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
            Some(("application/json", serde_json::to_vec(&object).ok()?.into()))
        }
    }
}

/// The header of a token request with HTTP Basic. As RFC 6749 (2.3.1) says, id and secret are each encoded like a form's values.
fn basic(oauth: &OAuth) -> Option<HeaderValue> {
    let encoded = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let pair = format!("{}:{}", encoded(&oauth.client_id), encoded(oauth.client_secret.expose_secret()));
    let mut value = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(pair))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// The lifetime of a token in seconds, which some servers send as text.
fn life(expires_in: &Value) -> Option<Duration> {
    let seconds = match expires_in {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse::<f64>().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    seconds.map(|seconds| Duration::try_from_secs_f64(seconds.clamp(0.0, LONGEST.as_secs_f64())).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_life_is_seconds_and_has_bounds() {
        for (expires_in, seconds) in [
            (json!(3600), Some(3600)),
            (json!("3600"), Some(3600)),
            (json!(3600.0), Some(3600)),
            (json!(0), Some(0)),
            (json!(-5), Some(0)),
            (json!(1e18), Some(86_400)),
            (json!("NaN"), Some(0)),
            (json!(null), None),
            (json!("soon"), None),
            (json!({}), None),
        ] {
            assert_eq!(life(&expires_in), seconds.map(Duration::from_secs), "{expires_in}");
        }
    }

    #[test]
    fn a_token_is_asked_for_in_the_endpoints_style() {
        let oauth = |scope: Option<&str>, style| OAuth {
            token_url: String::new(),
            client_id: "a&b".to_owned(),
            client_secret: "c d\"".into(),
            scope: scope.map(str::to_owned),
            style,
            extra: None,
        };
        let asked = |oauth: &OAuth| request_body(oauth).map(|(kind, body)| (kind, String::from_utf8(body.to_vec()).unwrap())).unwrap();
        assert_eq!(
            asked(&oauth(Some("x y"), Style::Form)),
            (
                "application/x-www-form-urlencoded",
                "grant_type=client_credentials&client_id=a%26b&client_secret=c+d%22&scope=x+y".to_owned()
            )
        );
        let (kind, body) = asked(&oauth(None, Style::Json));
        assert_eq!(kind, "application/json");
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body, json!({"grant_type": "client_credentials", "client_id": "a&b", "client_secret": "c d\""}));
        let (_, body) = asked(&oauth(Some("x"), Style::Basic));
        assert_eq!(body, "grant_type=client_credentials&scope=x", "the secret is in one place only");
        let (_, body) = asked(&oauth(None, Style::Certificate));
        assert_eq!(body, "grant_type=client_credentials&client_id=a%26b", "the certificate takes the place of the secret");
        let header = basic(&oauth(None, Style::Basic)).unwrap();
        assert!(header.is_sensitive());
        let pair = STANDARD.decode(header.to_str().unwrap().strip_prefix("Basic ").unwrap()).unwrap();
        assert_eq!(String::from_utf8(pair).unwrap(), "a%26b:c+d%22");
    }
}
