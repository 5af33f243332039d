//! The live feed: `/v1/events/stream`, as server-sent events.
//!
//! A task of its own reads the feed and hands frames on to the answer, one at a time: it waits for a client that reads
//! slowly, and the listener cuts off one that does not read at all.

use std::fmt::Write as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderName, header};
use axum::response::IntoResponse;
use bytes::Bytes;
use domain::feed::Position;
use domain::message::Interface;
use hyper::body::{Body as HttpBody, Frame};
use store::feed;
use tokio::sync::mpsc;
use tokio::time::Instant;
use wire::answer::ErrorBody;
use wire::event::{Start, StreamQuery, write_cursor};

use super::events::{begin, describe, interface};
use crate::app::App;
use crate::http::caller::Merchant;
use crate::http::error::{ApiError, Exceeded};
use crate::node::Phase;
use crate::outbound::subscribers::{Full, Subscriber};

/// How often the feed is looked at while nobody tells of anything: other nodes write, and others' transactions hold back.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// How long what is told of gathers before it is read.
const GATHER: Duration = Duration::from_millis(20);
/// How many events are read at once.
const PAGE: u32 = 50;
/// After how many milliseconds a client whose connection broke comes again.
const RETRY_MS: u32 = 2_000;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Tells a proxy to hand on what it has.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Follow the feed live.
///
/// Server-sent events: `id` is a cursor, `event` what happened, `data` the event as a page of the feed has it. A client whose
/// connection breaks comes again with the header `Last-Event-ID` and misses nothing. A comment shows every 15 seconds that
/// the feed is there.
#[utoipa::path(
    get,
    path = "/v1/events/stream",
    tag = "events",
    security(("oauth2" = ["orders"])),
    params(StreamQuery, ("Last-Event-ID" = Option<String>, Header, description = "The `id` of the last event received.")),
    responses(
        (status = 200, description = "Events, until either side ends it.", body = String, content_type = "text/event-stream"),
        (status = 400, description = "The query is not understood.", body = ErrorBody),
    )
)]
pub(crate) async fn follow(
    State(app): State<App>,
    caller: Merchant,
    headers: HeaderMap,
    query: Result<Query<StreamQuery>, QueryRejection>,
) -> Result<impl IntoResponse, ApiError> {
    let Query(query) = query.map_err(|_| ApiError::BadQuery("from is beginning or now".to_owned()))?;
    let only = interface(query.interface.as_deref())?;
    let unreadable = || ApiError::BadQuery("Last-Event-ID is the id of an event of this feed".to_owned());
    let at = match headers.get(LAST_EVENT_ID).filter(|id| !id.is_empty()) {
        Some(id) => id.to_str().ok().and_then(wire::event::read_cursor).ok_or_else(unreadable)?,
        None => begin(&app, query.cursor.as_deref(), query.from, Start::Now).await?,
    };
    let subscribers = &app.signals.subscribers;
    let subscriber = subscribers.admit(caller.merchant, &app.settings.events, &app.metrics.followers).map_err(|full| {
        let (exceeded, limit) = match full {
            Full::Node(limit) => (Exceeded::Followers, limit),
            Full::Merchant(limit) => (Exceeded::FollowersOfMerchant, limit),
        };
        ApiError::TooManyRequests { exceeded, limit, retry_after: 1 }
    })?;
    let (frames, handed_on) = mpsc::channel(1);
    let tail = Tail { app, caller, subscriber, only, at, frames };
    tokio::spawn(async move {
        if let Err(Ended::Failed(error)) = tail.run().await {
            tracing::warn!(why = ?error, "a live feed broke off; its client comes again");
        }
    });
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store"), (UNBUFFERED, "no")];
    Ok((headers, Body::new(Frames(handed_on))))
}

/// What was read, on its way into the answer.
struct Frames(mpsc::Receiver<Bytes>);

impl HttpBody for Frames {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// Why a live feed ends.
enum Ended {
    /// The client is gone, must not read on, or the process leaves.
    Over,
    /// It could not be read.
    Failed(ApiError),
}

impl From<store::Failed> for Ended {
    fn from(failed: store::Failed) -> Self {
        Self::Failed(failed.into())
    }
}

/// One live feed.
struct Tail {
    app: App,
    caller: Merchant,
    subscriber: Subscriber,
    only: Option<Interface>,
    /// Up to where it was read.
    at: Position,
    frames: mpsc::Sender<Bytes>,
}

impl Tail {
    async fn run(mut self) -> Result<(), Ended> {
        // The first place is told before the first event, so that a client that comes again has missed nothing.
        self.hand_on(format!("retry: {RETRY_MS}\nid: {}\n\n", write_cursor(self.at))).await?;
        let heartbeat = self.app.settings.events.heartbeat();
        let mut quiet_since = Instant::now();
        loop {
            // Whatever is said from here on wakes, also while the feed is being read.
            let news = self.subscriber.news.clone();
            let mut news = std::pin::pin!(news.notified());
            news.as_mut().enable();
            self.may_go_on().await?;
            let rows = feed::page(self.app.store(self.caller.merchant), self.caller.merchant, self.at, PAGE).await?;
            let mut text = String::new();
            for row in &rows {
                self.at = row.at;
                write(&mut text, row, self.only).map_err(Ended::Failed)?;
            }
            if text.is_empty() && quiet_since.elapsed() >= heartbeat {
                text = format!(": here\nid: {}\n\n", write_cursor(self.at));
            }
            if !text.is_empty() {
                self.hand_on(text).await?;
                quiet_since = Instant::now();
            }
            if rows.len() == PAGE as usize {
                continue;
            }
            tokio::select! {
                () = news => tokio::time::sleep(GATHER).await,
                () = tokio::time::sleep(LOOK_AGAIN.min(heartbeat)) => {}
                () = self.frames.closed() => return Err(Ended::Over),
            }
        }
    }

    /// Whether the process stays and the token still opens the feed.
    async fn may_go_on(&self) -> Result<(), Ended> {
        if self.app.is_in(Phase::Leaving) {
            return Err(Ended::Over);
        }
        self.caller.may_go_on(&self.app).await.map_err(|error| match error {
            ApiError::Unavailable(_) | ApiError::Internal(_) => Ended::Failed(error),
            _ => Ended::Over,
        })
    }

    /// Hands `text` on once the client has taken what came before.
    async fn hand_on(&self, text: String) -> Result<(), Ended> {
        loop {
            tokio::select! {
                place = self.frames.reserve() => {
                    place.map_err(|_| Ended::Over)?.send(text.into());
                    return Ok(());
                }
                () = tokio::time::sleep(LOOK_AGAIN) => self.may_go_on().await?,
            }
        }
    }
}

/// Writes an event as a frame.
fn write(text: &mut String, row: &feed::Event, only: Option<Interface>) -> Result<(), ApiError> {
    let Some(event) = describe(row, only)? else { return Ok(()) };
    let data = serde_json::to_string(&event).map_err(|error| ApiError::Internal(error.to_string()))?;
    let _ = write!(text, "id: {}\nevent: {}\n", write_cursor(row.at), row.event);
    // A body may have been written over several lines; a frame has a field for each.
    for line in data.split(['\n', '\r']) {
        let _ = writeln!(text, "data: {line}");
    }
    text.push('\n');
    Ok(())
}
