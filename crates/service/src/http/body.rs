//! Bodies, read within limits of size and time.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use bytes::BytesMut;
use http_body_util::BodyExt as _;

use super::error::ApiError;
use crate::app::App;

/// How large a body may be: 5 MiB.
pub(super) const MOST_BYTES: usize = 5 * 1024 * 1024;

/// How much of a larger one is read before the connection is given up.
const MOST_DISCARDED: usize = 4 * MOST_BYTES;

/// The type of a body, as far as it matters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MediaType {
    /// JSON; also when nothing is said.
    Json,
    /// A form.
    Form,
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
            MediaType::Form | MediaType::Other => Err(ApiError::UnsupportedMediaType("application/json")),
        }
    }
}

/// Reads a body within its limits. One that is too large is read on for a while and thrown away: most clients look at the
/// answer only once they have sent everything.
async fn read(request: Request, app: &App) -> Result<Bytes, ApiError> {
    let reading = async {
        let mut body = request.into_body();
        let mut bytes = BytesMut::new();
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
