//! The merchant's token endpoint: OAuth 2.0 client credentials.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::Method;
use serde_json::{Value, json};

use super::Merchant;
use super::answer::Answer;
use super::received::Received;

/// Where tokens are asked for.
pub const TOKEN_PATH: &str = "/oauth/token";

/// Whether tokens are asked for at this path.
pub(super) fn is_endpoint(path: &str) -> bool {
    path.trim_end_matches('/') == TOKEN_PATH
}

/// The token endpoint of a merchant. It issues `token-1`, `token-2` and so on.
pub struct Tokens<'a> {
    pub(super) merchant: &'a Merchant,
}

impl Tokens<'_> {
    /// Its URL.
    #[must_use]
    pub fn url(&self) -> String {
        self.merchant.url(TOKEN_PATH)
    }

    /// How long tokens are said to live from now on; without, nothing is said. It is 3,600 seconds until it is set, and only a
    /// saying: a token is good until a newer one is issued or it is revoked.
    pub fn expires_in(&self, lifetime: impl Into<Option<Duration>>) {
        self.merchant.state.issuer.lock().lifetime = lifetime.into();
    }

    /// The newest token, unless it was revoked.
    #[must_use]
    pub fn newest(&self) -> Option<String> {
        self.merchant.state.issuer.lock().newest()
    }

    /// From now on, requests for tokens are answered with this; `Answer::usual()` issues them.
    pub fn answer(&self, answer: Answer) {
        self.merchant.answer(TOKEN_PATH, answer);
    }

    /// The next requests for tokens are answered with these, one each.
    pub fn answer_next(&self, answers: impl IntoIterator<Item = Answer>) {
        self.merchant.answer_next(TOKEN_PATH, answers);
    }
}

/// Who gets tokens, and which were issued.
#[derive(Default)]
pub(super) struct Issuer(Mutex<Book>);

struct Book {
    clients: HashMap<String, String>,
    lifetime: Option<Duration>,
    issued: u64,
    revoked: u64,
}

impl Default for Book {
    fn default() -> Self {
        Self { clients: HashMap::new(), lifetime: Some(Duration::from_hours(1)), issued: 0, revoked: 0 }
    }
}

impl Book {
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
        let mut book = self.lock();
        book.revoked = book.issued;
    }

    /// Whether this is the newest token and not revoked.
    pub(super) fn accepts(&self, token: Option<&str>) -> bool {
        token.is_some() && token == self.lock().newest().as_deref()
    }

    /// The answer to a request for a token.
    pub(super) fn issue(&self, received: &Received) -> Answer {
        if received.method() != Method::POST {
            return Answer::status(405).header("allow", "POST");
        }
        let Some(fields) = fields(received) else { return refuse(400, "invalid_request") };
        let field = |name| fields.get(name).map(String::as_str);
        if field("grant_type") != Some("client_credentials") {
            return refuse(400, "unsupported_grant_type");
        }
        let mut book = self.lock();
        if !book.knows(field("client_id"), field("client_secret")) {
            return refuse(401, "invalid_client");
        }
        book.issued += 1;
        let token = book.newest();
        let body = match book.lifetime {
            Some(lifetime) => json!({"access_token": token, "token_type": "Bearer", "expires_in": lifetime.as_secs()}),
            None => json!({"access_token": token, "token_type": "Bearer"}),
        };
        Answer::status(200).header("cache-control", "no-store").json(&body)
    }

    fn lock(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refuse(status: u16, error: &str) -> Answer {
    Answer::status(status).header("cache-control", "no-store").json(&json!({"error": error}))
}

/// The fields of a form, or of a JSON object; none when it is neither.
fn fields(received: &Received) -> Option<HashMap<String, String>> {
    let form = received.header("content-type").is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"));
    if form {
        return serde_urlencoded::from_bytes(received.body()).ok();
    }
    let Value::Object(object) = received.json() else { return None };
    Some(object.into_iter().filter_map(|(name, value)| Some((name, value.as_str()?.to_owned()))).collect())
}
