//! The feed: `/v1/events`.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::IntoResponse;
use domain::messages::feed::Position;
use domain::messages::message::{Interface, Kind, written_at};
use serde_json::value::RawValue;
use store::messages::feed;
use wire::answer::ErrorBody;
use wire::messages::event::{EventOut, Events, EventsQuery, Start, read_cursor, write_cursor};
use wire::page::{BadPage, PageQuery};

use crate::app::App;
use crate::http::caller::Merchant;
use crate::http::error::ApiError;
use crate::http::page::Page;

/// Read the feed.
///
/// Every message to the merchant's systems from the last 30 days, delivered or not, in an order that never changes. Follow `next`
/// to read on, and at the end store `cursor` to read on later: each message appears exactly once and none is skipped, however late
/// it is committed.
#[utoipa::path(
    get,
    path = "/v1/events",
    tag = "events",
    security(("oauth2" = ["orders"])),
    params(EventsQuery, PageQuery),
    responses(
        (status = 200, description = "A page of the feed.", body = Events),
        (status = 400, description = "The query is invalid.", body = ErrorBody),
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    caller: Merchant,
    page: Page,
    query: Result<Query<EventsQuery>, QueryRejection>,
) -> Result<impl IntoResponse, ApiError> {
    let Query(query) = query.map_err(|_| ApiError::BadQuery("from must be beginning or now".to_owned()))?;
    let only = interface(query.interface.as_deref())?;
    let after = begin(&app, page.cursor(), query.from, Start::Beginning).await?;
    // Read one more than asked for, to see whether there are more.
    let mut rows = feed::page(app.store(caller.merchant), caller.merchant, after, page.limit + 1).await?;
    let next = page.cut(&mut rows, |last| write_cursor(last.at));
    let cursor = write_cursor(rows.last().map_or(after, |row| row.at));
    let items = rows.iter().filter_map(|row| describe(row, only).transpose()).collect::<Result<_, _>>()?;
    let body = serde_json::to_vec(&Events { items, next, cursor });
    let body = body.map_err(|error| ApiError::Internal(error.to_string()))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], body))
}

/// Parses the name of an interface.
pub(in crate::http::api) fn interface(word: Option<&str>) -> Result<Option<Interface>, ApiError> {
    word.map(str::parse).transpose().map_err(|error: domain::messages::message::NoInterface| ApiError::BadQuery(error.to_string()))
}

/// The position after which to read: that of the cursor, or else of `from`.
pub(in crate::http::api) async fn begin(
    app: &App,
    cursor: Option<&str>,
    from: Option<Start>,
    default: Start,
) -> Result<Position, ApiError> {
    match (cursor, from) {
        (Some(_), Some(_)) => Err(ApiError::BadQuery("cursor and from cannot be combined".to_owned())),
        (Some(cursor), None) => read_cursor(cursor).ok_or_else(|| BadPage::Cursor.into()),
        (None, from) => match from.unwrap_or(default) {
            Start::Beginning => Ok(Position::BEGINNING),
            Start::Now => Ok(feed::end(app.cell()).await?),
        },
    }
}

/// A message as callers see it; `None` if it is internal or belongs to another interface than `only`.
pub(in crate::http::api) fn describe(event: &feed::Event, only: Option<Interface>) -> Result<Option<EventOut<'_>>, ApiError> {
    let interface = match event.kind {
        Kind::Of(interface) if only.is_none_or(|only| only == interface) => interface,
        Kind::Of(_) | Kind::EndpointTest | Kind::Internal(_) => return Ok(None),
    };
    let body: &RawValue = serde_json::from_str(&event.body).map_err(|_| ApiError::Internal("a stored text is not JSON".to_owned()))?;
    Ok(Some(EventOut {
        id: event.at.message.to_string(),
        event: &event.event,
        interface: interface.as_str(),
        subject: &event.subject,
        sequence: event.sequence,
        created_at: wire::time::write(written_at(event.at.message)),
        body,
    }))
}
