//! Handles a request to the carrier, from its arrival to the response, with injected faults.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
use super::faults::{Failure, FaultInjector, Outage};
use super::reply::{Content, Reply};
use super::tracker::Status;
use super::webhooks::Webhooks;
use crate::connection::{Broken, Handler};

/// The most bytes of a request body.
const MOST_BODY: usize = 64 * 1024;
/// The timeout for a request to arrive.
const TIMEOUT: Duration = Duration::from_mins(1);

/// The carrier's configuration, book and webhooks.
pub(super) struct State {
    pub(super) key: String,
    pub(super) url: String,
    pub(super) webhooks: Arc<Webhooks>,
    /// Signals every change of the book.
    pub(super) changes: watch::Sender<()>,
    book: Mutex<Book>,
    injector: Mutex<FaultInjector>,
}

impl State {
    pub(super) fn new(key: String, url: String, book: Book, injector: FaultInjector) -> Self {
        let (book, injector) = (Mutex::new(book), Mutex::new(injector));
        Self { key, url, webhooks: Arc::default(), changes: watch::Sender::default(), book, injector }
    }

    pub(super) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn injector(&self) -> MutexGuard<'_, FaultInjector> {
        self.injector.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Scans a parcel. Returns false if the number is unknown.
    pub(super) fn scan(&self, code: &str, status: Status) -> bool {
        self.change(|book| {
            let report = book.scan(code, status);
            (report.is_some(), report.into_iter().collect())
        })
    }

    /// Changes the book and queues the webhooks while the book is locked, so that they are queued in the order of the changes.
    fn change<T>(&self, change: impl FnOnce(&mut Book) -> (T, Vec<Report>)) -> T {
        let mut book = self.book();
        let (outcome, reports) = change(&mut book);
        self.webhooks.enqueue(reports);
        drop(book);
        self.changes.send_replace(());
        outcome
    }

    fn knows(&self, headers: &HeaderMap) -> bool {
        user(headers).is_some_and(|user| user.as_bytes().ct_eq(self.key.as_bytes()).into())
    }
}

impl Handler for State {
    type Body = Content;

    const TIMEOUT: Option<Duration> = Some(TIMEOUT);

    async fn handle(&self, request: Request<Incoming>) -> Result<Response<Content>, Broken> {
        let (head, body) = request.into_parts();
        let body = timeout(TIMEOUT, Limited::new(body, MOST_BODY).collect()).await.map_err(|_| Broken::Closed)?;
        let route = Route::of(&head.method, head.uri.path());
        let reply = match (route, body) {
            (None, _) => Reply::not_found(),
            (Some(_), Err(_)) => Reply::error(StatusCode::PAYLOAD_TOO_LARGE, "PAYLOAD.TOO_LARGE", "The body is too large."),
            (Some(route), Ok(body)) => self.answer(&route, &head.headers, &body.to_bytes()).await?,
        };
        Ok(reply.response())
    }
}

impl State {
    async fn answer(&self, route: &Route, headers: &HeaderMap, body: &Bytes) -> Result<Reply, Broken> {
        let act = || self.change(|book| act(book, route, body, &self.url));
        let Some(operation) = route.operation() else { return Ok(act()) };
        let (delay, too_slow, outage) = {
            let injector = self.injector();
            (injector.faults().delay, injector.faults().too_slow, injector.faults().outage)
        };
        let reply = match outage {
            Some(Outage::Unavailable | Outage::Refuses) => Reply::unavailable(),
            None if route.needs_key() && !self.knows(headers) => Reply::unauthorized(),
            None => {
                let failure = self.injector().choose(operation);
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

/// The user of basic authorisation, which is the API key; the password is ignored.
fn user(headers: &HeaderMap) -> Option<String> {
    let (scheme, credentials) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let credentials = String::from_utf8(BASE64_STANDARD.decode(credentials.trim()).ok()?).ok()?;
    let (user, _) = credentials.split_once(':').unwrap_or((&credentials, ""));
    scheme.eq_ignore_ascii_case("basic").then(|| user.to_owned())
}
