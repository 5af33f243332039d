//! A request to the merchant, from its arrival to the answer.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::{Request, Response};
use tokio::sync::watch;

use super::answer::{Answer, Deed};
use super::content::Content;
use super::received::{Received, bearer};
use super::record::Record;
use super::rules::{Choice, Rules};
use super::tokens::{Issuer, is_endpoint};
use super::variants::Shelf;
use crate::connection::{Broken, Exchange};

/// What the merchant was told, and what it knows.
#[derive(Default)]
pub(super) struct State {
    pub(super) rules: Rules,
    pub(super) record: Record,
    pub(super) issuer: Issuer,
    pub(super) shelf: Shelf,
    /// Changes when what is held may go on.
    pub(super) release: watch::Sender<()>,
    pub(super) accepted: AtomicUsize,
    pub(super) at_once: AtOnce,
}

impl Exchange for State {
    type Body = Content;

    /// A test may hold a connection for as long as it likes.
    const PATIENCE: Option<Duration> = None;

    fn accepted(&self) {
        self.accepted.fetch_add(1, Relaxed);
    }

    async fn exchange(&self, request: Request<Incoming>) -> Result<Response<Content>, Broken> {
        exchange(self, request).await
    }
}

/// One request and what becomes of it.
async fn exchange(state: &State, request: Request<Incoming>) -> Result<Response<Content>, Broken> {
    // A release counts for this request from here on, so that none is missed by one that has arrived.
    let mut release = state.release.subscribe();
    let _at_work = state.at_once.enter();
    let (head, body) = request.into_parts();
    let choice = if state.rules.requires_token(head.uri.path()) && !state.issuer.accepts(bearer(&head.headers)) {
        Choice::Fixed(Answer::unauthorized())
    } else {
        state.rules.choose(head.uri.path())
    };
    let unread = matches!(&choice, Choice::Fixed(Answer { deed: Deed::ResetUnread, .. }));
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
        // It fails only when the merchant is gone, and then so is this.
        let _ = release.changed().await;
    }
    act(state, answer.deed, &received)
}

async fn read(body: Incoming) -> Result<Bytes, Broken> {
    // A caller that breaks off has sent nothing that counts.
    body.collect().await.map(http_body_util::Collected::to_bytes).map_err(|_| Broken::Closed)
}

fn act(state: &State, deed: Deed, received: &Received) -> Result<Response<Content>, Broken> {
    match deed {
        Deed::Usual if is_endpoint(received.path()) => act(state, state.issuer.issue(received).deed, received),
        Deed::Usual => act(state, state.shelf.answer(received).unwrap_or_else(Answer::ok).deed, received),
        Deed::Challenge(token) if received.bearer() == Some(&token) => act(state, Answer::ok().deed, received),
        Deed::Challenge(_) => act(state, Answer::unauthorized().deed, received),
        Deed::Reply(reply) => Ok(reply.response()),
        Deed::Reset | Deed::ResetUnread => Err(Broken::Reset),
        Deed::Close => Err(Broken::Closed),
    }
}

/// How many requests are at work at once.
#[derive(Default)]
pub(super) struct AtOnce {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// One of them, until it is dropped.
struct AtWork<'a>(&'a AtOnce);

impl AtOnce {
    fn enter(&self) -> AtWork<'_> {
        let now = self.now.fetch_add(1, Relaxed) + 1;
        self.most.fetch_max(now, Relaxed);
        AtWork(self)
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

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Relaxed);
    }
}
