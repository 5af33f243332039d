//! The only HTTP client. Every call goes through it, and so through the guard.
//!
//! It follows no redirect, knows no proxy and no cookie, and decompresses nothing. A call has one deadline, which covers the
//! connection, the request and the whole answer, however slowly that drips; and of an answer it reads only so much.

mod connector;
mod failure;
mod roots;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use domain::messages::delivery::Outcome;
use http_body_util::{BodyExt as _, Full};
use hyper::header::{HeaderMap, HeaderValue, RETRY_AFTER, USER_AGENT};
use hyper::{Method, Response, body};
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use self::connector::Connector;
pub(super) use self::failure::io_words;
pub use self::roots::NoRoots;
use super::guard::{Guard, NoGuard, NotAllowed, Target};
use crate::platform::clock::Clock;
use crate::platform::config::Settings;

/// How much of an answer is read, unless a request says otherwise.
pub const MOST_READ: usize = 64 * 1024;
/// How much of it is kept.
pub const MOST_KEPT: usize = 16 * 1024;

/// How long a connection is kept for the next call, and how many of one host: as many as an endpoint may have calls at once,
/// because many endpoints may be at one host, and a connection for each call costs more than the call.
const IDLE: Duration = Duration::from_mins(1);
const IDLE_PER_HOST: usize = 1_000;
/// The most that the head of an answer may have.
const HEAD: usize = 64 * 1024;
/// Who calls.
const AGENT: &str = concat!("backhaul/", env!("CARGO_PKG_VERSION"));

/// The client; cheap to clone.
#[derive(Clone)]
pub struct Client {
    http: legacy::Client<Connector, Full<Bytes>>,
    guard: Arc<Guard>,
    clock: Clock,
    deadline: Duration,
}

/// What is asked. It has no `Debug`: its headers hold secrets.
#[derive(Clone)]
pub struct Request {
    /// How.
    pub method: Method,
    /// Whom, or why not. When it connects, the guard looks once more.
    pub target: Result<Target, NotAllowed>,
    /// The headers beside those that HTTP needs.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// How long it may take, from the look-up of the name to the last byte of the answer.
    pub deadline: Duration,
    /// How much of the answer is read; the rest is not waited for.
    pub most_read: usize,
    /// How much of it is kept.
    pub most_kept: usize,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct CallResult {
    /// How it ended.
    pub outcome: Outcome,
    /// The answer's body, as much as is kept of it.
    pub answer: Bytes,
    /// Whether there was, or may have been, more.
    pub truncated: bool,
    /// How long it took.
    pub took: Duration,
}

impl CallResult {
    /// One that did not come about.
    #[must_use]
    pub fn refused(outcome: Outcome) -> Self {
        Self { outcome, answer: Bytes::new(), truncated: false, took: Duration::ZERO }
    }
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum NoClient {
    /// What is allowed.
    #[error("outbound.allowed: {0}")]
    Guard(#[from] NoGuard),
    /// Whom to trust.
    #[error("outbound.extra_roots: {0}")]
    Roots(#[from] NoRoots),
    /// TLS.
    #[error("TLS cannot be spoken: {0}")]
    Tls(#[from] rustls::Error),
    /// Names.
    #[error("outbound.name_servers: names cannot be looked up: {0}")]
    Resolver(String),
}

impl Client {
    /// A client with these settings. It connects to nothing yet.
    pub fn new(settings: &Settings, clock: Clock) -> Result<Self, NoClient> {
        let guard = Arc::new(Guard::new(settings.outbound.allowed.clone(), settings.mode)?);
        let connector = Connector::new(&settings.outbound, Arc::clone(&guard))?;
        let http = legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(IDLE_PER_HOST)
            .http1_max_buf_size(HEAD)
            // A kept connection may have been closed by the peer just now. hyper gives a request back only if it has not
            // begun to write it, and only then is it sent again, on another connection. Once a byte may have left, the
            // call ends as unreachable, and whether it is repeated is decided where the attempts are counted.
            .retry_canceled_requests(true)
            .build(connector);
        Ok(Self { http, guard, clock, deadline: settings.outbound.call_timeout() })
    }

    /// Says what may be called; for URLs that are about to be saved.
    #[must_use]
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// The time; the same as everybody's.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// A request without headers and body, with the usual limits.
    #[must_use]
    pub fn request(&self, method: Method, url: &str) -> Request {
        self.request_to(method, self.guard.check_url(url))
    }

    /// The same to a target that was checked before.
    #[must_use]
    pub fn request_to(&self, method: Method, target: Result<Target, NotAllowed>) -> Request {
        Request {
            method,
            target,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            deadline: self.deadline,
            most_read: MOST_READ,
            most_kept: MOST_KEPT,
        }
    }

    /// Calls, once. It always comes back with an outcome, at the deadline at the latest.
    pub async fn call(&self, request: Request) -> CallResult {
        let began = self.clock.uptime();
        let deadline = request.deadline;
        let mut answer = Answer { most_read: request.most_read, most_kept: request.most_kept, ..Answer::default() };
        let outcome = tokio::time::timeout(deadline, self.exchange(request, &mut answer)).await.unwrap_or(Outcome::TimedOut);
        CallResult {
            outcome,
            truncated: answer.is_truncated(),
            answer: answer.kept.into(),
            took: self.clock.uptime().saturating_sub(began),
        }
    }

    async fn exchange(&self, request: Request, answer: &mut Answer) -> Outcome {
        let target = match request.target {
            Ok(target) => target,
            Err(refusal) => return Outcome::Refused(refusal.to_string()),
        };
        let mut sent = hyper::Request::new(Full::new(request.body));
        *sent.method_mut() = request.method;
        *sent.uri_mut() = target.uri().clone();
        *sent.headers_mut() = request.headers;
        sent.headers_mut().entry(USER_AGENT).or_insert(HeaderValue::from_static(AGENT));
        match self.http.request(sent).await {
            Ok(response) => self.read(response, answer).await,
            Err(error) => failure::explain(&error),
        }
    }

    async fn read(&self, response: Response<body::Incoming>, answer: &mut Answer) -> Outcome {
        answer.state = Reading::Begun;
        let status = response.status().as_u16();
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| retry_after(value, self.clock.wall()));
        let mut body = response.into_body();
        while answer.wants_more() {
            match body.frame().await {
                Some(Ok(frame)) => answer.take(frame.data_ref().map_or(&[], |data| data)),
                Some(Err(_)) => return Outcome::Unreachable("the connection broke before the answer was whole".to_owned()),
                None => {
                    answer.state = Reading::Ended;
                    break;
                }
            }
        }
        // A body that is not read to its end goes with its connection, which is closed and not used again.
        Outcome::Answered { status, retry_after }
    }
}

/// The answer's body as far as it was read.
#[derive(Default)]
struct Answer {
    kept: Vec<u8>,
    seen: usize,
    most_read: usize,
    most_kept: usize,
    state: Reading,
}

/// How far the reading got.
#[derive(Default, PartialEq, Eq)]
enum Reading {
    /// There is no answer.
    #[default]
    Waiting,
    /// Its head is there.
    Begun,
    /// All of it is there.
    Ended,
}

impl Answer {
    fn wants_more(&self) -> bool {
        self.seen < self.most_read
    }

    fn take(&mut self, data: &[u8]) {
        self.seen = self.seen.saturating_add(data.len());
        let room = self.most_kept.min(self.most_read).saturating_sub(self.kept.len());
        self.kept.extend_from_slice(data.get(..room).unwrap_or(data));
    }

    fn is_truncated(&self) -> bool {
        match self.state {
            Reading::Waiting => false,
            Reading::Begun => true,
            Reading::Ended => self.seen > self.kept.len(),
        }
    }
}

/// How long the peer asks us to wait: seconds, or a date in one of the three forms that HTTP knows.
fn retry_after(value: &HeaderValue, now: DateTime<Utc>) -> Option<TimeDelta> {
    let text = value.to_str().ok()?.trim();
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        // More than fits is more than anybody waits.
        return Some(TimeDelta::seconds(text.parse().unwrap_or(u32::MAX).into()));
    }
    let date: DateTime<Utc> = httpdate::parse_http_date(text).ok()?.into();
    Some((date - now).max(TimeDelta::zero()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now: DateTime<Utc> = "1994-11-06T08:49:37Z".parse().unwrap();
        for (text, seconds) in [
            ("0", Some(0)),
            ("120", Some(120)),
            (" 7 ", Some(7)),
            ("99999999999999999999", Some(i64::from(u32::MAX))),
            ("Sun, 06 Nov 1994 08:50:37 GMT", Some(60)),
            ("Sunday, 06-Nov-94 08:50:37 GMT", Some(60)),
            ("Sun Nov  6 08:50:37 1994", Some(60)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("-5", None),
            ("+5", None),
            ("1.5", None),
            ("", None),
            ("soon", None),
        ] {
            let read = retry_after(&HeaderValue::from_str(text).unwrap(), now);
            assert_eq!(read.map(|wait| wait.num_seconds()), seconds, "{text}");
        }
    }

    #[test]
    fn an_answer_is_read_and_kept_within_its_limits() {
        let mut answer = Answer { most_read: 10, most_kept: 4, state: Reading::Begun, ..Answer::default() };
        answer.take(b"ab");
        assert!(answer.wants_more());
        answer.take(b"cdefgh");
        assert!(answer.wants_more());
        answer.take(b"ijkl");
        assert!(!answer.wants_more());
        assert_eq!((answer.kept.as_slice(), answer.is_truncated()), (b"abcd".as_slice(), true));
    }
}
