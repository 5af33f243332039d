//! A request to the carrier, from its arrival to the answer, by way of the faults.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use hyper::header::AUTHORIZATION;
use hyper::{HeaderMap, Request, Response, StatusCode};
use subtle::ConstantTimeEq as _;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::api::{Route, act};
use super::book::{Book, Report};
use super::faults::{Failure, Fortune, Outage};
use super::reply::{Content, Reply};
use super::tracker::Status;
use super::webhooks::Webhooks;
use crate::connection::{Broken, Exchange};

/// The largest body of a request.
const MOST_BODY: usize = 64 * 1024;
/// How long a request may take to arrive.
const PATIENCE: Duration = Duration::from_mins(1);

/// What the carrier was told, and what it knows.
pub(super) struct State {
    pub(super) key: String,
    pub(super) url: String,
    pub(super) webhooks: Webhooks,
    /// Changes when something was done.
    pub(super) changes: watch::Sender<()>,
    book: Mutex<Book>,
    fortune: Mutex<Fortune>,
}

impl State {
    pub(super) fn new(key: String, url: String, book: Book, fortune: Fortune) -> Self {
        let (book, fortune) = (Mutex::new(book), Mutex::new(fortune));
        Self { key, url, webhooks: Webhooks::default(), changes: watch::Sender::default(), book, fortune }
    }

    pub(super) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn fortune(&self) -> MutexGuard<'_, Fortune> {
        self.fortune.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Scans a parcel; false when there is none of this number.
    pub(super) fn scan(&self, code: &str, status: Status) -> bool {
        self.note(|book| {
            let report = book.scan(code, status);
            (report.is_some(), report.into_iter().collect())
        })
    }

    /// Does something in the book, and tells of what happened in the order in which it happened.
    fn note<T>(&self, deed: impl FnOnce(&mut Book) -> (T, Vec<Report>)) -> T {
        let mut book = self.book();
        let (outcome, reports) = deed(&mut book);
        self.webhooks.enqueue(reports);
        drop(book);
        self.changes.send_replace(());
        outcome
    }

    fn knows(&self, headers: &HeaderMap) -> bool {
        user(headers).is_some_and(|user| user.as_bytes().ct_eq(self.key.as_bytes()).into())
    }
}

impl Exchange for State {
    type Body = Content;

    const PATIENCE: Option<Duration> = Some(PATIENCE);

    async fn exchange(&self, request: Request<Incoming>) -> Result<Response<Content>, Broken> {
        let (head, body) = request.into_parts();
        let body = timeout(PATIENCE, Limited::new(body, MOST_BODY).collect()).await.map_err(|_| Broken::Closed)?;
        let route = Route::of(&head.method, head.uri.path());
        let reply = match (route, body) {
            (None, _) => Reply::not_found(),
            (Some(_), Err(_)) => Reply::error(StatusCode::PAYLOAD_TOO_LARGE, "PAYLOAD.TOO_LARGE", "The body is too large."),
            (Some(route), Ok(body)) => self.obey(&route, &head.headers, &body.to_bytes()).await?,
        };
        Ok(reply.response())
    }
}

impl State {
    async fn obey(&self, route: &Route, headers: &HeaderMap, body: &Bytes) -> Result<Reply, Broken> {
        let act = || self.note(|book| act(book, route, body, &self.url));
        let Some(operation) = route.operation() else { return Ok(act()) };
        let (delay, too_slow, outage) = {
            let fortune = self.fortune();
            (fortune.faults().delay, fortune.faults().too_slow, fortune.faults().outage)
        };
        let reply = match outage {
            Some(Outage::Unavailable | Outage::Refuses) => Reply::unavailable(),
            None if route.needs_key() && !self.knows(headers) => Reply::unauthorized(),
            None => {
                let failure = self.fortune().choose(operation);
                match failure {
                    None => act(),
                    Some(Failure::ErrorBefore) => Reply::broken(),
                    Some(Failure::ErrorAfter) => {
                        act();
                        Reply::broken()
                    }
                    Some(Failure::ResetAfter) => {
                        act();
                        return Err(Broken::Reset);
                    }
                    Some(Failure::TooSlow) => {
                        let reply = act();
                        sleep(too_slow).await;
                        reply
                    }
                }
            }
        };
        if !delay.is_zero() {
            sleep(delay).await;
        }
        Ok(reply)
    }
}

/// The user of basic authorisation, who is the key; the password says nothing.
fn user(headers: &HeaderMap) -> Option<String> {
    let (scheme, said) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let said = String::from_utf8(BASE64_STANDARD.decode(said.trim()).ok()?).ok()?;
    let (user, _) = said.split_once(':').unwrap_or((&said, ""));
    scheme.eq_ignore_ascii_case("basic").then(|| user.to_owned())
}
