//! The merchant's token endpoint: OAuth 2.0 client credentials.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::Method;
use serde_json::{Value, json};

use super::answer::Answer;
use super::paths::TOKEN_PATH;
use super::received::Received;
use super::rules::Rules;

/// A merchant's token endpoint. It issues `token-1`, `token-2` and so on.
pub struct Tokens<'a> {
    pub(super) url: String,
    pub(super) issuer: &'a Issuer,
    pub(super) rules: &'a Rules,
}

impl Tokens<'_> {
    /// The endpoint's URL.
    #[must_use]
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Sets the `expires_in` of tokens issued from now on; `None` omits it. The default is 3,600 seconds. Tokens do not really
    /// expire: each is valid until a newer one is issued or it is revoked.
    pub fn expires_in(&self, lifetime: impl Into<Option<Duration>>) {
        self.issuer.lock().lifetime = lifetime.into();
    }

    /// The newest token, unless it was revoked.
    #[must_use]
    pub fn newest(&self) -> Option<String> {
        self.issuer.lock().newest()
    }

    /// Answers token requests with this from now on; `Answer::usual()` issues tokens again.
    pub fn answer(&self, answer: Answer) {
        self.rules.stand(TOKEN_PATH, answer);
    }

    /// Answers the next token requests with these, one each.
    pub fn answer_next(&self, answers: impl IntoIterator<Item = Answer>) {
        self.rules.queue(TOKEN_PATH, answers);
    }
}

/// The issuer's clients and tokens.
#[derive(Default)]
pub(super) struct Issuer(Mutex<IssuerState>);

struct IssuerState {
    clients: HashMap<String, String>,
    lifetime: Option<Duration>,
    issued: u64,
    revoked: u64,
}

impl Default for IssuerState {
    fn default() -> Self {
        Self { clients: HashMap::new(), lifetime: Some(Duration::from_hours(1)), issued: 0, revoked: 0 }
    }
}

impl IssuerState {
    fn newest(&self) -> Option<String> {
        (self.issued > self.revoked).then(|| format!("token-{}", self.issued))
    }

    fn knows(&self, id: Option<&str>, secret: Option<&str>) -> bool {
        let (Some(id), Some(secret)) = (id, secret) else { return false };
        self.clients.is_empty() || self.clients.get(id).is_some_and(|known| known == secret)
    }
}

impl Issuer {
    pub(super) fn expect_client(&self, id: &str, secret: &str) {
        self.lock().clients.insert(id.to_owned(), secret.to_owned());
    }

    pub(super) fn revoke(&self) {
        let mut state = self.lock();
        state.revoked = state.issued;
    }

    /// Returns whether this is the newest token and has not been revoked.
    pub(super) fn accepts(&self, token: Option<&str>) -> bool {
        token.is_some() && token == self.lock().newest().as_deref()
    }

    /// Returns whether this token was ever issued.
    pub(super) fn has_issued(&self, token: Option<&str>) -> bool {
        let number = token.and_then(|token| token.strip_prefix("token-")?.parse::<u64>().ok());
        number.is_some_and(|number| (1..=self.lock().issued).contains(&number))
    }

    /// Answers a token request.
    pub(super) fn issue(&self, received: &Received) -> Answer {
        if received.method() != Method::POST {
            return Answer::status(405).header("allow", "POST");
        }
        let Some(fields) = fields(received) else { return refuse(400, "invalid_request") };
        let field = |name| fields.get(name).map(String::as_str);
        if field("grant_type") != Some("client_credentials") {
            return refuse(400, "unsupported_grant_type");
        }
        let basic = received.header("authorization").and_then(|value| value.strip_prefix("Basic ")).map(basic);
        let (id, secret) = match &basic {
            None => (field("client_id"), field("client_secret")),
            // A client authenticates in one way only.
            Some(_) if field("client_secret").is_some() => return refuse(400, "invalid_request"),
            Some(Some((id, secret))) => (Some(id.as_str()), Some(secret.as_str())),
            Some(None) => (None, None),
        };
        let mut state = self.lock();
        if !state.knows(id, secret) {
            return refuse(401, "invalid_client");
        }
        state.issued += 1;
        let token = state.newest();
        let body = match state.lifetime {
            Some(lifetime) => json!({"access_token": token, "token_type": "Bearer", "expires_in": lifetime.as_secs()}),
            None => json!({"access_token": token, "token_type": "Bearer"}),
        };
        Answer::status(200).header("cache-control", "no-store").json(&body)
    }

    fn lock(&self) -> MutexGuard<'_, IssuerState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refuse(status: u16, error: &str) -> Answer {
    Answer::status(status).header("cache-control", "no-store").json(&json!({"error": error}))
}

/// The id and secret in HTTP Basic, each encoded like a form's value (RFC 6749, 2.3.1).
fn basic(encoded: &str) -> Option<(String, String)> {
    let pair = String::from_utf8(STANDARD.decode(encoded).ok()?).ok()?;
    let (id, secret) = pair.split_once(':')?;
    let decoded = |text: &str| {
        let mut fields: Vec<(String, String)> = serde_urlencoded::from_str(&format!("value={text}")).ok()?;
        fields.pop().map(|(_, value)| value)
    };
    Some((decoded(id)?, decoded(secret)?))
}

/// The string fields of a form or a JSON object; `None` if the body is neither.
fn fields(received: &Received) -> Option<HashMap<String, String>> {
    let form = received.header("content-type").is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"));
    if form {
        return serde_urlencoded::from_bytes(received.body()).ok();
    }
    let Value::Object(object) = received.json() else { return None };
    Some(object.into_iter().filter_map(|(name, value)| Some((name, value.as_str()?.to_owned()))).collect())
}
