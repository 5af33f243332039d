//! The work list: `/v1/work_items`.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use store::returns::work_items;
use uuid::Uuid;
use wire::answer::ErrorBody;
use wire::returns::work::{MOST_ITEMS, WorkItems, WorkItemsQuery};

use crate::app::App;
use crate::flow::returns::close_case::{Case, close_case};
use crate::http::api::returns::ACTOR;
use crate::http::caller::Merchant;
use crate::http::error::ApiError;
use crate::http::path::Named;
use crate::show::returns::work_items as show;

/// List the open cases.
///
/// Cases of returns and exchanges that a person must decide or mend, newest first. Most close by themselves when the matter is
/// settled.
#[utoipa::path(
    get,
    path = "/v1/work_items",
    tag = "returns",
    security(("oauth2" = ["orders"])),
    params(WorkItemsQuery),
    responses(
        (status = 200, description = "A page of cases.", body = WorkItems),
        (status = 400, description = "`before` or `limit` is invalid.", body = ErrorBody),
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    caller: Merchant,
    query: Result<Query<WorkItemsQuery>, QueryRejection>,
) -> Result<Json<WorkItems>, ApiError> {
    let bad = || ApiError::BadQuery(format!("limit must be between 1 and {MOST_ITEMS}"));
    let Query(query) = query.map_err(|_| bad())?;
    if !(1..=MOST_ITEMS).contains(&query.limit) {
        return Err(bad());
    }
    let before = query.before.map(|before| before.parse()).transpose();
    let before: Option<Uuid> = before.map_err(|_| ApiError::BadQuery("before must be the next_before of another page".to_owned()))?;
    // One more than asked for tells if there are more.
    let most = i64::from(query.limit);
    let mut items = work_items::list(app.store(caller.merchant), caller.merchant, before, most + 1).await?;
    let has_more = items.len() > query.limit as usize;
    items.truncate(query.limit as usize);
    let next_before = items.last().filter(|_| has_more).map(|last| last.id.to_string());
    Ok(Json(WorkItems { work_items: items.into_iter().map(show::shown).collect(), has_more, next_before }))
}

/// Close a case.
///
/// Takes it off the list; nothing else changes.
#[utoipa::path(
    post,
    path = "/v1/work_items/{work_item_id}/close",
    tag = "returns",
    security(("oauth2" = ["orders"])),
    params(("work_item_id" = String, Path, description = "The id of the case.")),
    responses(
        (status = 204, description = "The case is closed."),
        (status = 404, description = "The merchant has no such open case.", body = ErrorBody),
    )
)]
pub(crate) async fn close(State(app): State<App>, caller: Merchant, Named(id): Named<Uuid>) -> Result<StatusCode, ApiError> {
    let closed = close_case(&app, ACTOR, caller.merchant, Case::Id(id)).await?;
    if closed { Ok(StatusCode::NO_CONTENT) } else { Err(ApiError::NotFound) }
}
