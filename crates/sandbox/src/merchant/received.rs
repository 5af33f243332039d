//! A request that the merchant received.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use bytes::Bytes;
use hyper::header::AUTHORIZATION;
use hyper::http::request;
use hyper::{HeaderMap, Method};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The header with a message's id.
pub(super) const ID: &str = "webhook-id";
const SEQUENCE: &str = "x-service-sequence";
const ATTEMPT: &str = "x-service-attempt";

/// A received request. Cloning it is cheap.
#[derive(Clone, Debug)]
pub struct Received(Arc<Request>);

#[derive(Clone, Debug)]
struct Request {
    number: u64,
    arrived: Instant,
    arrived_at: SystemTime,
    method: Method,
    path: String,
    query: Option<String>,
    message_id: Option<String>,
    sequence: Option<u64>,
    attempt: Option<u32>,
    headers: HeaderMap,
    body: Body,
}

#[derive(Clone, Debug)]
enum Body {
    Kept(Bytes),
    Digest([u8; 32]),
}

impl Received {
    /// Records a request that has just arrived.
    #[expect(clippy::disallowed_methods, reason = "a merchant is another machine, with a clock of its own")]
    pub(super) fn now(number: u64, head: request::Parts, body: Bytes) -> Self {
        let text = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
        Self(Arc::new(Request {
            number,
            arrived: Instant::now(),
            arrived_at: SystemTime::now(),
            path: head.uri.path().to_owned(),
            query: head.uri.query().map(str::to_owned),
            message_id: text(ID).map(str::to_owned),
            sequence: text(SEQUENCE).and_then(|value| value.parse().ok()),
            attempt: text(ATTEMPT).and_then(|value| value.parse().ok()),
            method: head.method,
            headers: head.headers,
            body: Body::Kept(body),
        }))
    }

    /// A copy without headers and body, which keeps the body's digest.
    pub(super) fn without_content(&self) -> Self {
        let request = &*self.0;
        Self(Arc::new(Request {
            method: request.method.clone(),
            path: request.path.clone(),
            query: request.query.clone(),
            message_id: request.message_id.clone(),
            headers: HeaderMap::new(),
            body: Body::Digest(self.digest()),
            ..*request
        }))
    }

    /// The request's place in the order of arrival, from 1.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.0.number
    }

    /// The time of arrival on the monotonic clock.
    #[must_use]
    pub fn arrived(&self) -> Instant {
        self.0.arrived
    }

    /// The time of arrival on the machine's clock.
    #[must_use]
    pub fn arrived_at(&self) -> SystemTime {
        self.0.arrived_at
    }

    /// The HTTP method.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.0.method
    }

    /// The path without the query.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// The query, if there is one.
    #[must_use]
    pub fn query(&self) -> Option<&str> {
        self.0.query.as_deref()
    }

    /// The headers; empty if they were not kept.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.0.headers
    }

    /// The first header of this name, if it is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.0.headers.get(name)?.to_str().ok()
    }

    /// The exact bytes of the body; empty if they were not kept.
    #[must_use]
    pub fn body(&self) -> &Bytes {
        static NOTHING: Bytes = Bytes::new();
        self.kept_body().unwrap_or(&NOTHING)
    }

    pub(super) fn kept_body(&self) -> Option<&Bytes> {
        match &self.0.body {
            Body::Kept(body) => Some(body),
            Body::Digest(_) => None,
        }
    }

    /// The body as JSON; null if it is not JSON or was not kept.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(self.body()).unwrap_or_default()
    }

    /// The SHA-256 of the body, even if the body was not kept.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        match &self.0.body {
            Body::Kept(body) => Sha256::digest(body).into(),
            Body::Digest(digest) => *digest,
        }
    }

    /// The id of the message (`webhook-id`).
    #[must_use]
    pub fn message_id(&self) -> Option<&str> {
        self.0.message_id.as_deref()
    }

    /// The message's number within its subject (`X-Service-Sequence`).
    #[must_use]
    pub fn sequence(&self) -> Option<u64> {
        self.0.sequence
    }

    /// The number of this delivery attempt (`X-Service-Attempt`).
    #[must_use]
    pub fn attempt(&self) -> Option<u32> {
        self.0.attempt
    }

    /// The bearer token, if one was presented.
    #[must_use]
    pub fn bearer(&self) -> Option<&str> {
        bearer(&self.0.headers)
    }
}

/// The bearer token in these headers.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
