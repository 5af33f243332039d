//! Exchange options of an order line: `/v1/orders/{identifier}/lines/{line}/exchange_options`.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::{IntoResponse as _, Response};
use wire::answer::ErrorBody;
use wire::returns::variants::{ExchangeOptionsOut, ExchangeOptionsQuery};

use crate::app::App;
use crate::delivery::variants::Failure;
use crate::http::caller::Merchant;
use crate::http::error::ApiError;
use crate::http::path::Named;
use crate::show::returns::exchanges::{self, OptionsError};

/// Show what a line can be exchanged for.
///
/// Asks the merchant's system, which has 3 seconds to answer; the answer is reused for a minute. Only variants
/// at the price of the line are listed, without the one that the shopper has; those sold out have `available: false` and cannot be
/// chosen. The merchant is not asked, and `not_offered` says why, if the line has no
/// `variant_identifier`, the reason does not allow an exchange, the order was exchanged before, or the merchant has no endpoint
/// for variants.
#[utoipa::path(
    get,
    path = "/v1/orders/{identifier}/lines/{line}/exchange_options",
    tag = "returns",
    security(("oauth2" = ["orders"])),
    params(
        ("identifier" = String, Path, description = "The merchant's identifier of the order."),
        ("line" = String, Path, description = "The merchant's identifier of the line."),
        ExchangeOptionsQuery,
    ),
    responses(
        (status = 200, description = "The variants; the list may be empty.", body = ExchangeOptionsOut),
        (status = 400, description = "The reason is missing.", body = ErrorBody),
        (status = 404, description = "The merchant has no such order, or the order no such line.", body = ErrorBody),
        (status = 502, description = "The merchant's system is unreachable or returned an error. Go on with a refund or a gift card.", body = ErrorBody),
        (status = 503, description = "The merchant's system did not answer within 3 seconds: go on with a refund or a gift card. Or the service is unavailable.", body = ErrorBody),
    )
)]
pub(crate) async fn show(
    State(app): State<App>,
    caller: Merchant,
    Named((order, line)): Named<(String, String)>,
    query: Result<Query<ExchangeOptionsQuery>, QueryRejection>,
) -> Result<Response, ApiError> {
    let reason = query.map(|Query(query)| query.reason);
    // An unknown order is 404, even if the query is wrong too.
    let found = exchanges::find(&app, caller.merchant, &order).await.map_err(refused)?;
    let sold = found.line(&line).ok_or(OptionsError::NoSuchLine).map_err(refused)?;
    let reason = reason.map_err(|_| ApiError::BadQuery("reason must be given exactly once".to_owned()))?;
    let options = exchanges::options(&app, caller.merchant, &found, sold, &reason).await.map_err(refused)?;
    Ok(Json(ExchangeOptionsOut::new(&order, &line, options.offered(sold))).into_response())
}

pub(in crate::http::api) fn refused(error: OptionsError) -> ApiError {
    match error {
        OptionsError::NoSuchLine => ApiError::NotFound,
        OptionsError::Merchant(Failure::TimedOut) => ApiError::MerchantTooSlow,
        OptionsError::Merchant(Failure::Failed(_) | Failure::CircuitOpen) => ApiError::MerchantErred,
        OptionsError::Failed(failed) => failed.into(),
    }
}
