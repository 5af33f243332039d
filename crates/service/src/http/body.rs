//! Request bodies, read within limits of size and time.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use bytes::{Buf as _, BytesMut};
use http_body_util::BodyExt as _;
use tokio::time::{Instant, timeout_at};

use super::error::{ApiError, Exceeded};
use super::rate;
use super::size::MOST_BYTES;
use crate::app::App;
use crate::flow::orders::import_orders::{Source, SourceError};
use crate::node::shares::{Full, Most, Party, Share};

/// The most memory that is reserved because of a `Content-Length`, before any byte has arrived.
const MOST_TRUSTED: usize = 64 * 1024;

/// The memory that every body counts at least, because its request takes some too.
const LEAST_COUNTED: usize = 16 * 1024;

/// The most that is read and discarded of a larger body before the connection is closed, as a multiple of the limit.
const TIMES_DISCARDED: usize = 4;
pub(super) const MOST_DISCARDED: usize = TIMES_DISCARDED * MOST_BYTES;

/// The type of a body, as far as routes distinguish it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MediaType {
    /// Also assumed without a `Content-Type`.
    Json,
    Form,
    /// JSON lines.
    Lines,
    Other,
}

impl MediaType {
    fn of(headers: &HeaderMap) -> Self {
        let Some(named) = headers.get(header::CONTENT_TYPE) else { return Self::Json };
        let essence = named.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match essence.as_str() {
            "application/json" => Self::Json,
            "application/x-www-form-urlencoded" => Self::Form,
            "application/x-ndjson" | "application/jsonl" => Self::Lines,
            json if json.starts_with("application/") && json.ends_with("+json") => Self::Json,
            _ => Self::Other,
        }
    }
}

/// The byte-order mark that some programs put before a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A body of any type; the route decides which ones it reads, and of which size.
pub(super) struct AnyBody<const MOST: usize> {
    pub(super) media_type: MediaType,
    pub(super) bytes: Bytes,
}

impl<const MOST: usize> FromRequest<App> for AnyBody<MOST> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let media_type = MediaType::of(request.headers());
        let bytes = read(request, app, MOST).await?;
        Ok(Self { media_type, bytes: skip_mark(bytes) })
    }
}

/// A JSON body, not parsed yet.
pub(super) struct JsonBody<const MOST: usize = MOST_BYTES>(pub(super) Bytes);

impl<const MOST: usize> FromRequest<App> for JsonBody<MOST> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        match MediaType::of(request.headers()) {
            MediaType::Json => read(request, app, MOST).await.map(skip_mark).map(Self),
            MediaType::Form | MediaType::Lines | MediaType::Other => Err(ApiError::UnsupportedMediaType("application/json")),
        }
    }
}

/// A JSON body that may be left out, because everything in it is optional.
pub(super) struct OptionalBody(pub(super) Bytes);

impl FromRequest<App> for OptionalBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        // Some clients name a type for a body that they do not send.
        if request.body().is_end_stream() {
            return Ok(Self(Bytes::from_static(b"{}")));
        }
        let JsonBody(body) = JsonBody::<MOST_BYTES>::from_request(request, app).await?;
        Ok(Self(if body.is_empty() { Bytes::from_static(b"{}") } else { body }))
    }
}

/// The body without a byte-order mark.
fn skip_mark(mut body: Bytes) -> Bytes {
    if body.starts_with(BYTE_ORDER_MARK) {
        body.advance(BYTE_ORDER_MARK.len());
    }
    body
}

/// A body in memory, with the share of the memory for bodies that it takes as long as it is there.
struct Counted {
    bytes: BytesMut,
    share: Share,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Counted {
    /// Reserves memory for a body of this length, and counts it for the party that sends it.
    fn new(app: &App, party: Party, announced: usize) -> Result<Self, ApiError> {
        let reserved = announced.clamp(LEAST_COUNTED, MOST_TRUSTED);
        let share = app.bodies.take(party, reserved as u64, most(app)).map_err(|full| no_memory(app, full))?;
        Ok(Self { bytes: BytesMut::with_capacity(announced.min(reserved)), share })
    }

    /// Adds a part of the body. The memory doubles when it does not suffice, and counts before it is taken.
    fn extend(&mut self, app: &App, data: &[u8]) -> Result<(), ApiError> {
        let (needed, counted) = ((self.bytes.len() + data.len()) as u64, self.share.amount());
        if needed > counted {
            let doubled = (2 * counted).clamp(needed, needed.max(MOST_BYTES as u64));
            self.share.grow(doubled - counted, most(app)).map_err(|full| no_memory(app, full))?;
        }
        self.bytes.extend_from_slice(data);
        Ok(())
    }
}

fn most(app: &App) -> Most {
    Most::quartered(app.settings.http.body_memory())
}

fn no_memory(app: &App, full: Full) -> ApiError {
    let mebibytes = |bytes: u64| bytes / (1024 * 1024);
    let full = match full {
        Full::InAll(bytes) => Full::InAll(mebibytes(bytes)),
        Full::ForOne(bytes) => Full::ForOne(mebibytes(bytes)),
    };
    rate::full(app, [Exceeded::BodyMemory, Exceeded::BodyMemoryOfCaller], full, 1)
}

/// Reads a body of at most `limit` bytes. The rest of a body that is too large, or for which there is no memory, is read for a
/// while and discarded, because most clients read the answer only after they have sent everything.
pub(super) async fn read(request: Request, app: &App, limit: usize) -> Result<Bytes, ApiError> {
    let party = request.extensions().get::<Party>().copied();
    let party = party.ok_or_else(|| ApiError::Internal("a request of nobody".to_owned()))?;
    let reading = async {
        let mut body = request.into_body();
        let announced = usize::try_from(body.size_hint().lower()).unwrap_or(limit);
        let mut read = Counted::new(app, party, announced);
        let mut seen = 0;
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| ApiError::Malformed("the connection broke".to_owned()))?;
            let Ok(data) = frame.into_data() else { continue };
            seen += data.len();
            read = read.and_then(|mut read| {
                if seen > limit {
                    return Err(ApiError::TooLarge(limit));
                }
                read.extend(app, &data)?;
                Ok(read)
            });
            if seen > TIMES_DISCARDED * limit {
                break;
            }
        }
        read.map(Bytes::from_owner)
    };
    tokio::time::timeout(app.settings.http.body_timeout(), reading).await.unwrap_or(Err(ApiError::BodyTooSlow))
}

/// A body of JSON lines, of any size. It is read in pieces, and each piece has its own deadline.
pub(super) struct LinesBody {
    body: Body,
    timeout: Duration,
    /// The time at which the wait for the next piece began.
    waiting: Option<Instant>,
    /// The client waits for `100 Continue` before it sends.
    expectant: bool,
}

impl FromRequest<App> for LinesBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let media_type = MediaType::of(request.headers());
        let expectant = request.headers().contains_key(header::EXPECT);
        let mut lines = Self { body: request.into_body(), timeout: app.settings.http.body_timeout(), waiting: None, expectant };
        match media_type {
            MediaType::Lines => Ok(lines),
            MediaType::Json | MediaType::Form | MediaType::Other => {
                lines.discard(MOST_DISCARDED).await;
                Err(ApiError::UnsupportedMediaType("application/x-ndjson"))
            }
        }
    }
}

impl LinesBody {
    /// Reads and discards the rest, up to about `most` bytes, because most clients read the answer only after they have sent
    /// everything. A client that waits for `100 Continue` does not get it.
    pub(super) async fn discard(&mut self, most: usize) {
        let mut seen: usize = 0;
        while !self.expectant && seen <= most {
            let Ok(Some(piece)) = self.next().await else { break };
            seen = seen.saturating_add(piece.len());
        }
    }
}

impl Source for LinesBody {
    async fn next(&mut self) -> Result<Option<Bytes>, SourceError> {
        // The caller may cancel this future and call again; the deadline of the piece stays the same.
        let deadline = *self.waiting.get_or_insert_with(Instant::now) + self.timeout;
        loop {
            let frame = timeout_at(deadline, self.body.frame()).await.map_err(|_| SourceError::TooSlow)?;
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|_| SourceError::Gone("the connection broke".to_owned()))?;
            if let Ok(data) = frame.into_data() {
                self.waiting = None;
                return Ok(Some(data));
            }
        }
    }
}
