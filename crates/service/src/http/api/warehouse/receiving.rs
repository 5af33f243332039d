//! Receiving: `/v1/receipts` and `/v1/receiving_exceptions`.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use domain::warehouse::inbound::{Exception, Target};
use store::warehouse::receiving_exceptions;
use wire::answer::ErrorBody;
use wire::page::PageQuery;
use wire::warehouse::inbound::InboundAsnOut;
use wire::warehouse::receiving::{
    CONFLICT, Exceptions, ExceptionsQuery, ReceiptsTaken, ReceivedUnitIn, UnitTaken, explain, unknown_warehouses, unmanaged_returns,
};

use super::inbound_asns::{AsnNumber, refused, shown};
use crate::app::App;
use crate::flow::warehouse::close_asn::close_asn;
use crate::flow::warehouse::receive_units::{ReceiveUnitsError, UnitOutcome, receive_units};
use crate::http::body::JsonBody;
use crate::http::caller::{MerchantOrWarehouse, Warehouse};
use crate::http::error::ApiError;
use crate::http::page::{Page, identifier};
use crate::http::path::Named;
use crate::show::warehouse::inbound;

/// Receive units.
///
/// For an ASN, or for a return of a merchant with managed receiving, which needs no ASN. Each unit is received once, by its license
/// plate: a repeat is answered with `already_received`, and the merchant is not notified again. A unit that is not expected is
/// listed as an exception; it is never refused.
#[utoipa::path(
    post,
    path = "/v1/receipts",
    tag = "inbound",
    security(("oauth2" = ["warehouse"])),
    request_body(content = ref("#/components/schemas/Receipts"), content_type = "application/json"),
    responses(
        (status = 200, description = "The result for each unit.", body = ReceiptsTaken),
        (status = 400, description = "Malformed JSON.", body = ErrorBody),
        (status = 422, description = "The request has faults, such as an unknown warehouse, or a return without managed receiving; `errors` lists each with its path, and nothing was received.", body = ErrorBody),
    )
)]
pub(crate) async fn receive(State(app): State<App>, caller: Warehouse, JsonBody(body): JsonBody) -> Result<Json<ReceiptsTaken>, ApiError> {
    let message = wire::warehouse::receiving::read(&body)?;
    let units = &message.units.0;
    let taken = receive_units(&app, caller.merchant, units).await.map_err(|error| match error {
        ReceiveUnitsError::UnknownWarehouse(units) => ApiError::Faulty(unknown_warehouses(&units)),
        ReceiveUnitsError::NotManaged(units) => ApiError::Faulty(unmanaged_returns(&message, &units)),
        ReceiveUnitsError::Failed(failed) => failed.into(),
    })?;
    Ok(Json(ReceiptsTaken { units: units.iter().zip(taken).map(answer).collect() }))
}

fn answer((unit, taken): (&ReceivedUnitIn<'_>, UnitOutcome)) -> UnitTaken {
    let (result, known, exception, message) = match taken {
        UnitOutcome::Received(known) => ("received", Some(known), None, None),
        UnitOutcome::AlreadyReceived(known) => ("already_received", Some(known), None, None),
        UnitOutcome::Conflict(known) => ("conflict", Some(known), None, Some(CONFLICT)),
        UnitOutcome::Exception(exception) => ("exception", None, Some(exception), Some(explain(exception))),
    };
    let (asn_number, rma_identifier, line_identifier) = if let Some(known) = known {
        (known.asn_number, known.rma, Some(known.line))
    } else {
        let number = unit.asn_number.as_ref().map(|number| number.0.to_string());
        (number, unit.rma_identifier.as_ref().map(|identifier| identifier.0.to_string()), None)
    };
    UnitTaken {
        unit_identifier: unit.unit_identifier.0.to_string(),
        result,
        asn_number,
        rma_identifier,
        line_identifier,
        exception: exception.map(Exception::as_str),
        message,
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
/// Units that arrived without being expected, or were announced and did not arrive. Newest first, optionally only those of one
/// ASN or return.
#[utoipa::path(
    get,
    path = "/v1/receiving_exceptions",
    tag = "inbound",
    security(("oauth2" = ["orders"]), ("oauth2" = ["warehouse"])),
    params(ExceptionsQuery, PageQuery),
    responses(
        (status = 200, description = "A page of exceptions.", body = Exceptions),
        (status = 400, description = "A filter, `cursor` or `limit` is invalid.", body = ErrorBody),
    )
)]
pub(crate) async fn exceptions(
    State(app): State<App>,
    caller: MerchantOrWarehouse,
    page: Page,
    query: Result<Query<ExceptionsQuery>, QueryRejection>,
) -> Result<Json<Exceptions>, ApiError> {
    let Query(query) = query?;
    let target = match (identifier(query.asn_number.as_deref())?, identifier(query.rma_identifier.as_deref())?) {
        (Some(_), Some(_)) => return Err(ApiError::BadQuery("give asn_number or rma_identifier, not both".to_owned())),
        (Some(number), None) => Some(Target::Asn(number)),
        (None, Some(identifier)) => Some(Target::Return(identifier)),
        (None, None) => None,
    };
    let (store, limit) = (app.store(caller.merchant), page.limit as usize);
    let (listed, more) = receiving_exceptions::list(store, caller.merchant, target, page.place()?, limit).await?;
    let next = listed.last().filter(|_| more).map(|last| last.id.to_string());
    Ok(Json(Exceptions { items: listed.into_iter().map(inbound::exception).collect(), next }))
}
