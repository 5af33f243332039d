//! The feed: `/v1/events`.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::IntoResponse;
use domain::id::MerchantId;
use domain::messages::feed::{Cursor, Refused};
use domain::messages::message::{Interface, Kind, written_at};
use serde_json::value::RawValue;
use store::messages::feed::{self, Reading};
use wire::answer::ErrorBody;
use wire::messages::event::{EventOut, Events, EventsQuery, Start, read_cursor, write_cursor};
use wire::page::{BadPage, PageQuery};

use crate::app::App;
use crate::http::caller::Merchant;
use crate::http::error::ApiError;
use crate::http::page::Page;

/// Read the feed.
///
/// Every message to the merchant's systems from the last 30 days, delivered or not, numbered 1, 2, 3 … without a gap in the order in
/// which they were committed. Follow `next` to read on, and at the end store `cursor` to read on later: each message appears exactly
/// once and none is skipped. A cursor that cannot be read on from is refused, with what to do next.
#[utoipa::path(
    get,
    path = "/v1/events",
    tag = "events",
    security(("oauth2" = ["orders"])),
    params(EventsQuery, PageQuery),
    responses(
        (status = 200, description = "A page of the feed.", body = Events),
        (status = 400, description = "The query is invalid.", body = ErrorBody),
        (status = 409, description = "The cursor's event is not in the feed, because the database was restored to an earlier moment.", body = ErrorBody),
        (status = 410, description = "Events after the cursor have been removed, because they are older than 30 days.", body = ErrorBody),
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
    let after = begin(&app, caller.merchant, page.cursor(), query.from, Start::Beginning).await?;
    // Read one more than asked for, to see whether there are more.
    let feed::Page { after, events: mut rows } = read(&app, caller.merchant, after, page.limit + 1).await?;
    let next = page.cut(&mut rows, |last| write_cursor(Cursor::At(last.at)));
    let cursor = write_cursor(rows.last().map_or(after, |row| Cursor::At(row.at)));
    let items = rows.iter().filter_map(|row| describe(row, only).transpose()).collect::<Result<_, _>>()?;
    let body = serde_json::to_vec(&Events { items, next, cursor });
    let body = body.map_err(|error| ApiError::Internal(error.to_string()))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], body))
}

/// Parses the name of an interface.
pub(in crate::http::api) fn interface(word: Option<&str>) -> Result<Option<Interface>, ApiError> {
    word.map(str::parse).transpose().map_err(|error: domain::messages::message::NoInterface| ApiError::BadQuery(error.to_string()))
}

/// The place after which to read: that of the cursor, or else of `from`.
pub(in crate::http::api) async fn begin(
    app: &App,
    merchant: MerchantId,
    cursor: Option<&str>,
    from: Option<Start>,
    default: Start,
) -> Result<Cursor, ApiError> {
    match (cursor, from) {
        (Some(_), Some(_)) => Err(ApiError::BadQuery("cursor and from cannot be combined".to_owned())),
        (Some(cursor), None) => read_cursor(cursor).ok_or_else(|| BadPage::Cursor.into()),
        (None, from) => match from.unwrap_or(default) {
            Start::Beginning => Ok(Cursor::At(feed::beginning(app.store(merchant), merchant).await?)),
            Start::Now => Ok(feed::end(app.store(merchant), merchant).await?),
        },
    }
}

/// Up to `most` events after `after`.
pub(in crate::http::api) async fn read(app: &App, merchant: MerchantId, after: Cursor, most: u32) -> Result<feed::Page, ApiError> {
    match feed::page(app.store(merchant), merchant, after, most).await? {
        Reading::Page(page) => Ok(page),
        Reading::Refused(refused) => Err(refusal(refused)),
    }
}

/// The answer to a reader who cannot read on from its cursor.
fn refusal(refused: Refused) -> ApiError {
    match refused {
        Refused::Restored => ApiError::Conflict(
            "The cursor names an event that this feed does not have: our database was restored to an earlier moment. Read again with from=beginning, and skip the events whose ids you have processed.".to_owned(),
        ),
        Refused::Reordered => ApiError::Conflict(
            "The cursor is of an earlier version of this service, and the events around it are in another order now. Read again with from=beginning, and skip the events whose ids you have processed.".to_owned(),
        ),
        Refused::Removed => ApiError::Gone(
            "Events after this cursor have been removed, because they are older than 30 days. Read on with from=beginning, which is the oldest event that is kept, and look up what you have missed, for example with GET /v1/returns.",
        ),
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
        position: event.at.number,
        event: &event.event,
        interface: interface.as_str(),
        subject: &event.subject,
        sequence: event.sequence,
        created_at: wire::time::write(written_at(event.at.message)),
        body,
    }))
}
