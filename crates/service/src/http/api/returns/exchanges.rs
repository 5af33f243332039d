//! Exchanges that need a decision: `/v1/exchange_orders` and `/v1/returns/{rma_identifier}/convert_exchange`.

use axum::Json;
use axum::extract::State;
use store::returns::{exchange_orders, rmas};
use wire::answer::ErrorBody;
use wire::returns::api::{ReturnOut, read_conversion};
use wire::returns::exchange_order::read_placed;

use crate::app::App;
use crate::flow::returns::convert_exchange::{ConvertExchangeError, convert_exchange};
use crate::flow::returns::record_exchange::{RecordExchangeError, record_exchange};
use crate::http::api::returns::ACTOR;
use crate::http::api::returns::rmas::RmaIdentifier;
use crate::http::body::{JsonBody, OptionalBody};
use crate::http::caller::Merchant;
use crate::http::error::{ApiError, sentence};
use crate::http::path::Named;
use crate::show::returns::rmas as returns;

/// Name the order placed for an exchange.
///
/// For an exchange order that was placed without an `order_identifier` in the answer, or that was placed although its message is
/// owed or in the failure queue; the message is then discarded. The same request again changes nothing.
#[utoipa::path(
    put,
    path = "/v1/exchange_orders/{original_order_id}",
    tag = "returns",
    security(("oauth2" = ["orders"])),
    params(("original_order_id" = String, Path, description = "The order that is exchanged.")),
    request_body(content = ref("#/components/schemas/PlacedExchangeOrder"), content_type = "application/json"),
    responses(
        (status = 200, description = "The order is recorded.", body = ReturnOut),
        (status = 400, description = "Malformed JSON.", body = ErrorBody),
        (status = 404, description = "The merchant has no such order, or it was not exchanged.", body = ErrorBody),
        (status = 409, description = "Another order is known for the exchange, or the exchange was converted into refunds.", body = ErrorBody),
        (status = 422, description = "The request has faults; `errors` lists each with its path.", body = ErrorBody),
    )
)]
pub(crate) async fn record(
    State(app): State<App>,
    caller: Merchant,
    Named(original): Named<String>,
    JsonBody(body): JsonBody,
) -> Result<Json<ReturnOut>, ApiError> {
    // An unknown order is 404, even if the body is wrong too.
    exchange_orders::find(app.store(caller.merchant), caller.merchant, &original).await?.ok_or(ApiError::NotFound)?;
    let placed = read_placed(&body)?;
    let recorded = record_exchange(&app, ACTOR, caller.merchant, &original, &placed.order_identifier.0).await;
    let rma = recorded.map_err(|error| match error {
        RecordExchangeError::NoExchange(_) => ApiError::NotFound,
        RecordExchangeError::OtherOrder(_) | RecordExchangeError::Converted => ApiError::Conflict(sentence(error)),
        RecordExchangeError::Failed(failed) => failed.into(),
    })?;
    look(&app, &caller, &rma).await
}

/// Convert an exchange into refunds.
///
/// Possible once the message with the exchange order is in the failure queue, which discards it, or if the order was placed and its
/// identifier is unknown. If the order may exist, `confirm` must say that it does not, or that it is cancelled.
#[utoipa::path(
    post,
    path = "/v1/returns/{rma_identifier}/convert_exchange",
    tag = "returns",
    security(("oauth2" = ["orders"])),
    params(("rma_identifier" = String, Path, description = "The RMA identifier.")),
    request_body(content = ref("#/components/schemas/ConvertExchange"), content_type = "application/json"),
    responses(
        (status = 200, description = "The units are refunded instead.", body = ReturnOut),
        (status = 400, description = "Malformed JSON.", body = ErrorBody),
        (status = 404, description = "The merchant has no such return.", body = ErrorBody),
        (status = 409, description = "There is no exchange to convert, its message is still owed, or a confirmation is needed.", body = ErrorBody),
        (status = 422, description = "The request has faults; `errors` lists each with its path.", body = ErrorBody),
    )
)]
pub(crate) async fn convert(
    State(app): State<App>,
    caller: Merchant,
    Named(RmaIdentifier(rma)): Named<RmaIdentifier>,
    OptionalBody(body): OptionalBody,
) -> Result<Json<ReturnOut>, ApiError> {
    let confirmed = read_conversion(&body)?;
    convert_exchange(&app, ACTOR, caller.merchant, &rma, confirmed).await.map_err(|error| match error {
        ConvertExchangeError::NoSuchReturn => ApiError::NotFound,
        ConvertExchangeError::Unconfirmed(_) => {
            let why = sentence(error);
            ApiError::Conflict(format!("{why} If the order does not exist, or is cancelled, send {{\"confirm\": true}}."))
        }
        ConvertExchangeError::NoExchange
        | ConvertExchangeError::Ended(_)
        | ConvertExchangeError::StillOwed
        | ConvertExchangeError::Settled => ApiError::Conflict(sentence(error)),
        ConvertExchangeError::Failed(failed) => failed.into(),
    })?;
    look(&app, &caller, &rma).await
}

async fn look(app: &App, caller: &Merchant, rma: &str) -> Result<Json<ReturnOut>, ApiError> {
    let kept = rmas::find(app.store(caller.merchant), caller.merchant, rma).await?.ok_or(ApiError::NotFound)?;
    Ok(Json(returns::look(app, caller.merchant, &kept).await?))
}
