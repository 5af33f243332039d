//! Drop-ship orders: `/v1/drop_ship_orders`.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::id::MerchantId;
use store::warehouse::{drop_ship_orders, drop_shipments};
use wire::answer::ErrorBody;
use wire::page::PageQuery;
use wire::warehouse::drop_ship::{
    Content, DropShipOrderIn, DropShipOrderOut, DropShipOrderTaken, DropShipOrders, DropShipOrdersQuery, DropShipOrdersTaken,
};

use crate::app::App;
use crate::flow::warehouse::take_drop_ship_orders::{TakeDropShipOrdersError, take_drop_ship_orders};
use crate::http::body::JsonBody;
use crate::http::caller::{Merchant, MerchantOrWarehouse};
use crate::http::error::ApiError;
use crate::http::page::Page;
use crate::http::path::Named;
use crate::show::warehouse::drop_ship;

/// Create drop-ship orders.
///
/// One order, or up to 100 in `drop_ship_orders`; either all are accepted or none. An order sent again with the same content is
/// answered as `unchanged`.
#[utoipa::path(
    post,
    path = "/v1/drop_ship_orders",
    tag = "drop shipping",
    security(("oauth2" = ["orders"])),
    request_body(content = ref("#/components/schemas/DropShipOrderOrOrders"), content_type = "application/json"),
    responses(
        (status = 201, description = "The orders are accepted, and at least one of them is new.", body = DropShipOrdersTaken),
        (status = 200, description = "All of the orders were known already, with the same content.", body = DropShipOrdersTaken),
        (status = 400, description = "Malformed JSON.", body = ErrorBody),
        (status = 409, description = "An order exists already with other content; nothing was accepted.", body = ErrorBody),
        (status = 422, description = "The request has faults; `errors` lists each with its path, and nothing was accepted.", body = ErrorBody),
    )
)]
pub(crate) async fn give(
    State(app): State<App>,
    caller: Merchant,
    JsonBody(body): JsonBody,
) -> Result<(StatusCode, Json<DropShipOrdersTaken>), ApiError> {
    let sent = wire::warehouse::drop_ship::read(&body)?;
    let given: Vec<Content> = sent.orders.iter().map(DropShipOrderIn::content).collect();
    let taken = take_drop_ship_orders(&app, caller.merchant, &given).await.map_err(|error| match error {
        TakeDropShipOrdersError::ContentDiffers(at) => {
            let fields: Vec<String> = at.iter().map(|at| sent.path(*at).field("client_identifier").to_string()).collect();
            ApiError::Conflict(format!("An order exists already with other content, so nothing was accepted: {}. Send it unchanged, or under a new client_identifier.", fields.join(", ")))
        }
        TakeDropShipOrdersError::Failed(failed) => failed.into(),
    })?;
    let status = if taken.iter().any(|taken| taken.new) { StatusCode::CREATED } else { StatusCode::OK };
    let taken = given.into_iter().zip(taken).map(|(given, taken)| DropShipOrderTaken {
        id: taken.id.to_string(),
        client_identifier: given.client_identifier,
        result: if taken.new { "created" } else { "unchanged" },
    });
    Ok((status, Json(DropShipOrdersTaken { drop_ship_orders: taken.collect() })))
}

/// List drop-ship orders.
///
/// Newest first, optionally by status: `accepted` lists the orders that a warehouse still has to ship.
#[utoipa::path(
    get,
    path = "/v1/drop_ship_orders",
    tag = "drop shipping",
    security(("oauth2" = ["orders"]), ("oauth2" = ["warehouse"])),
    params(DropShipOrdersQuery, PageQuery),
    responses(
        (status = 200, description = "A page of drop-ship orders.", body = DropShipOrders),
        (status = 400, description = "`status`, `cursor` or `limit` is invalid.", body = ErrorBody),
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    caller: MerchantOrWarehouse,
    page: Page,
    query: Result<Query<DropShipOrdersQuery>, QueryRejection>,
) -> Result<Json<DropShipOrders>, ApiError> {
    let Query(query) = query?;
    let bad = |why: &str| ApiError::BadQuery(why.to_owned());
    let status = query.status.as_deref().map(str::parse).transpose();
    let status = status.map_err(|_| bad("status must be accepted, partially_shipped, shipped, cancelled or rejected"))?;
    let (store, limit) = (app.store(caller.merchant), page.limit as usize);
    let found = drop_ship_orders::list(store, caller.merchant, status, page.place()?, limit).await?;
    Ok(Json(DropShipOrders {
        items: found.orders.into_iter().map(drop_ship::listed).collect(),
        next: found.next.map(|next| next.to_string()),
    }))
}

/// Show a drop-ship order.
///
/// The order and its units in their current state, with its shipments.
#[utoipa::path(
    get,
    path = "/v1/drop_ship_orders/{client_identifier}",
    tag = "drop shipping",
    security(("oauth2" = ["orders"]), ("oauth2" = ["warehouse"])),
    params(("client_identifier" = String, Path, description = "The merchant's identifier of the order.")),
    responses(
        (status = 200, description = "The order.", body = DropShipOrderOut),
        (status = 404, description = "The merchant has no such order.", body = ErrorBody),
    )
)]
pub(crate) async fn show(State(app): State<App>, caller: MerchantOrWarehouse, Named(order): Named<String>) -> Result<Response, ApiError> {
    shown(&app, caller.merchant, &order).await
}

/// Answers with the order in its current state.
pub(in crate::http::api) async fn shown(app: &App, merchant: MerchantId, order: &str) -> Result<Response, ApiError> {
    let kept = drop_ship_orders::find(app.store(merchant), merchant, order).await?.ok_or(ApiError::NotFound)?;
    let shipments = drop_shipments::list(app.store(merchant), merchant, kept.id).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], drop_ship::shown(&kept, &shipments)?).into_response())
}
