//! The live feed: `/v1/events/stream`, as server-sent events.
//!
//! A separate task reads the feed and passes frames to the response one at a time. It waits for a client that reads slowly;
//! the listener disconnects one that stops reading.

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
use domain::messages::feed::Cursor;
use domain::messages::message::Interface;
use hyper::body::{Body as HttpBody, Frame};
use store::messages::feed;
use tokio::sync::mpsc;
use tokio::time::Instant;
use wire::answer::ErrorBody;
use wire::messages::event::{FeedRefused, Start, StreamQuery, write_cursor};

use super::events::{begin, describe, interface, read};
use crate::app::App;
use crate::delivery::subscribers::{Full, Subscriber};
use crate::http::caller::Merchant;
use crate::http::error::{ApiError, Exceeded};
use crate::node::Phase;

/// The interval at which the feed is polled without a signal: other nodes write too.
const POLL_EVERY: Duration = Duration::from_millis(500);
/// The delay after a signal, so that events that are written together are read together.
const GATHER: Duration = Duration::from_millis(20);
/// Events read at once.
const PAGE: u32 = 50;
/// The reconnection delay that clients are given.
const RETRY_MS: u32 = 2_000;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Stops nginx from buffering the stream.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Follow the feed live.
///
/// Server-sent events: `id` is a cursor, `event` the kind of event, and `data` the event as in a page of the feed. A client that
/// loses its connection reconnects with the header `Last-Event-ID` and misses nothing. When there is nothing to send, a comment
/// every 15 seconds keeps the connection alive. If the feed cannot be read on, the last event is `feed.refused`, with the status and the
/// message that a page would be answered with.
#[utoipa::path(
    get,
    path = "/v1/events/stream",
    tag = "events",
    security(("oauth2" = ["orders"])),
    params(StreamQuery, ("Last-Event-ID" = Option<String>, Header, description = "The `id` of the last event received.")),
    responses(
        (status = 200, description = "Events, until either side closes the connection.", body = String, content_type = "text/event-stream"),
        (status = 400, description = "The query is invalid.", body = ErrorBody),
        (status = 409, description = "The cursor's event is not in the feed, because the database was restored to an earlier moment.", body = ErrorBody),
        (status = 410, description = "Events after the cursor have been removed, because they are older than 30 days.", body = ErrorBody),
    )
)]
pub(crate) async fn follow(
    State(app): State<App>,
    caller: Merchant,
    headers: HeaderMap,
    query: Result<Query<StreamQuery>, QueryRejection>,
) -> Result<impl IntoResponse, ApiError> {
    let Query(query) = query.map_err(|_| ApiError::BadQuery("from must be beginning or now".to_owned()))?;
    let only = interface(query.interface.as_deref())?;
    let unreadable = || ApiError::BadQuery("Last-Event-ID must be the id of an event of this feed".to_owned());
    let at = match headers.get(LAST_EVENT_ID).filter(|id| !id.is_empty()) {
        Some(id) => id.to_str().ok().and_then(wire::messages::event::read_cursor).ok_or_else(unreadable)?,
        None => begin(&app, caller.merchant, query.cursor.as_deref(), query.from, Start::Now).await?,
    };
    let subscribers = app.subscribers();
    let subscriber = subscribers.admit(caller.merchant, &app.settings.events, &app.metrics.followers).map_err(|full| {
        let (exceeded, limit) = match full {
            Full::Node(limit) => (Exceeded::Followers, limit),
            Full::Merchant(limit) => (Exceeded::FollowersOfMerchant, limit),
        };
        ApiError::TooManyRequests { exceeded, limit, retry_after: 1 }
    })?;
    let merchant = caller.merchant;
    // A cursor that is refused is refused before the stream begins.
    let at = read(&app, merchant, at, 0).await?.after;
    let (frames, sent) = mpsc::channel(1);
    let tail = Tail { app, caller, subscriber, only, at, frames };
    tokio::spawn(async move {
        if let Err(Ended::Failed(error)) = tail.run().await {
            tracing::warn!(%merchant, why = ?error, "a live feed failed; its client will reconnect");
        }
    });
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store"), (UNBUFFERED, "no")];
    Ok((headers, Body::new(Frames(sent))))
}

/// The response body: frames as they are read from the feed.
struct Frames(mpsc::Receiver<Bytes>);

impl HttpBody for Frames {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// The end of a live feed.
enum Ended {
    /// The client disconnected or lost its access, its merchant has moved, or the process is shutting down.
    Over,
    Failed(ApiError),
}

/// One client's live feed.
struct Tail {
    app: App,
    caller: Merchant,
    subscriber: Subscriber,
    only: Option<Interface>,
    /// The place of the last event that was read.
    at: Cursor,
    frames: mpsc::Sender<Bytes>,
}

impl Tail {
    async fn run(mut self) -> Result<(), Ended> {
        // The cursor goes out before the first event, so that a client that reconnects at once misses nothing.
        self.send(format!("retry: {RETRY_MS}\nid: {}\n\n", write_cursor(self.at))).await?;
        let heartbeat = self.app.settings.events.heartbeat();
        let mut quiet_since = Instant::now();
        loop {
            // Register before reading, so that an event written meanwhile is not missed.
            let signal = self.subscriber.news.clone();
            let mut signal = std::pin::pin!(signal.notified());
            signal.as_mut().enable();
            self.check().await?;
            let feed::Page { after, events: rows } = match read(&self.app, self.caller.merchant, self.at, PAGE).await {
                Ok(page) => page,
                Err(refused @ (ApiError::Conflict(_) | ApiError::Gone(_))) => return self.refuse(&refused).await,
                Err(error) => return Err(Ended::Failed(error)),
            };
            self.at = after;
            let mut text = String::new();
            for row in &rows {
                self.at = Cursor::At(row.at);
                write(&mut text, row, self.only).map_err(Ended::Failed)?;
            }
            if text.is_empty() && quiet_since.elapsed() >= heartbeat {
                text = format!(": here\nid: {}\n\n", write_cursor(self.at));
            }
            if !text.is_empty() {
                self.send(text).await?;
                quiet_since = Instant::now();
            }
            if rows.len() == PAGE as usize {
                continue;
            }
            tokio::select! {
                () = signal => tokio::time::sleep(GATHER).await,
                () = tokio::time::sleep(POLL_EVERY.min(heartbeat)) => {}
                () = self.frames.closed() => return Err(Ended::Over),
            }
        }
    }

    /// Tells the client why its feed ends. It has no id, so that a client that reconnects is refused with the same words.
    async fn refuse(&self, refused: &ApiError) -> Result<(), Ended> {
        let refused = FeedRefused { status: refused.status().as_u16(), message: &refused.message() };
        let data = serde_json::to_string(&refused).map_err(|error| Ended::Failed(ApiError::Internal(error.to_string())))?;
        self.send(format!("event: feed.refused\ndata: {data}\n\n")).await
    }

    /// Checks that the process is not shutting down, that the merchant lives here and that the token is still valid.
    async fn check(&self) -> Result<(), Ended> {
        // A client that reconnects is sent to the merchant's new cell, in which its feed continues.
        let has_moved = matches!(self.app.is_cell_of(self.caller.merchant).await, Ok(false));
        if has_moved || self.app.is_in(Phase::Leaving) {
            return Err(Ended::Over);
        }
        self.caller.check(&self.app).await.map_err(|error| match error {
            ApiError::Unavailable(_) | ApiError::Internal(_) => Ended::Failed(error),
            _ => Ended::Over,
        })
    }

    /// Sends `text` once the client has read the frames before it.
    async fn send(&self, text: String) -> Result<(), Ended> {
        loop {
            tokio::select! {
                slot = self.frames.reserve() => {
                    slot.map_err(|_| Ended::Over)?.send(text.into());
                    return Ok(());
                }
                () = tokio::time::sleep(POLL_EVERY) => self.check().await?,
            }
        }
    }
}

/// Appends an event as a frame.
fn write(text: &mut String, row: &feed::Event, only: Option<Interface>) -> Result<(), ApiError> {
    let Some(event) = describe(row, only)? else { return Ok(()) };
    let data = serde_json::to_string(&event).map_err(|error| ApiError::Internal(error.to_string()))?;
    let _ = write!(text, "id: {}\nevent: {}\n", write_cursor(Cursor::At(row.at)), row.event);
    // A stored body may span several lines; each needs a field of its own.
    for line in data.split(['\n', '\r']) {
        let _ = writeln!(text, "data: {line}");
    }
    text.push('\n');
    Ok(())
}
