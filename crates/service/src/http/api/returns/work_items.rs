//! The work list: `/v1/work_items`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use store::returns::work_items;
use uuid::Uuid;
use wire::answer::ErrorBody;
use wire::page::PageQuery;
use wire::returns::work::WorkItems;

use crate::app::App;
use crate::flow::returns::close_case::{Case, close_case};
use crate::http::api::returns::ACTOR;
use crate::http::caller::Merchant;
use crate::http::error::ApiError;
use crate::http::page::Page;
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
    params(PageQuery),
    responses(
        (status = 200, description = "A page of cases.", body = WorkItems),
        (status = 400, description = "`cursor` or `limit` is invalid.", body = ErrorBody),
    )
)]
pub(crate) async fn list(State(app): State<App>, caller: Merchant, page: Page) -> Result<Json<WorkItems>, ApiError> {
    let mut items = work_items::list(app.store(caller.merchant), caller.merchant, page.place()?, page.most()).await?;
    let next = page.cut(&mut items, |last| last.id.to_string());
    Ok(Json(WorkItems { items: items.into_iter().map(show::shown).collect(), next }))
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
