//! A merchant's endpoints and their health: `/v1/endpoints`.

use axum::Json;
use axum::extract::State;
use domain::messages::message::Interface;
use wire::answer::ErrorBody;
use wire::messages::message::Endpoints;
use wire::page::PageQuery;

use crate::app::App;
use crate::http::caller::Merchant;
use crate::http::error::ApiError;
use crate::http::page::Page;
use crate::show::messages::endpoints;

/// List endpoints.
///
/// Where Backhaul sends messages to your systems, and whether they get through. A count of 10000 means 10000 or more.
#[utoipa::path(
    get,
    path = "/v1/endpoints",
    tag = "messages",
    security(("oauth2" = ["orders"])),
    params(PageQuery),
    responses(
        (status = 200, description = "A page of endpoints.", body = Endpoints),
        (status = 400, description = "`cursor` or `limit` is invalid.", body = ErrorBody),
    )
)]
pub(crate) async fn list(State(app): State<App>, caller: Merchant, page: Page) -> Result<Json<Endpoints>, ApiError> {
    let after: Option<Interface> = page.place()?;
    // A merchant has one endpoint for each interface at most.
    let mut items = endpoints::list(&app, caller.merchant).await?;
    items.retain(|endpoint| after.is_none_or(|after| endpoint.interface.as_str() > after.as_str()));
    let next = page.cut(&mut items, |last| last.interface.clone());
    Ok(Json(Endpoints { items, next }))
}
