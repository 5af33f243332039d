//! ASNs that announce goods to a warehouse: `/v1/inbound_asns`.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use domain::warehouse::asn::is_number;
use store::warehouse::inbound_asns::Asn;
use store::warehouse::{inbound_asn_pages, inbound_asns};
use wire::answer::ErrorBody;
use wire::page::PageQuery;
use wire::warehouse::inbound::{AnnouncedAsn, AnnouncedAsns, InboundAsnOut, InboundAsns, InboundAsnsQuery};

use crate::app::App;
use crate::flow::warehouse::announce_asns::{AnnounceError, Announced, announce as announce_asns};
use crate::flow::warehouse::change_asn::{ChangeAsnError, cancel_asn, change_asn};
use crate::http::body::JsonBody;
use crate::http::caller::MerchantOrWarehouse;
use crate::http::error::{ApiError, sentence};
use crate::http::page::{Page, identifier};
use crate::http::path::{Named, PathParameter};
use crate::show::warehouse::inbound;

/// Announce ASNs.
///
/// Either all ASNs of the message are accepted or none. Repeating the request changes nothing and gets the same answer.
#[utoipa::path(
    post,
    path = "/v1/inbound_asns",
    tag = "inbound",
    security(("oauth2" = ["orders"]), ("oauth2" = ["warehouse"])),
    request_body(content = ref("#/components/schemas/AnnounceInboundAsns"), content_type = "application/json"),
    responses(
        (status = 201, description = "The ASNs are accepted, and at least one of them is new.", body = AnnouncedAsns),
        (status = 200, description = "All of the ASNs were announced before, with the same content.", body = AnnouncedAsns),
        (status = 400, description = "Malformed JSON.", body = ErrorBody),
        (status = 409, description = "An ASN was announced before with other content; nothing was accepted.", body = ErrorBody),
        (status = 422, description = "The request has faults; `errors` lists each with its path, and nothing was accepted.", body = ErrorBody),
    )
)]
pub(crate) async fn announce(
    State(app): State<App>,
    caller: MerchantOrWarehouse,
    JsonBody(body): JsonBody,
) -> Result<(StatusCode, Json<AnnouncedAsns>), ApiError> {
    let asns: Vec<Asn> = wire::warehouse::inbound::read(&body)?.inbound_asns.0.iter().map(inbound::asn).collect();
    let became = announce_asns(&app, caller.merchant, &asns).await.map_err(|error| match error {
        AnnounceError::Differ(numbers) => ApiError::Conflict(format!(
            "These ASNs were announced before with other content, so nothing was accepted: {}. Change an ASN with PUT /v1/inbound_asns/{{asn_number}}, until its first unit arrives.",
            numbers.join(", ")
        )),
        AnnounceError::Failed(failed) => failed.into(),
    })?;
    let status = if became.contains(&Announced::Created) { StatusCode::CREATED } else { StatusCode::OK };
    let answer = |(asn, became): (Asn, Announced)| match became {
        Announced::Created => AnnouncedAsn { asn_number: asn.number, result: "created", state: "open" },
        Announced::Unchanged(state) => AnnouncedAsn { asn_number: asn.number, result: "unchanged", state: state.as_str() },
    };
    Ok((status, Json(AnnouncedAsns { inbound_asns: asns.into_iter().zip(became).map(answer).collect() })))
}

/// List ASNs.
///
/// Newest first, optionally only those of one shipment.
#[utoipa::path(
    get,
    path = "/v1/inbound_asns",
    tag = "inbound",
    security(("oauth2" = ["orders"]), ("oauth2" = ["warehouse"])),
    params(InboundAsnsQuery, PageQuery),
    responses(
        (status = 200, description = "A page of ASNs.", body = InboundAsns),
        (status = 400, description = "A filter, `cursor` or `limit` is invalid.", body = ErrorBody),
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    caller: MerchantOrWarehouse,
    page: Page,
    query: Result<Query<InboundAsnsQuery>, QueryRejection>,
) -> Result<Json<InboundAsns>, ApiError> {
    let Query(query) = query?;
    let shipment = identifier(query.shipment_identifier.as_deref())?;
    let (store, limit) = (app.store(caller.merchant), page.limit as usize);
    let (asns, more) = inbound_asn_pages::list(store, caller.merchant, shipment, page.place()?, limit).await?;
    let next = asns.last().filter(|_| more).map(|last| last.id.to_string());
    Ok(Json(InboundAsns { items: asns.into_iter().map(inbound::listed).collect(), next }))
}

/// Show an ASN.
///
/// Its lines, and how much of each has arrived.
#[utoipa::path(
    get,
    path = "/v1/inbound_asns/{asn_number}",
    tag = "inbound",
    security(("oauth2" = ["orders"]), ("oauth2" = ["warehouse"])),
    params(("asn_number" = String, Path, description = "The merchant's number for the ASN.")),
    responses(
        (status = 200, description = "The ASN.", body = InboundAsnOut),
        (status = 404, description = "The merchant has no such ASN.", body = ErrorBody),
    )
)]
pub(crate) async fn show(
    State(app): State<App>,
    caller: MerchantOrWarehouse,
    Named(AsnNumber(number)): Named<AsnNumber>,
) -> Result<Json<InboundAsnOut>, ApiError> {
    shown(&app, caller, &number).await
}

/// Change an ASN.
///
/// Replaces its whole content, for example to change the ship date. Possible until its first unit arrives.
#[utoipa::path(
    put,
    path = "/v1/inbound_asns/{asn_number}",
    tag = "inbound",
    security(("oauth2" = ["orders"]), ("oauth2" = ["warehouse"])),
    params(("asn_number" = String, Path, description = "The merchant's number for the ASN.")),
    request_body(content = ref("#/components/schemas/InboundAsn"), content_type = "application/json"),
    responses(
        (status = 200, description = "The changed ASN.", body = InboundAsnOut),
        (status = 400, description = "Malformed JSON.", body = ErrorBody),
        (status = 404, description = "The merchant has no such ASN.", body = ErrorBody),
        (status = 409, description = "Units have arrived, or the ASN is closed or cancelled.", body = ErrorBody),
        (status = 422, description = "The request has faults; `errors` lists each with its path, and nothing was changed.", body = ErrorBody),
    )
)]
pub(crate) async fn change(
    State(app): State<App>,
    caller: MerchantOrWarehouse,
    Named(AsnNumber(number)): Named<AsnNumber>,
    JsonBody(body): JsonBody,
) -> Result<Json<InboundAsnOut>, ApiError> {
    // An unknown ASN is 404, even if the body is wrong too.
    inbound_asns::find(app.store(caller.merchant), caller.merchant, &number).await?.ok_or(ApiError::NotFound)?;
    let asn = inbound::asn(&wire::warehouse::inbound::read_one(&body, &number)?);
    change_asn(&app, caller.merchant, &asn).await.map_err(refused)?;
    shown(&app, caller, &number).await
}

/// Cancel an ASN.
///
/// Possible until its first unit arrives. A cancelled ASN stays cancelled, and its number cannot be used again.
#[utoipa::path(
    post,
    path = "/v1/inbound_asns/{asn_number}/cancel",
    tag = "inbound",
    security(("oauth2" = ["orders"]), ("oauth2" = ["warehouse"])),
    params(("asn_number" = String, Path, description = "The merchant's number for the ASN.")),
    responses(
        (status = 200, description = "The ASN is cancelled.", body = InboundAsnOut),
        (status = 404, description = "The merchant has no such ASN.", body = ErrorBody),
        (status = 409, description = "Units have arrived, or the ASN is closed.", body = ErrorBody),
    )
)]
pub(crate) async fn cancel(
    State(app): State<App>,
    caller: MerchantOrWarehouse,
    Named(AsnNumber(number)): Named<AsnNumber>,
) -> Result<Json<InboundAsnOut>, ApiError> {
    cancel_asn(&app, caller.merchant, &number).await.map_err(refused)?;
    shown(&app, caller, &number).await
}

/// Answers with the ASN in its current state.
pub(in crate::http::api) async fn shown<S>(
    app: &App,
    caller: crate::http::caller::Caller<S>,
    number: &str,
) -> Result<Json<InboundAsnOut>, ApiError> {
    let kept = inbound_asns::find(app.store(caller.merchant), caller.merchant, number).await?.ok_or(ApiError::NotFound)?;
    Ok(Json(inbound::shown(&kept)))
}

/// The number of an ASN in a path.
pub(crate) struct AsnNumber(pub(in crate::http::api) String);

impl PathParameter for AsnNumber {
    fn read(text: String) -> Option<Self> {
        is_number(&text).then_some(Self(text))
    }
}

/// The answer to a change that an ASN does not allow.
pub(in crate::http::api) fn refused(error: ChangeAsnError) -> ApiError {
    match error {
        ChangeAsnError::NoSuchAsn => ApiError::NotFound,
        ChangeAsnError::Refused(refused) => ApiError::Conflict(sentence(refused)),
        ChangeAsnError::Failed(failed) => failed.into(),
    }
}
