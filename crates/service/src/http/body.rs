//! Bodies, read within limits of size and time.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use bytes::BytesMut;
use http_body_util::BodyExt as _;
use tokio::time::{Instant, timeout_at};

use super::error::ApiError;
use crate::app::App;
use crate::flow::import_orders::{BrokenOff, Source};

/// How large a body may be: 5 MiB.
pub(super) const MOST_BYTES: usize = 5 * 1024 * 1024;

/// How much memory is set aside on the mere word of a sender.
const MOST_TRUSTED: usize = 256 * 1024;

/// How much of a larger one is read before the connection is given up.
pub(super) const MOST_DISCARDED: usize = 4 * MOST_BYTES;

/// The type of a body, as far as it matters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MediaType {
    /// JSON; also when nothing is said.
    Json,
    /// A form.
    Form,
    /// JSON, a value a line.
    Lines,
    /// Anything else.
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

/// A body of any type that a route may read.
pub(super) struct AnyBody {
    pub(super) media_type: MediaType,
    pub(super) bytes: Bytes,
}

impl FromRequest<App> for AnyBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let media_type = MediaType::of(request.headers());
        let bytes = read(request, app).await?;
        Ok(Self { media_type, bytes })
    }
}

/// A body of JSON, not parsed yet.
pub(super) struct JsonBody(pub(super) Bytes);

impl FromRequest<App> for JsonBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        match MediaType::of(request.headers()) {
            MediaType::Json => read(request, app).await.map(Self),
            MediaType::Form | MediaType::Lines | MediaType::Other => Err(ApiError::UnsupportedMediaType("application/json")),
        }
    }
}

/// Reads a body within its limits. One that is too large is read on for a while and thrown away: most clients look at the
/// answer only once they have sent everything.
async fn read(request: Request, app: &App) -> Result<Bytes, ApiError> {
    let reading = async {
        let mut body = request.into_body();
        // What the sender announces, as far as it is allowed and plausible before anything has come.
        let announced = usize::try_from(body.size_hint().lower()).unwrap_or(MOST_BYTES);
        let mut bytes = BytesMut::with_capacity(announced.min(MOST_TRUSTED));
        let mut seen = 0;
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| ApiError::Malformed("the connection broke off".to_owned()))?;
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

/// A body of JSON lines, of any size. It is read piece by piece, and each piece has its own deadline.
pub(super) struct LinesBody {
    body: Body,
    timeout: Duration,
    /// Since when the next piece is waited for.
    waiting: Option<Instant>,
    /// Whether the client waits for a sign before it sends.
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
    /// Reads on and throws away, until the end or beyond `most` bytes: most clients look at the answer only once they have
    /// sent everything. One that waits for a sign before it sends is not given it.
    pub(super) async fn discard(&mut self, most: usize) {
        let mut seen: usize = 0;
        while !self.expectant && seen <= most {
            let Ok(Some(piece)) = self.next().await else { break };
            seen = seen.saturating_add(piece.len());
        }
    }
}

impl Source for LinesBody {
    async fn next(&mut self) -> Result<Option<Bytes>, BrokenOff> {
        // The caller may stop waiting and begin again; for the sender it is one wait.
        let deadline = *self.waiting.get_or_insert_with(Instant::now) + self.timeout;
        loop {
            let frame = timeout_at(deadline, self.body.frame()).await.map_err(|_| BrokenOff::TooSlow)?;
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|_| BrokenOff::Gone("the connection broke off".to_owned()))?;
            if let Ok(data) = frame.into_data() {
                self.waiting = None;
                return Ok(Some(data));
            }
        }
    }
}
