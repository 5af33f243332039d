//! A warehouse's reports on drop-ship orders, under `/v1/drop_ship_orders/{client_identifier}`.

use axum::extract::State;
use axum::response::Response;
use store::warehouse::drop_ship_orders as store;
use wire::answer::ErrorBody;
use wire::warehouse::drop_ship::DropShipOrderOut;

use super::drop_ship_orders::shown;
use crate::app::App;
use crate::flow::warehouse::cancel_drop_ship_order::{Explanation, OrderEnd, cancel_drop_ship_items, end_drop_ship_order};
use crate::flow::warehouse::save_drop_ship_order::DropShipError;
use crate::flow::warehouse::ship_drop_ship_order::ship_drop_ship_order;
use crate::http::body::{JsonBody, OptionalBody};
use crate::http::caller::Warehouse;
use crate::http::error::ApiError;
use crate::http::path::Named;

impl From<DropShipError> for ApiError {
    fn from(error: DropShipError) -> Self {
        match error {
            DropShipError::NoSuchOrder => Self::NotFound,
            DropShipError::IdentifierUsed => {
                Self::Conflict("Another report on this order used the same identifier. Use a new identifier for every report.".to_owned())
            }
            DropShipError::Faulty(faults) => Self::Faulty(faults),
            DropShipError::Refused(refused) => Self::Conflict(format!("The report was not applied: {refused}.")),
            DropShipError::Failed(failed) => failed.into(),
        }
    }
}

/// Answers 404 for an order that does not exist, before the body of a report on it is checked.
async fn must_exist(app: &App, caller: &Warehouse, order: &str) -> Result<(), ApiError> {
    if store::exists(app.store(caller.merchant), caller.merchant, order).await? { Ok(()) } else { Err(ApiError::NotFound) }
}

/// Report a shipment.
///
/// Ships all open units or some of them, and sends the merchant a Drop Shipment Confirmation. Repeating the report with the
/// same `shipment_identifier` changes nothing.
#[utoipa::path(
    post,
    path = "/v1/drop_ship_orders/{client_identifier}/ship",
    tag = "drop shipping",
    security(("oauth2" = ["warehouse"])),
    params(("client_identifier" = String, Path, description = "The merchant's identifier of the order.")),
    request_body(content = ref("#/components/schemas/DropShipmentReport"), content_type = "application/json"),
    responses(
        (status = 200, description = "The units are shipped, by this report or by an earlier copy of it. The order in its current state.", body = DropShipOrderOut),
        (status = 400, description = "Malformed JSON.", body = ErrorBody),
        (status = 404, description = "The merchant has no such order.", body = ErrorBody),
        (status = 409, description = "The order is already shipped, cancelled or rejected, or another shipment has this `shipment_identifier`.", body = ErrorBody),
        (status = 422, description = "The report has faults, such as more units than are open; `errors` lists each with its path, and nothing was done.", body = ErrorBody),
    )
)]
pub(crate) async fn ship(
    State(app): State<App>,
    caller: Warehouse,
    Named(order): Named<String>,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    must_exist(&app, &caller, &order).await?;
    let reported = wire::warehouse::drop_ship::read_ship(&body)?.content();
    ship_drop_ship_order(&app, caller.merchant, &order, &reported).await?;
    shown(&app, caller.merchant, &order).await
}

/// Cancel a drop-ship order.
///
/// Cancels the whole order if none of its units was shipped, and sends the merchant a Drop Shipment Cancellation. Cancelling a
/// cancelled order again changes nothing.
#[utoipa::path(
    post,
    path = "/v1/drop_ship_orders/{client_identifier}/cancel",
    tag = "drop shipping",
    security(("oauth2" = ["warehouse"])),
    params(("client_identifier" = String, Path, description = "The merchant's identifier of the order.")),
    request_body(content = ref("#/components/schemas/DropShipCancelReport"), content_type = "application/json"),
    responses(
        (status = 200, description = "The order is cancelled, now or before. The order in its current state.", body = DropShipOrderOut),
        (status = 400, description = "Malformed JSON.", body = ErrorBody),
        (status = 404, description = "The merchant has no such order.", body = ErrorBody),
        (status = 409, description = "Units of the order were shipped, or the order is rejected.", body = ErrorBody),
        (status = 422, description = "The report has faults; `errors` lists each with its path, and nothing was done.", body = ErrorBody),
    )
)]
pub(crate) async fn cancel(
    State(app): State<App>,
    caller: Warehouse,
    Named(order): Named<String>,
    OptionalBody(body): OptionalBody,
) -> Result<Response, ApiError> {
    must_exist(&app, &caller, &order).await?;
    let reported = wire::warehouse::drop_ship::read_cancel(&body)?;
    let why = Explanation {
        reject_reason: reported.reject_reason.as_ref().map(|reason| &*reason.0),
        comments: reported.comments.as_ref().map(|comments| &*comments.0),
    };
    end_drop_ship_order(&app, caller.merchant, &order, OrderEnd::Cancelled, why).await?;
    shown(&app, caller.merchant, &order).await
}

/// Reject a drop-ship order.
///
/// Rejects the whole order if none of its units was shipped or cancelled, and sends the merchant a Drop Shipment Cancellation
/// with the reason. Rejecting a rejected order again changes nothing.
#[utoipa::path(
    post,
    path = "/v1/drop_ship_orders/{client_identifier}/reject",
    tag = "drop shipping",
    security(("oauth2" = ["warehouse"])),
    params(("client_identifier" = String, Path, description = "The merchant's identifier of the order.")),
    request_body(content = ref("#/components/schemas/DropShipRejectReport"), content_type = "application/json"),
    responses(
        (status = 200, description = "The order is rejected, now or before. The order in its current state.", body = DropShipOrderOut),
        (status = 400, description = "Malformed JSON.", body = ErrorBody),
        (status = 404, description = "The merchant has no such order.", body = ErrorBody),
        (status = 409, description = "Units of the order were shipped or cancelled.", body = ErrorBody),
        (status = 422, description = "The report has faults, such as a missing reason; `errors` lists each with its path, and nothing was done.", body = ErrorBody),
    )
)]
pub(crate) async fn reject(
    State(app): State<App>,
    caller: Warehouse,
    Named(order): Named<String>,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    must_exist(&app, &caller, &order).await?;
    let reported = wire::warehouse::drop_ship::read_reject(&body)?;
    let why =
        Explanation { reject_reason: Some(&reported.reject_reason.0), comments: reported.comments.as_ref().map(|comments| &*comments.0) };
    end_drop_ship_order(&app, caller.merchant, &order, OrderEnd::Rejected, why).await?;
    shown(&app, caller.merchant, &order).await
}

/// Cancel items of a drop-ship order.
///
/// Cancels open units and sends the merchant a Drop Shipment Partial Cancellation, or a Drop Shipment Cancellation if no unit
/// is left and none was shipped. Repeating the report with the same `cancellation_identifier` changes nothing.
#[utoipa::path(
    post,
    path = "/v1/drop_ship_orders/{client_identifier}/cancel_items",
    tag = "drop shipping",
    security(("oauth2" = ["warehouse"])),
    params(("client_identifier" = String, Path, description = "The merchant's identifier of the order.")),
    request_body(content = ref("#/components/schemas/DropShipCancelItemsReport"), content_type = "application/json"),
    responses(
        (status = 200, description = "The units are cancelled, by this report or by an earlier copy of it. The order in its current state.", body = DropShipOrderOut),
        (status = 400, description = "Malformed JSON.", body = ErrorBody),
        (status = 404, description = "The merchant has no such order.", body = ErrorBody),
        (status = 409, description = "The order is already shipped, cancelled or rejected, or another report has this `cancellation_identifier`.", body = ErrorBody),
        (status = 422, description = "The report has faults, such as more units than are open; `errors` lists each with its path, and nothing was done.", body = ErrorBody),
    )
)]
pub(crate) async fn cancel_items(
    State(app): State<App>,
    caller: Warehouse,
    Named(order): Named<String>,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    must_exist(&app, &caller, &order).await?;
    let reported = wire::warehouse::drop_ship::read_cancel_items(&body)?.content();
    cancel_drop_ship_items(&app, caller.merchant, &order, &reported).await?;
    shown(&app, caller.merchant, &order).await
}
