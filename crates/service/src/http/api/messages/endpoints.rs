//! A merchant's endpoints and their health: `/v1/endpoints`.

use axum::Json;
use axum::extract::State;
use wire::messages::message::Endpoints;

use crate::app::App;
use crate::http::caller::Merchant;
use crate::http::error::ApiError;
use crate::show::messages::endpoints;

/// List endpoints.
///
/// Where Backhaul sends messages to your systems, and whether they get through. A count of 10000 means 10000 or more.
#[utoipa::path(
    get,
    path = "/v1/endpoints",
    tag = "messages",
    security(("oauth2" = ["orders"])),
    responses(
        (status = 200, description = "The endpoints.", body = Endpoints),
    )
)]
pub(crate) async fn list(State(app): State<App>, caller: Merchant) -> Result<Json<Endpoints>, ApiError> {
    Ok(Json(Endpoints { endpoints: endpoints::list(&app, caller.merchant).await? }))
}
