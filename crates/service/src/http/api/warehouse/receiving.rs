//! Receiving: `/v1/receipts` and `/v1/receiving_exceptions`.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use store::warehouse::receiving_exceptions;
use wire::answer::ErrorBody;
use wire::warehouse::inbound::{InboundAsnOut, MOST_LISTED};
use wire::warehouse::receiving::{Exceptions, ExceptionsQuery, ReceiptsTaken, ReceivedUnitIn, UnitTaken, explain, unknown_warehouses};

use super::inbound_asns::{AsnNumber, page, refused, shown};
use crate::app::App;
use crate::flow::warehouse::close_asn::close_asn;
use crate::flow::warehouse::receive_units::{ReceiveUnitsError, UnitOutcome, receive_units};
use crate::http::body::JsonBody;
use crate::http::caller::{MerchantOrWarehouse, Warehouse};
use crate::http::error::ApiError;
use crate::http::path::Named;
use crate::show::warehouse::inbound;

/// Receive units.
///
/// Each unit is received once, by its license plate: a repeat is answered with `already_received`, and the merchant is not
/// notified again. A unit that was not announced is listed as an exception; it is never refused.
#[utoipa::path(
    post,
    path = "/v1/receipts",
    tag = "inbound",
    security(("oauth2" = ["warehouse"])),
    request_body(content = ref("#/components/schemas/Receipts"), content_type = "application/json"),
    responses(
        (status = 200, description = "The result for each unit.", body = ReceiptsTaken),
        (status = 400, description = "Malformed JSON.", body = ErrorBody),
        (status = 422, description = "The request has faults, such as an unknown warehouse; `errors` lists each with its path, and nothing was received.", body = ErrorBody),
    )
)]
pub(crate) async fn receive(State(app): State<App>, caller: Warehouse, JsonBody(body): JsonBody) -> Result<Json<ReceiptsTaken>, ApiError> {
    let message = wire::warehouse::receiving::read(&body)?;
    let units = &message.units.0;
    let taken = receive_units(&app, caller.merchant, units).await.map_err(|error| match error {
        ReceiveUnitsError::UnknownWarehouse(units) => ApiError::Faulty(unknown_warehouses(&units)),
        ReceiveUnitsError::Failed(failed) => failed.into(),
    })?;
    Ok(Json(ReceiptsTaken { units: units.iter().zip(taken).map(answer).collect() }))
}

fn answer((unit, taken): (&ReceivedUnitIn<'_>, UnitOutcome)) -> UnitTaken {
    let (result, asn_number, line_identifier, exception) = match taken {
        UnitOutcome::Received(line) => ("received", None, Some(line), None),
        UnitOutcome::AlreadyReceived(asn_number, line) => ("already_received", Some(asn_number), Some(line), None),
        UnitOutcome::Exception(exception) => ("exception", None, None, Some(exception)),
    };
    UnitTaken {
        unit_identifier: unit.unit_identifier.0.to_string(),
        result,
        asn_number: asn_number.unwrap_or_else(|| unit.asn_number.0.to_string()),
        line_identifier,
        exception: exception.map(domain::warehouse::inbound::Exception::as_str),
        message: exception.map(explain),
    }
}

/// Close an ASN.
///
/// Nothing more is expected: missing units are listed as exceptions, and the returns they belong to stop waiting for them. A unit
/// that arrives later is still received.
#[utoipa::path(
    post,
    path = "/v1/inbound_asns/{asn_number}/close",
    tag = "inbound",
    security(("oauth2" = ["warehouse"])),
    params(("asn_number" = String, Path, description = "The merchant's number for the ASN.")),
    responses(
        (status = 200, description = "The ASN is closed.", body = InboundAsnOut),
        (status = 404, description = "The merchant has no such ASN.", body = ErrorBody),
        (status = 409, description = "The ASN is cancelled.", body = ErrorBody),
    )
)]
pub(crate) async fn close(
    State(app): State<App>,
    caller: Warehouse,
    Named(AsnNumber(number)): Named<AsnNumber>,
) -> Result<Json<InboundAsnOut>, ApiError> {
    close_asn(&app, caller.merchant, &number).await.map_err(refused)?;
    shown(&app, caller, &number).await
}

/// List receiving exceptions.
///
/// Units that arrived without being announced, or were announced and did not arrive. Newest first, optionally only those of one
/// ASN.
#[utoipa::path(
    get,
    path = "/v1/receiving_exceptions",
    tag = "inbound",
    security(("oauth2" = ["orders"]), ("oauth2" = ["warehouse"])),
    params(ExceptionsQuery),
    responses(
        (status = 200, description = "A page of exceptions.", body = Exceptions),
        (status = 400, description = "A filter, `before` or `limit` is invalid.", body = ErrorBody),
    )
)]
pub(crate) async fn exceptions(
    State(app): State<App>,
    caller: MerchantOrWarehouse,
    query: Result<Query<ExceptionsQuery>, QueryRejection>,
) -> Result<Json<Exceptions>, ApiError> {
    let Query(query) = query.map_err(|_| ApiError::BadQuery(format!("limit must be between 1 and {MOST_LISTED}")))?;
    let number = query.asn_number.as_deref();
    let before = page(query.limit, query.before.as_deref(), number)?;
    let (listed, more) =
        receiving_exceptions::list(app.store(caller.merchant), caller.merchant, number, before, query.limit as usize).await?;
    let next_before = listed.last().filter(|_| more).map(|last| last.id.to_string());
    Ok(Json(Exceptions { receiving_exceptions: listed.into_iter().map(inbound::exception).collect(), has_more: more, next_before }))
}
