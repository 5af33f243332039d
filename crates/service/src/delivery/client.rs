//! The only HTTP client. Every call goes through it, and so through the guard.
//!
//! It follows no redirects, uses no proxy and no cookies, and does not decompress. A call has one deadline that covers connecting,
//! the request and the whole answer. It reads answers only up to a limit.

mod connector;
mod error;
mod failure;
mod identity;
mod roots;
pub mod stream;

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

use self::connector::{Connector, OverTls};
pub use self::error::{NoClient, NoRoots};
pub(super) use self::failure::{explain_io, is_of_tls};
pub use self::identity::Identity;
use self::identity::Owner;
use super::guard::{Guard, NotAllowed, Target};
use crate::platform::clock::Clock;
use crate::platform::config::Settings;

/// The bytes of an answer that are read, unless a request says otherwise.
pub const MOST_READ: usize = 64 * 1024;
/// The bytes of an answer that are kept, unless a request says otherwise.
pub const MOST_KEPT: usize = 16 * 1024;

/// The time for which an idle connection is kept for the next call.
const IDLE: Duration = Duration::from_mins(1);
/// Idle connections per host: as many as an endpoint may have concurrent calls. Many endpoints may share a host, and connecting
/// costs more than the call.
const IDLE_PER_HOST: usize = 1_000;
/// The maximum size of an answer's head.
const HEAD: usize = 64 * 1024;
/// The user agent.
const AGENT: &str = concat!("backhaul/", env!("CARGO_PKG_VERSION"));

/// The most client certificates whose connections are kept. Beyond that, those of the least used are closed.
const MOST_IDENTITIES: usize = 1_000;

/// A pool of connections.
type Pool = legacy::Client<Connector, Full<Bytes>>;

/// The client; cheap to clone.
#[derive(Clone)]
pub struct Client {
    /// The connections without a client certificate.
    http: Pool,
    connector: Connector,
    /// The connections with a client certificate, each for its endpoint alone.
    identified: Arc<quick_cache::sync::Cache<Owner, Pool>>,
    guard: Arc<Guard>,
    clock: Clock,
    deadline: Duration,
}

/// A request. It has no `Debug` because its headers hold secrets.
#[derive(Clone)]
pub struct Request {
    pub method: Method,
    /// The checked target, or the refusal that the call then returns. The guard checks again when it connects.
    pub target: Result<Target, NotAllowed>,
    /// Headers in addition to those that HTTP needs.
    pub headers: HeaderMap,
    pub body: Bytes,
    /// The client certificate to present.
    pub identity: Option<Arc<Identity>>,
    /// The time from looking up the name to the last byte of the answer.
    pub deadline: Duration,
    /// The bytes of the answer to read. The call does not wait for the rest.
    pub most_read: usize,
    /// The bytes of the answer to keep.
    pub most_kept: usize,
}

/// The result of a call.
#[derive(Clone, Debug)]
pub struct CallResult {
    pub outcome: Outcome,
    /// The kept part of the answer's body.
    pub answer: Bytes,
    /// True if there was, or may have been, more.
    pub truncated: bool,
    pub took: Duration,
    /// The version of TLS of the connection that the answer came over.
    pub tls: Option<&'static str>,
}

impl CallResult {
    /// The result of a call that was not made.
    #[must_use]
    pub fn refused(outcome: Outcome) -> Self {
        Self { outcome, answer: Bytes::new(), truncated: false, took: Duration::ZERO, tls: None }
    }
}

impl Client {
    /// Creates a client from the settings. It does not connect to anything yet.
    pub fn new(settings: &Settings, clock: Clock) -> Result<Self, NoClient> {
        Self::with_guard(Guard::new(settings.outbound.allowed.clone(), settings.mode)?, settings, clock)
    }

    /// Creates a client that can call nothing but `target`, a URL of the operator's own.
    pub fn only_to(target: &Target, settings: &Settings, clock: Clock) -> Result<Self, NoClient> {
        Self::with_guard(Guard::only(target), settings, clock)
    }

    fn with_guard(guard: Guard, settings: &Settings, clock: Clock) -> Result<Self, NoClient> {
        let guard = Arc::new(guard);
        let connector = Connector::new(&settings.outbound, Arc::clone(&guard))?;
        let identified = Arc::new(quick_cache::sync::Cache::new(MOST_IDENTITIES));
        Ok(Self { http: pool(connector.clone()), connector, identified, guard, clock, deadline: settings.outbound.call_timeout() })
    }

    /// The connections with this client certificate.
    fn pool_of(&self, identity: &Identity) -> Pool {
        let new = || Ok::<_, std::convert::Infallible>(pool(self.connector.presenting(identity)));
        let Ok(pool) = self.identified.get_or_insert_with(&identity.owner(), new);
        pool
    }

    /// The guard, for checking URLs before they are saved.
    #[must_use]
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// The clock that measures the calls.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// A request without headers and body, with the usual limits.
    #[must_use]
    pub fn request(&self, method: Method, url: &str) -> Request {
        self.request_to(method, self.guard.check_url(url))
    }

    /// A request to a target that has been checked before, with the usual limits.
    #[must_use]
    pub fn request_to(&self, method: Method, target: Result<Target, NotAllowed>) -> Request {
        Request {
            method,
            target,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            identity: None,
            deadline: self.deadline,
            most_read: MOST_READ,
            most_kept: MOST_KEPT,
        }
    }

    /// Makes one call. It always returns with an outcome, at the deadline at the latest.
    pub async fn call(&self, request: Request) -> CallResult {
        let began = self.clock.uptime();
        let deadline = request.deadline;
        let mut answer = Answer { most_read: request.most_read, most_kept: request.most_kept, ..Answer::default() };
        let outcome = tokio::time::timeout(deadline, self.exchange(request, &mut answer)).await.unwrap_or(Outcome::TimedOut);
        answer.result(outcome, self.clock.uptime().saturating_sub(began))
    }

    async fn exchange(&self, request: Request, answer: &mut Answer) -> Outcome {
        match self.send(request).await {
            Ok(response) => self.read(response, answer).await,
            Err(outcome) => outcome,
        }
    }

    /// Sends a request and waits for the head of the answer.
    async fn send(&self, request: Request) -> Result<Response<body::Incoming>, Outcome> {
        let target = request.target.map_err(|refusal| Outcome::Refused(refusal.to_string()))?;
        let mut sent = hyper::Request::new(Full::new(request.body));
        *sent.method_mut() = request.method;
        *sent.uri_mut() = target.uri().clone();
        *sent.headers_mut() = request.headers;
        sent.headers_mut().entry(USER_AGENT).or_insert(HeaderValue::from_static(AGENT));
        let answered = match request.identity {
            None => self.http.request(sent),
            Some(identity) => self.pool_of(&identity).request(sent),
        };
        answered.await.map_err(|error| failure::explain(&error))
    }

    async fn read(&self, response: Response<body::Incoming>, answer: &mut Answer) -> Outcome {
        answer.state = Reading::Begun;
        answer.tls = response.extensions().get::<OverTls>().map(|OverTls(version)| *version);
        let status = response.status().as_u16();
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| retry_after(value, self.clock.wall()));
        let mut body = response.into_body();
        while answer.wants_more() {
            match body.frame().await {
                Some(Ok(frame)) => answer.take(frame.data_ref().map_or(&[], |data| data)),
                Some(Err(_)) => return Outcome::Unreachable("the connection broke before the answer was complete".to_owned()),
                None => {
                    answer.state = Reading::Ended;
                    break;
                }
            }
        }
        // If the body is not read to its end, dropping it closes the connection.
        Outcome::Answered { status, retry_after }
    }
}

/// A pool of connections that `connector` makes.
fn pool(connector: Connector) -> Pool {
    legacy::Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE)
        .pool_max_idle_per_host(IDLE_PER_HOST)
        .http1_max_buf_size(HEAD)
        // The peer may just have closed an idle connection. hyper retries on another connection only if it has not written any of
        // the request. Once a byte may have been sent, the call ends as unreachable, and the retry schedule decides about another
        // attempt.
        .retry_canceled_requests(true)
        .build(connector)
}

/// An answer's body as far as it has been read.
#[derive(Default)]
struct Answer {
    kept: Vec<u8>,
    seen: usize,
    most_read: usize,
    most_kept: usize,
    state: Reading,
    tls: Option<&'static str>,
}

/// The progress of reading an answer.
#[derive(Default, PartialEq, Eq)]
enum Reading {
    /// Nothing has arrived.
    #[default]
    Waiting,
    /// The head has arrived.
    Begun,
    /// The whole body has arrived.
    Ended,
}

impl Answer {
    /// The result of a call that took this long.
    fn result(self, outcome: Outcome, took: Duration) -> CallResult {
        CallResult { outcome, truncated: self.is_truncated(), tls: self.tls, answer: self.kept.into(), took }
    }

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

/// The wait that the peer asks for: seconds, or a date in one of the three formats of HTTP.
fn retry_after(value: &HeaderValue, now: DateTime<Utc>) -> Option<TimeDelta> {
    let text = value.to_str().ok()?.trim();
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        // A number that does not fit is longer than anybody waits.
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
