//! Handles a request to the merchant, from its arrival to the response.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::{Request, Response};
use tokio::sync::watch;

use super::answer::{Action, Answer};
use super::content::Content;
use super::paths::is_token_endpoint;
use super::received::{Received, bearer};
use super::record::Record;
use super::rules::{Choice, Rules};
use super::tokens::Issuer;
use super::variants::Shelf;
use crate::connection::{Broken, Handler};

/// The merchant's configuration and everything it has recorded.
#[derive(Default)]
pub(super) struct State {
    pub(super) rules: Rules,
    pub(super) record: Record,
    pub(super) issuer: Arc<Issuer>,
    pub(super) shelf: Shelf,
    /// Signals that held answers may go out.
    pub(super) release: watch::Sender<()>,
    pub(super) accepted: AtomicUsize,
    pub(super) at_once: AtOnce,
}

impl Handler for State {
    type Body = Content;

    /// Tests may keep a connection open for as long as they like.
    const TIMEOUT: Option<Duration> = None;

    fn accepted(&self) {
        self.accepted.fetch_add(1, Relaxed);
    }

    async fn handle(&self, request: Request<Incoming>) -> Result<Response<Content>, Broken> {
        handle(self, request).await
    }
}

async fn handle(state: &State, request: Request<Incoming>) -> Result<Response<Content>, Broken> {
    // Subscribe first, so that a request that has arrived misses no release.
    let mut release = state.release.subscribe();
    let _in_progress = state.at_once.enter();
    let (head, body) = request.into_parts();
    let choice = if state.rules.requires_token(head.uri.path()) && !state.issuer.accepts(bearer(&head.headers)) {
        Choice::Fixed(Answer::unauthorized())
    } else {
        state.rules.choose(head.uri.path())
    };
    let unread = matches!(&choice, Choice::Fixed(Answer { action: Action::ResetUnread, .. }));
    let body = if unread { Bytes::new() } else { read(body).await? };
    let received = state.record.arrive(head, body);
    let answer = match choice {
        Choice::Fixed(answer) => answer,
        Choice::By(decide) => decide(&received),
    };
    state.record.keep(&received);
    if !answer.delay.is_zero() {
        tokio::time::sleep(answer.delay).await;
    }
    if answer.held {
        // Fails only if the merchant has stopped, and then this task ends as well.
        let _ = release.changed().await;
    }
    act(state, answer.action, &received)
}

async fn read(body: Incoming) -> Result<Bytes, Broken> {
    // A caller that disconnects halfway has sent no request.
    body.collect().await.map(http_body_util::Collected::to_bytes).map_err(|_| Broken::Closed)
}

fn act(state: &State, action: Action, received: &Received) -> Result<Response<Content>, Broken> {
    match action {
        Action::Usual if is_token_endpoint(received.path()) => act(state, state.issuer.issue(received).action, received),
        Action::Usual => act(state, state.shelf.answer(received).unwrap_or_else(Answer::ok).action, received),
        Action::Challenge(token) if received.bearer() == Some(&token) => act(state, Answer::ok().action, received),
        Action::Challenge(_) => act(state, Answer::unauthorized().action, received),
        Action::Reply(reply) => Ok(reply.response()),
        Action::Reset | Action::ResetUnread => Err(Broken::Reset),
        Action::Close => Err(Broken::Closed),
    }
}

/// Counts the requests in progress.
#[derive(Default)]
pub(super) struct AtOnce {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// Counts one request until it is dropped.
struct InProgress<'a>(&'a AtOnce);

impl AtOnce {
    fn enter(&self) -> InProgress<'_> {
        let now = self.now.fetch_add(1, Relaxed) + 1;
        self.most.fetch_max(now, Relaxed);
        InProgress(self)
    }

    pub(super) fn now(&self) -> usize {
        self.now.load(Relaxed)
    }

    pub(super) fn most(&self) -> usize {
        self.most.load(Relaxed)
    }

    pub(super) fn reset(&self) {
        self.most.store(self.now(), Relaxed);
    }
}

impl Drop for InProgress<'_> {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Relaxed);
    }
}
