//! What merchants announce to a warehouse: `/v1/inbound_asns`.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use domain::asn::is_number;
use store::inbound_asns::Asn;
use store::{inbound_asn_pages, inbound_asns};
use uuid::Uuid;
use wire::answer::ErrorBody;
use wire::inbound::{AnnouncedAsn, AnnouncedAsns, InboundAsnOut, InboundAsns, InboundAsnsQuery, MOST_LISTED};

use crate::app::App;
use crate::flow::announce_asns::{AnnounceError, Announced, announce as announce_asns};
use crate::flow::change_asn::{ChangeAsnError, cancel_asn, change_asn};
use crate::http::body::JsonBody;
use crate::http::caller::MerchantOrWarehouse;
use crate::http::error::ApiError;
use crate::http::path::{Named, PathParameter};
use crate::inbound;

/// Announce ASNs.
///
/// All of the message are taken, or none. The same again is answered alike and changes nothing.
#[utoipa::path(
    post,
    path = "/v1/inbound_asns",
    tag = "inbound",
    security(("oauth2" = ["orders"]), ("oauth2" = ["warehouse"])),
    request_body(content = ref("#/components/schemas/AnnounceInboundAsns"), content_type = "application/json"),
    responses(
        (status = 201, description = "They are taken; at least one is new.", body = AnnouncedAsns),
        (status = 200, description = "All of them were announced before, with the same content.", body = AnnouncedAsns),
        (status = 400, description = "Malformed JSON.", body = ErrorBody),
        (status = 409, description = "A number was announced before with other content; nothing was taken.", body = ErrorBody),
        (status = 422, description = "Every fault with its path; nothing was taken.", body = ErrorBody),
    )
)]
pub(crate) async fn announce(
    State(app): State<App>,
    caller: MerchantOrWarehouse,
    JsonBody(body): JsonBody,
) -> Result<(StatusCode, Json<AnnouncedAsns>), ApiError> {
    let asns: Vec<Asn> = wire::inbound::read(&body)?.inbound_asns.0.iter().map(inbound::asn).collect();
    let became = announce_asns(&app, caller.merchant, &asns).await.map_err(|error| match error {
        AnnounceError::Differ(numbers) => ApiError::Conflict(format!(
            "Announced before with other content: {}. PUT /v1/inbound_asns/{{asn_number}} changes an ASN until its first unit arrives.",
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
/// Newest first; all, or those of a shipment.
#[utoipa::path(
    get,
    path = "/v1/inbound_asns",
    tag = "inbound",
    security(("oauth2" = ["orders"]), ("oauth2" = ["warehouse"])),
    params(InboundAsnsQuery),
    responses(
        (status = 200, description = "A page of ASNs.", body = InboundAsns),
        (status = 400, description = "A filter, `before` or `limit` is not understood.", body = ErrorBody),
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    caller: MerchantOrWarehouse,
    query: Result<Query<InboundAsnsQuery>, QueryRejection>,
) -> Result<Json<InboundAsns>, ApiError> {
    let Query(query) = query.map_err(|_| ApiError::BadQuery(format!("limit is 1 to {MOST_LISTED}")))?;
    let before = page(query.limit, query.before.as_deref(), query.shipment_identifier.as_deref())?;
    let shipment = query.shipment_identifier.as_deref();
    let (asns, more) = inbound_asn_pages::list(&app.store, caller.merchant, shipment, before, query.limit as usize).await?;
    let next_before = asns.last().filter(|_| more).map(|last| last.id.to_string());
    Ok(Json(InboundAsns { inbound_asns: asns.into_iter().map(inbound::listed).collect(), has_more: more, next_before }))
}

/// Before which one a page begins, once it is known that the query is right.
pub(super) fn page(limit: u32, before: Option<&str>, filter: Option<&str>) -> Result<Option<Uuid>, ApiError> {
    if !(1..=MOST_LISTED).contains(&limit) {
        return Err(ApiError::BadQuery(format!("limit is 1 to {MOST_LISTED}")));
    }
    // No stored identifier has a NUL, and PostgreSQL would not even compare with one.
    if filter.is_some_and(|text| text.contains('\0')) {
        return Err(ApiError::BadQuery("a filter has a character that no identifier has".to_owned()));
    }
    let bad = |_| ApiError::BadQuery("before is the next_before of another page".to_owned());
    before.map(|before| before.parse().map_err(bad)).transpose()
}

/// Show an ASN.
///
/// What it announces, and how much of each line has arrived.
#[utoipa::path(
    get,
    path = "/v1/inbound_asns/{asn_number}",
    tag = "inbound",
    security(("oauth2" = ["orders"]), ("oauth2" = ["warehouse"])),
    params(("asn_number" = String, Path, description = "The merchant's number of the ASN.")),
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
/// Its whole content is replaced, such as another ship date, until its first unit arrives.
#[utoipa::path(
    put,
    path = "/v1/inbound_asns/{asn_number}",
    tag = "inbound",
    security(("oauth2" = ["orders"]), ("oauth2" = ["warehouse"])),
    params(("asn_number" = String, Path, description = "The merchant's number of the ASN.")),
    request_body(content = ref("#/components/schemas/InboundAsn"), content_type = "application/json"),
    responses(
        (status = 200, description = "The ASN as it is now.", body = InboundAsnOut),
        (status = 400, description = "Malformed JSON.", body = ErrorBody),
        (status = 404, description = "The merchant has no such ASN.", body = ErrorBody),
        (status = 409, description = "Units have arrived, or it is closed or canceled.", body = ErrorBody),
        (status = 422, description = "Every fault with its path; nothing was changed.", body = ErrorBody),
    )
)]
pub(crate) async fn change(
    State(app): State<App>,
    caller: MerchantOrWarehouse,
    Named(AsnNumber(number)): Named<AsnNumber>,
    JsonBody(body): JsonBody,
) -> Result<Json<InboundAsnOut>, ApiError> {
    // Whose it is comes before what is wrong with it.
    inbound_asns::find(&app.store, caller.merchant, &number).await?.ok_or(ApiError::NotFound)?;
    let asn = inbound::asn(&wire::inbound::read_one(&body, &number)?);
    change_asn(&app, caller.merchant, &asn).await.map_err(refused)?;
    shown(&app, caller, &number).await
}

/// Cancel an ASN.
///
/// Until its first unit arrives. A cancelled ASN stays cancelled, and its number is not used again.
#[utoipa::path(
    post,
    path = "/v1/inbound_asns/{asn_number}/cancel",
    tag = "inbound",
    security(("oauth2" = ["orders"]), ("oauth2" = ["warehouse"])),
    params(("asn_number" = String, Path, description = "The merchant's number of the ASN.")),
    responses(
        (status = 200, description = "It is cancelled.", body = InboundAsnOut),
        (status = 404, description = "The merchant has no such ASN.", body = ErrorBody),
        (status = 409, description = "Units have arrived, or it is closed.", body = ErrorBody),
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

/// The ASN as it stands.
pub(super) async fn shown<S>(app: &App, caller: crate::http::caller::Caller<S>, number: &str) -> Result<Json<InboundAsnOut>, ApiError> {
    let kept = inbound_asns::find(&app.store, caller.merchant, number).await?.ok_or(ApiError::NotFound)?;
    Ok(Json(inbound::shown(&kept)))
}

/// The number of an ASN in a path.
pub(crate) struct AsnNumber(pub(super) String);

impl PathParameter for AsnNumber {
    fn read(text: String) -> Option<Self> {
        is_number(&text).then_some(Self(text))
    }
}

/// Why an ASN was not changed.
pub(super) fn refused(error: ChangeAsnError) -> ApiError {
    match error {
        ChangeAsnError::NoSuchAsn => ApiError::NotFound,
        ChangeAsnError::Refused(refused) => ApiError::Conflict(format!("This cannot be: {refused}.")),
        ChangeAsnError::Failed(failed) => failed.into(),
    }
}
