//! The errors of pages. Each becomes a page of its own, once the reader's shop and language are known.

use askama::Template;
use axum::http::header::InvalidHeaderValue;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use chrono::{DateTime, DurationRound as _, TimeDelta, Utc};
use store::Failed;

use super::frame::{Frame, Reader};
use super::headers;
use super::language::Choice;
use crate::http::error::ApiError;
use crate::http::request_id::RequestId;

/// The format of dates in headers.
const HTTP_DATE: &str = "%a, %d %b %Y %H:%M:%S GMT";

/// An error of a page.
#[derive(Clone, Debug)]
pub(crate) enum PageError {
    NotFound,
    /// The form was not sent from one of our pages, or cannot be read.
    Foreign,
    /// The shopper's session is over, or was never there.
    SessionOver,
    /// The shopper came by a link to one return, and the page is about the whole order.
    OneReturn,
    /// A link to a return has run out, or never was.
    LinkOver,
    /// A link to a statement of withdrawal has run out, was erased, or never was.
    StatementLinkOver,
    /// A link that the merchant made was used, has run out, or never was.
    ShopLinkOver,
    /// What the page was about is over for good, such as a label that was deleted.
    Gone,
    /// Too many attempts, until this time.
    TooMany(Option<DateTime<Utc>>),
    /// Carries the cause, which is logged and not shown.
    Unavailable(String),
    /// Carries the cause, which is logged and not shown.
    Internal(String),
}

impl PageError {
    pub(crate) const fn status(&self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Foreign => StatusCode::FORBIDDEN,
            Self::SessionOver | Self::OneReturn => StatusCode::UNAUTHORIZED,
            Self::Gone | Self::LinkOver | Self::StatementLinkOver | Self::ShopLinkOver => StatusCode::GONE,
            Self::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The beginning of the keys of its texts.
    const fn key(&self) -> &'static str {
        match self {
            Self::NotFound => "missing",
            Self::Foreign => "foreign",
            Self::SessionOver => "over",
            Self::OneReturn => "one-return",
            Self::LinkOver => "return-link-over",
            Self::StatementLinkOver => "statement-link-over",
            Self::ShopLinkOver => "shop-link-over",
            Self::Gone => "gone",
            Self::TooMany(_) => "busy",
            Self::Unavailable(_) | Self::Internal(_) => "trouble",
        }
    }

    fn log(&self, id: &RequestId, route: &str) {
        if let Self::Unavailable(why) | Self::Internal(why) = self {
            tracing::error!(request_id = id.0, route, why, status = self.status().as_u16(), "showing a page failed");
        }
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<Failed> for PageError {
    fn from(failed: Failed) -> Self {
        match ApiError::from(failed) {
            ApiError::Unavailable(why) => Self::Unavailable(why),
            error => Self::from(error),
        }
    }
}

impl From<InvalidHeaderValue> for PageError {
    fn from(_: InvalidHeaderValue) -> Self {
        Self::Internal("a cookie cannot be written".to_owned())
    }
}

impl From<ApiError> for PageError {
    /// For what happens before a page is asked: limits, bodies, panics.
    fn from(error: ApiError) -> Self {
        match error {
            ApiError::TooManyRequests { .. } => Self::TooMany(None),
            ApiError::NotFound | ApiError::Absent(_) | ApiError::NoSuchRoute | ApiError::MethodNotAllowed => Self::NotFound,
            ApiError::Unavailable(why) => Self::Unavailable(why),
            ApiError::Internal(why) => Self::Internal(why),
            _ => Self::Foreign,
        }
    }
}

#[derive(Template)]
#[template(path = "portal/error.html")]
struct ErrorPage {
    frame: Frame,
    heading: String,
    lede: String,
    /// When to come back.
    until: Option<String>,
    /// The id of the request, for whoever writes to support about it.
    request: Option<String>,
    over: bool,
    trouble: bool,
}

/// Renders the error of an answer, if it has one, and completes the headers of every page.
pub(crate) fn render(mut response: Response, id: &RequestId, route: &str, choice: Choice) -> Response {
    let reader = response.extensions_mut().remove::<Reader>();
    let refused = response.extensions_mut().remove::<ApiError>().map(PageError::from);
    let error = response.extensions_mut().remove::<PageError>().or(refused);
    if let Some(error) = error {
        error.log(id, route);
        let page = page(&error, reader.as_ref(), choice, id).render().unwrap_or_default();
        let cookie = response.headers_mut().remove(header::SET_COOKIE);
        response = (error.status(), Html(page)).into_response();
        // The language may have been chosen on this page.
        if let Some(cookie) = cookie {
            response.headers_mut().insert(header::SET_COOKIE, cookie);
        }
        let later = match error {
            PageError::Unavailable(_) => Some(HeaderValue::from_static("5")),
            PageError::TooMany(Some(until)) => HeaderValue::try_from(whole_minute(until).format(HTTP_DATE).to_string()).ok(),
            _ => None,
        };
        if let Some(later) = later {
            response.headers_mut().insert(header::RETRY_AFTER, later);
        }
    }
    headers::add(response.headers_mut());
    response
}

/// The first whole minute that is not before `until`. Pages show minutes; who comes at the one that is shown must not be too early.
fn whole_minute(until: DateTime<Utc>) -> DateTime<Utc> {
    let minute = until.duration_trunc(TimeDelta::minutes(1)).unwrap_or(until);
    if minute < until { minute + TimeDelta::minutes(1) } else { until }
}

fn page(error: &PageError, reader: Option<&Reader>, choice: Choice, id: &RequestId) -> ErrorPage {
    let key = error.key();
    let anywhere = || Frame::anywhere(choice.language, choice.languages);
    let mut frame = reader.map_or_else(anywhere, |reader| reader.frame(&format!("{key}-title")));
    frame.title = frame.text(&format!("{key}-title"));
    frame.solo = true;
    let until = match (error, reader) {
        (PageError::TooMany(Some(until)), Some(reader)) => {
            Some(reader.language.text_with("busy-until", [("time", reader.words().moment_with_zone(whole_minute(*until)).into())]))
        }
        _ => None,
    };
    let trouble = matches!(error, PageError::Unavailable(_) | PageError::Internal(_));
    let over = matches!(error, PageError::SessionOver) && reader.is_some();
    let (heading, lede) = (frame.text(&format!("{key}-heading")), frame.text(&format!("{key}-lede")));
    ErrorPage { frame, heading, lede, until, request: trouble.then(|| id.0.clone()), over, trouble }
}
