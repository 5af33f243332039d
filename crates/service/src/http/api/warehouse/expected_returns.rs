//! Returns that a warehouse waits for: `/v1/expected_returns`.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use domain::returns::rma::Refused;
use store::returns::rmas::{self, Return};
use wire::answer::ErrorBody;
use wire::page::PageQuery;
use wire::warehouse::expected_returns::{ExpectedReturn, ExpectedReturns, ExpectedReturnsQuery};

use crate::app::App;
use crate::flow::returns::receive_return::{CloseReceivingError, close_receiving};
use crate::http::api::returns::rmas::RmaIdentifier;
use crate::http::caller::Warehouse;
use crate::http::error::ApiError;
use crate::http::page::{Page, identifier as spelled};
use crate::http::path::Named;
use crate::show::returns::rmas::identifier;
use crate::show::warehouse::expected_returns as expected;

/// List expected returns.
///
/// Returns of which units have not arrived, with their tracking numbers and lines. Newest first, optionally only the one with this
/// identifier or tracking number. A return whose receiving was closed stays listed: missing units may still come.
#[utoipa::path(
    get,
    path = "/v1/expected_returns",
    tag = "inbound",
    security(("oauth2" = ["warehouse"])),
    params(ExpectedReturnsQuery, PageQuery),
    responses(
        (status = 200, description = "A page of returns.", body = ExpectedReturns),
        (status = 400, description = "A filter, `cursor` or `limit` is invalid.", body = ErrorBody),
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    caller: Warehouse,
    page: Page,
    query: Result<Query<ExpectedReturnsQuery>, QueryRejection>,
) -> Result<Json<ExpectedReturns>, ApiError> {
    let Query(query) = query?;
    for text in [&query.rma_identifier, &query.tracking_number] {
        spelled(text.as_deref())?;
    }
    let before = page.place()?;
    let (found, more) = if query.rma_identifier.is_some() || query.tracking_number.is_some() {
        (find(&app, &caller, &query).await?.into_iter().collect(), false)
    } else {
        rmas::list_expected(app.store(caller.merchant), caller.merchant, before, page.limit as usize).await?
    };
    Ok(Json(ExpectedReturns {
        next: found.last().filter(|_| more).map(|last| last.id.to_string()),
        items: found.iter().map(expected::shown).collect(),
    }))
}

/// The return that the query names, if it is expected.
async fn find(app: &App, caller: &Warehouse, query: &ExpectedReturnsQuery) -> Result<Option<Return>, ApiError> {
    let (store, merchant) = (app.store(caller.merchant), caller.merchant);
    let wanted = query.rma_identifier.as_deref().map(identifier);
    let found = match (&wanted, &query.tracking_number) {
        (_, Some(number)) => rmas::find_by_parcel(store, merchant, number.trim()).await?,
        (Some(wanted), None) => rmas::find(store, merchant, wanted).await?,
        (None, None) => None,
    };
    Ok(found.filter(|kept| expected::is_expected(kept) && wanted.as_ref().is_none_or(|wanted| *wanted == kept.identifier)))
}

/// Close the receiving of a return.
///
/// Nothing more is expected: units that have not arrived are `NOT_RECEIVED`, and the merchant is notified. A unit that arrives later
/// is still received. Repeating the request changes nothing.
#[utoipa::path(
    post,
    path = "/v1/expected_returns/{rma_identifier}/close",
    tag = "inbound",
    security(("oauth2" = ["warehouse"])),
    params(("rma_identifier" = String, Path, description = "The RMA identifier.")),
    responses(
        (status = 200, description = "The receiving of the return is closed.", body = ExpectedReturn),
        (status = 404, description = "The merchant has no such return.", body = ErrorBody),
        (status = 409, description = "The return is cancelled, or was started without managed receiving.", body = ErrorBody),
    )
)]
pub(crate) async fn close(
    State(app): State<App>,
    caller: Warehouse,
    Named(RmaIdentifier(rma)): Named<RmaIdentifier>,
) -> Result<Json<ExpectedReturn>, ApiError> {
    let kept = close_receiving(&app, caller.merchant, &rma).await.map_err(|error| match error {
        CloseReceivingError::NoSuchReturn => ApiError::NotFound,
        CloseReceivingError::Refused(refused) => ApiError::Conflict(why_open(&rma, &refused)),
        CloseReceivingError::Failed(failed) => failed.into(),
    })?;
    Ok(Json(expected::shown(&kept)))
}

fn why_open(rma: &str, refused: &Refused) -> String {
    format!("The receiving of the return {rma} cannot be closed: {refused}. Nothing is expected for it.")
}
