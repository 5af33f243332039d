//! Bodies, read within limits of size and time.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use super::error::ApiError;
use crate::app::App;

/// How large a body may be: 5 MiB.
pub(super) const MOST_BYTES: usize = 5 * 1024 * 1024;

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

async fn read(request: Request, app: &App) -> Result<Bytes, ApiError> {
    // Who announces too much is told before it is sent.
    let announced = request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > MOST_BYTES) {
        return Err(ApiError::TooLarge);
    }
    let reading = Limited::new(request.into_body(), MOST_BYTES).collect();
    match tokio::time::timeout(app.settings.http.body_timeout(), reading).await {
        Err(_) => Err(ApiError::BodyTooSlow),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(ApiError::TooLarge),
        Ok(Err(_)) => Err(ApiError::Malformed("the connection broke off".to_owned())),
        Ok(Ok(body)) => Ok(body.to_bytes()),
    }
}
