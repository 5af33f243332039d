//! Request bodies, read within limits of size and time.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use bytes::{Buf as _, BytesMut};
use http_body_util::BodyExt as _;
use tokio::time::{Instant, timeout_at};

use super::error::ApiError;
use super::size::MOST_BYTES;
use crate::app::App;
use crate::flow::orders::import_orders::{Source, SourceError};

/// The most memory that is reserved because of a `Content-Length`, before any byte has arrived.
const MOST_TRUSTED: usize = 256 * 1024;

/// The most that is read and discarded of a larger body before the connection is closed.
pub(super) const MOST_DISCARDED: usize = 4 * MOST_BYTES;

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

/// A body of any type; the route decides which ones it reads.
pub(super) struct AnyBody {
    pub(super) media_type: MediaType,
    pub(super) bytes: Bytes,
}

impl FromRequest<App> for AnyBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let media_type = MediaType::of(request.headers());
        let bytes = read(request, app).await?;
        Ok(Self { media_type, bytes: skip_mark(bytes) })
    }
}

/// A JSON body, not parsed yet.
pub(super) struct JsonBody(pub(super) Bytes);

impl FromRequest<App> for JsonBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        match MediaType::of(request.headers()) {
            MediaType::Json => read(request, app).await.map(skip_mark).map(Self),
            MediaType::Form | MediaType::Lines | MediaType::Other => Err(ApiError::UnsupportedMediaType("application/json")),
        }
    }
}

/// The body without a byte-order mark.
fn skip_mark(mut body: Bytes) -> Bytes {
    if body.starts_with(BYTE_ORDER_MARK) {
        body.advance(BYTE_ORDER_MARK.len());
    }
    body
}

/// Reads a body within its limits. The rest of a body that is too large is read for a while and discarded, because most clients
/// read the answer only after they have sent everything.
async fn read(request: Request, app: &App) -> Result<Bytes, ApiError> {
    let reading = async {
        let mut body = request.into_body();
        let announced = usize::try_from(body.size_hint().lower()).unwrap_or(MOST_BYTES);
        let mut bytes = BytesMut::with_capacity(announced.min(MOST_TRUSTED));
        let mut seen = 0;
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| ApiError::Malformed("the connection broke".to_owned()))?;
            let Ok(data) = frame.into_data() else { continue };
            seen += data.len();
            if seen <= MOST_BYTES {
                bytes.extend_from_slice(&data);
            } else if seen <= MOST_DISCARDED {
                bytes.clear();
            } else {
                break;
            }
        }
        if seen > MOST_BYTES { Err(ApiError::TooLarge) } else { Ok(bytes.freeze()) }
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
