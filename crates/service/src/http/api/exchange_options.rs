//! What a line can be exchanged for: `/v1/orders/{identifier}/lines/{line}/exchange_options`.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::{IntoResponse as _, Response};
use wire::answer::ErrorBody;
use wire::variants::{ExchangeOptionsOut, ExchangeOptionsQuery};

use crate::app::App;
use crate::exchanges::{self, OptionsError};
use crate::http::caller::Merchant;
use crate::http::error::ApiError;
use crate::http::path::Named;
use crate::outbound::variants::Failure;

/// Show what a line can be exchanged for.
///
/// The merchant's system is asked live, and has 3 seconds; what it says is relied on for a minute. Only what is in stock at the
/// line's price is offered. The merchant is not asked, and `not_offered` says why, for a line without a `variant_identifier`, a
/// reason that is none for an exchange, an order that was exchanged, or a merchant without an endpoint for variants.
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
        (status = 200, description = "What it can be exchanged for; nothing, where nothing is offered.", body = ExchangeOptionsOut),
        (status = 400, description = "The reason is missing.", body = ErrorBody),
        (status = 404, description = "The merchant has no such order, or the order no such line.", body = ErrorBody),
        (status = 502, description = "The merchant's system cannot be reached or errs; go on with a refund or a gift card.", body = ErrorBody),
        (status = 503, description = "The merchant's system did not answer within 3 seconds, and the shopper goes on with a refund or a gift card; or the service is unavailable.", body = ErrorBody),
    )
)]
pub(crate) async fn show(
    State(app): State<App>,
    caller: Merchant,
    Named((order, line)): Named<(String, String)>,
    query: Result<Query<ExchangeOptionsQuery>, QueryRejection>,
) -> Result<Response, ApiError> {
    let reason = query.map(|Query(query)| query.reason);
    // Whose order it is matters before how the question is put.
    let found = exchanges::find(&app, caller.merchant, &order).await.map_err(refused)?;
    let sold = found.line(&line).map_err(refused)?;
    let reason = reason.map_err(|_| ApiError::BadQuery("reason is required, and there is one".to_owned()))?;
    let options = exchanges::options(&app, caller.merchant, &found, sold, &reason).await.map_err(refused)?;
    Ok(Json(ExchangeOptionsOut::new(&order, &line, options.offered(sold))).into_response())
}

pub(super) fn refused(error: OptionsError) -> ApiError {
    match error {
        OptionsError::NoSuchLine => ApiError::NotFound,
        OptionsError::Unreadable => ApiError::Internal("a stored order cannot be read".to_owned()),
        OptionsError::Merchant(Failure::TimedOut) => ApiError::MerchantTooSlow,
        OptionsError::Merchant(Failure::Erred(_) | Failure::Resting) => ApiError::MerchantErred,
        OptionsError::Failed(failed) => failed.into(),
    }
}
