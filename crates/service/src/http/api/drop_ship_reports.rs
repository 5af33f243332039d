//! What a warehouse reports on drop-ship orders, below `/v1/drop_ship_orders/{client_identifier}`.

use axum::extract::State;
use axum::response::Response;
use store::drop_ship_orders as store;
use wire::answer::ErrorBody;
use wire::drop_ship::DropShipOrderOut;

use super::drop_ship_orders::shown;
use crate::app::App;
use crate::flow::cancel_drop_ship_order::{End, Why, cancel_drop_ship_items, end_drop_ship_order};
use crate::flow::ship_drop_ship_order::ship_drop_ship_order;
use crate::flow::tell_drop_ship::DropShipError;
use crate::http::body::JsonBody;
use crate::http::caller::Warehouse;
use crate::http::error::ApiError;
use crate::http::path::Named;

impl From<DropShipError> for ApiError {
    fn from(error: DropShipError) -> Self {
        match error {
            DropShipError::NoSuchOrder => Self::NotFound,
            DropShipError::NameUsed => {
                Self::Conflict("Another report was made under this name for the order; use a new one for every report.".to_owned())
            }
            DropShipError::Faulty(faults) => Self::Faulty(faults),
            DropShipError::Refused(refused) => Self::Conflict(format!("This cannot be: {refused}.")),
            DropShipError::Failed(failed) => failed.into(),
        }
    }
}

/// Answers 404 for an order that does not exist, before the body of a report on it is checked.
async fn must_exist(app: &App, caller: &Warehouse, order: &str) -> Result<(), ApiError> {
    if store::exists(&app.store, caller.merchant, order).await? { Ok(()) } else { Err(ApiError::NotFound) }
}

/// Report a shipment.
///
/// Of all open units or of some; the merchant is sent a Drop Shipment Confirmation. The same report again, by its
/// `shipment_identifier`, changes nothing.
#[utoipa::path(
    post,
    path = "/v1/drop_ship_orders/{client_identifier}/ship",
    tag = "drop shipping",
    security(("oauth2" = ["warehouse"])),
    params(("client_identifier" = String, Path, description = "The merchant's name for the order.")),
    request_body(content = ref("#/components/schemas/DropShipmentReport"), content_type = "application/json"),
    responses(
        (status = 200, description = "The units are shipped, or were before by the same report: the order as it stands.", body = DropShipOrderOut),
        (status = 400, description = "Malformed JSON.", body = ErrorBody),
        (status = 404, description = "The merchant has no such order.", body = ErrorBody),
        (status = 409, description = "The order is shipped, cancelled or rejected, or another shipment has this name.", body = ErrorBody),
        (status = 422, description = "Every fault with its path, such as more units than are open; nothing was done.", body = ErrorBody),
    )
)]
pub(crate) async fn ship(
    State(app): State<App>,
    caller: Warehouse,
    Named(order): Named<String>,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    must_exist(&app, &caller, &order).await?;
    let reported = wire::drop_ship::read_ship(&body)?.content();
    ship_drop_ship_order(&app, caller.merchant, &order, &reported).await?;
    shown(&app, caller.merchant, &order).await
}

/// Cancel a drop-ship order.
///
/// As a whole, as long as nothing was shipped; the merchant is sent a Drop Shipment Cancellation. A cancelled order stays as it
/// is.
#[utoipa::path(
    post,
    path = "/v1/drop_ship_orders/{client_identifier}/cancel",
    tag = "drop shipping",
    security(("oauth2" = ["warehouse"])),
    params(("client_identifier" = String, Path, description = "The merchant's name for the order.")),
    request_body(content = ref("#/components/schemas/DropShipCancelReport"), content_type = "application/json"),
    responses(
        (status = 200, description = "It is cancelled, or was before: the order as it stands.", body = DropShipOrderOut),
        (status = 400, description = "Malformed JSON.", body = ErrorBody),
        (status = 404, description = "The merchant has no such order.", body = ErrorBody),
        (status = 409, description = "Something of it was shipped, or it is rejected.", body = ErrorBody),
        (status = 422, description = "Every fault with its path; nothing was done.", body = ErrorBody),
    )
)]
pub(crate) async fn cancel(
    State(app): State<App>,
    caller: Warehouse,
    Named(order): Named<String>,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    must_exist(&app, &caller, &order).await?;
    let reported = wire::drop_ship::read_cancel(&body)?;
    let why = Why {
        reject_reason: reported.reject_reason.as_ref().map(|reason| &*reason.0),
        comments: reported.comments.as_ref().map(|comments| &*comments.0),
    };
    end_drop_ship_order(&app, caller.merchant, &order, End::Cancelled, why).await?;
    shown(&app, caller.merchant, &order).await
}

/// Reject a drop-ship order.
///
/// As a whole, as long as nothing was shipped or cancelled; the merchant is sent a Drop Shipment Cancellation with the reason. A
/// rejected order stays as it is.
#[utoipa::path(
    post,
    path = "/v1/drop_ship_orders/{client_identifier}/reject",
    tag = "drop shipping",
    security(("oauth2" = ["warehouse"])),
    params(("client_identifier" = String, Path, description = "The merchant's name for the order.")),
    request_body(content = ref("#/components/schemas/DropShipRejectReport"), content_type = "application/json"),
    responses(
        (status = 200, description = "It is rejected, or was before: the order as it stands.", body = DropShipOrderOut),
        (status = 400, description = "Malformed JSON.", body = ErrorBody),
        (status = 404, description = "The merchant has no such order.", body = ErrorBody),
        (status = 409, description = "Something of it was shipped or cancelled.", body = ErrorBody),
        (status = 422, description = "Every fault with its path, such as a reason that is missing; nothing was done.", body = ErrorBody),
    )
)]
pub(crate) async fn reject(
    State(app): State<App>,
    caller: Warehouse,
    Named(order): Named<String>,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    must_exist(&app, &caller, &order).await?;
    let reported = wire::drop_ship::read_reject(&body)?;
    let why = Why { reject_reason: Some(&reported.reject_reason.0), comments: reported.comments.as_ref().map(|comments| &*comments.0) };
    end_drop_ship_order(&app, caller.merchant, &order, End::Rejected, why).await?;
    shown(&app, caller.merchant, &order).await
}

/// Cancel items of a drop-ship order.
///
/// Units that are still open; the merchant is sent a Drop Shipment Partial Cancellation, or a Drop Shipment Cancellation when no
/// unit is left and none was shipped. The same report again, by its `cancellation_identifier`, changes nothing.
#[utoipa::path(
    post,
    path = "/v1/drop_ship_orders/{client_identifier}/cancel_items",
    tag = "drop shipping",
    security(("oauth2" = ["warehouse"])),
    params(("client_identifier" = String, Path, description = "The merchant's name for the order.")),
    request_body(content = ref("#/components/schemas/DropShipCancelItemsReport"), content_type = "application/json"),
    responses(
        (status = 200, description = "The units are cancelled, or were before by the same report: the order as it stands.", body = DropShipOrderOut),
        (status = 400, description = "Malformed JSON.", body = ErrorBody),
        (status = 404, description = "The merchant has no such order.", body = ErrorBody),
        (status = 409, description = "The order is shipped, cancelled or rejected, or another report has this name.", body = ErrorBody),
        (status = 422, description = "Every fault with its path, such as more units than are open; nothing was done.", body = ErrorBody),
    )
)]
pub(crate) async fn cancel_items(
    State(app): State<App>,
    caller: Warehouse,
    Named(order): Named<String>,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    must_exist(&app, &caller, &order).await?;
    let reported = wire::drop_ship::read_cancel_items(&body)?.content();
    cancel_drop_ship_items(&app, caller.merchant, &order, &reported).await?;
    shown(&app, caller.merchant, &order).await
}
