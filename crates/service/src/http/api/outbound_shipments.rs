//! Shipments out of a warehouse: `/v1/outbound_shipments`.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use domain::shipment::Act;
use sha2::{Digest as _, Sha256};
use store::shipments as kept;
use wire::answer::ErrorBody;
use wire::outbound_shipment::{self as wanted, MOST_SHIPMENTS, ShipmentOut, Shipments, ShipmentsQuery};

use crate::app::App;
use crate::flow::add_units::{self as adding, AddUnitsError};
use crate::flow::create_shipment::{CreateShipmentError, create_shipment};
use crate::flow::move_shipment::{MoveShipmentError, change_ship_date, move_shipment};
use crate::http::body::JsonBody;
use crate::http::caller::Warehouse;
use crate::http::error::ApiError;
use crate::http::path::Named;
use crate::shipments;

/// Make a shipment.
///
/// It has no units yet, and nobody is told of it. The same request again is answered with the shipment as it stands.
#[utoipa::path(
    post,
    path = "/v1/outbound_shipments",
    tag = "warehouse",
    security(("oauth2" = ["warehouse"])),
    request_body(content = ref("#/components/schemas/CreateShipment"), content_type = "application/json"),
    responses(
        (status = 201, description = "It is made.", body = ShipmentOut),
        (status = 200, description = "It was made before, by a request of the same content.", body = ShipmentOut),
        (status = 400, description = "Malformed JSON.", body = ErrorBody),
        (status = 409, description = "Another shipment has the number, or a part of one.", body = ErrorBody),
        (status = 422, description = "Every fault with its path, such as a place that is not set up; nothing was made.", body = ErrorBody),
    )
)]
pub(crate) async fn create(
    State(app): State<App>,
    caller: Warehouse,
    JsonBody(body): JsonBody,
) -> Result<(StatusCode, Json<ShipmentOut>), ApiError> {
    let asked = wanted::read_create(&body)?;
    let request_hash = Sha256::digest(wanted::canonical(&body)).into();
    let created = create_shipment(&app, caller.merchant, &asked.check()?, request_hash).await.map_err(|error| match error {
        CreateShipmentError::Faulty(faults) => ApiError::Faulty(faults),
        CreateShipmentError::NumberTaken => {
            ApiError::Conflict("Another shipment has this asn_number, or one of its parts has; use a number of its own.".to_owned())
        }
        CreateShipmentError::Failed(failed) => failed.into(),
    })?;
    let status = if created.repeated { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(shipments::shown(&created.shipment))))
}

/// List shipments.
///
/// Newest first.
#[utoipa::path(
    get,
    path = "/v1/outbound_shipments",
    tag = "warehouse",
    security(("oauth2" = ["warehouse"])),
    params(ShipmentsQuery),
    responses(
        (status = 200, description = "A page of shipments.", body = Shipments),
        (status = 400, description = "`before` or `limit` is not understood.", body = ErrorBody),
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    caller: Warehouse,
    query: Result<Query<ShipmentsQuery>, QueryRejection>,
) -> Result<Json<Shipments>, ApiError> {
    let bad_limit = || ApiError::BadQuery(format!("limit is 1 to {MOST_SHIPMENTS}"));
    let Query(query) = query.map_err(|_| bad_limit())?;
    if !(1..=MOST_SHIPMENTS).contains(&query.limit) {
        return Err(bad_limit());
    }
    let before = query.before.map(|before| before.parse()).transpose();
    let before = before.map_err(|_| ApiError::BadQuery("before is the next_before of another page".to_owned()))?;
    let (found, next) = kept::list(&app.store, caller.merchant, before, query.limit as usize).await?;
    Ok(Json(Shipments {
        outbound_shipments: found.iter().map(shipments::shown).collect(),
        has_more: next.is_some(),
        next_before: next.map(|next| next.to_string()),
    }))
}

/// Show a shipment.
#[utoipa::path(
    get,
    path = "/v1/outbound_shipments/{asn_number}",
    tag = "warehouse",
    security(("oauth2" = ["warehouse"])),
    params(("asn_number" = String, Path, description = "The number of the shipment, without the suffix of a part.")),
    responses(
        (status = 200, description = "The shipment.", body = ShipmentOut),
        (status = 404, description = "The merchant has no such shipment.", body = ErrorBody),
    )
)]
pub(crate) async fn show(State(app): State<App>, caller: Warehouse, Named(number): Named<String>) -> Result<Json<ShipmentOut>, ApiError> {
    let shipment = kept::find(&app.store, caller.merchant, &number).await?.ok_or(ApiError::NotFound)?;
    Ok(Json(shipments::shown(&shipment)))
}

/// Change a shipment's ship date.
///
/// As long as it is pending. The merchant's systems are told if the shipment was announced.
#[utoipa::path(
    patch,
    path = "/v1/outbound_shipments/{asn_number}",
    tag = "warehouse",
    security(("oauth2" = ["warehouse"])),
    params(("asn_number" = String, Path, description = "The number of the shipment.")),
    request_body(content = ref("#/components/schemas/ShipDate"), content_type = "application/json"),
    responses(
        (status = 200, description = "It ships then.", body = ShipmentOut),
        (status = 400, description = "Malformed JSON.", body = ErrorBody),
        (status = 404, description = "The merchant has no such shipment.", body = ErrorBody),
        (status = 409, description = "It has shipped, or is cancelled.", body = ErrorBody),
        (status = 422, description = "Every fault with its path.", body = ErrorBody),
    )
)]
pub(crate) async fn change(
    State(app): State<App>,
    caller: Warehouse,
    Named(number): Named<String>,
    JsonBody(body): JsonBody,
) -> Result<Json<ShipmentOut>, ApiError> {
    must_exist(&app, &caller, &number).await?;
    let ship_date = wanted::read_ship_date(&body)?.ship_date.0;
    let shipment = change_ship_date(&app, caller.merchant, &number, ship_date).await.map_err(refused)?;
    Ok(Json(shipments::shown(&shipment)))
}

/// Add units to a shipment.
///
/// At most 500 at a time, until the shipment is announced or shipped; all of them or none. The same again is no error.
#[utoipa::path(
    post,
    path = "/v1/outbound_shipments/{asn_number}/units",
    tag = "warehouse",
    security(("oauth2" = ["warehouse"])),
    params(("asn_number" = String, Path, description = "The number of the shipment.")),
    request_body(content = ref("#/components/schemas/ShipmentUnits"), content_type = "application/json"),
    responses(
        (status = 200, description = "They are in the shipment.", body = ShipmentOut),
        (status = 400, description = "Malformed JSON.", body = ErrorBody),
        (status = 404, description = "The merchant has no such shipment.", body = ErrorBody),
        (status = 409, description = "The units are fixed, or a line or carton is there with other content.", body = ErrorBody),
        (status = 422, description = "Every fault with its path, such as units that are in another shipment; none was added.", body = ErrorBody),
    )
)]
pub(crate) async fn add_units(
    State(app): State<App>,
    caller: Warehouse,
    Named(number): Named<String>,
    JsonBody(body): JsonBody,
) -> Result<Json<ShipmentOut>, ApiError> {
    must_exist(&app, &caller, &number).await?;
    let units = wanted::read_units(&body)?;
    let shipment = adding::add_units(&app, caller.merchant, &number, &units).await.map_err(|error| match error {
        AddUnitsError::NoSuchShipment => ApiError::NotFound,
        AddUnitsError::Fixed(state) => {
            ApiError::Conflict(format!("The units of this shipment are fixed: it is {}. Make another shipment for more.", state.as_str()))
        }
        AddUnitsError::OtherLines(lines) => {
            ApiError::Conflict(format!("These lines are in the shipment with other content: {}.", lines.join(", ")))
        }
        AddUnitsError::OtherCartons(cartons) => {
            ApiError::Conflict(format!("These cartons are in the shipment with another reference: {}.", cartons.join(", ")))
        }
        AddUnitsError::Faulty(faults) => ApiError::Faulty(faults),
        AddUnitsError::Failed(failed) => failed.into(),
    })?;
    Ok(Json(shipments::shown(&shipment)))
}

/// Announce a shipment.
///
/// Its units are fixed, and the merchant's systems are told that it will ship: `pending`. A repeat changes nothing.
#[utoipa::path(
    post,
    path = "/v1/outbound_shipments/{asn_number}/announce",
    tag = "warehouse",
    security(("oauth2" = ["warehouse"])),
    params(("asn_number" = String, Path, description = "The number of the shipment.")),
    responses(
        (status = 200, description = "It is announced.", body = ShipmentOut),
        (status = 404, description = "The merchant has no such shipment.", body = ErrorBody),
        (status = 409, description = "It has no units, is not pending any more, or a part would have the number of another shipment.", body = ErrorBody),
    )
)]
pub(crate) async fn announce(
    State(app): State<App>,
    caller: Warehouse,
    Named(number): Named<String>,
) -> Result<Json<ShipmentOut>, ApiError> {
    act(&app, &caller, &number, Act::Announce).await
}

/// Ship a shipment.
///
/// It leaves the warehouse, announced or not: `shipped`. A repeat changes nothing.
#[utoipa::path(
    post,
    path = "/v1/outbound_shipments/{asn_number}/ship",
    tag = "warehouse",
    security(("oauth2" = ["warehouse"])),
    params(("asn_number" = String, Path, description = "The number of the shipment.")),
    responses(
        (status = 200, description = "It is shipped.", body = ShipmentOut),
        (status = 404, description = "The merchant has no such shipment.", body = ErrorBody),
        (status = 409, description = "It has no units, is cancelled, or a part would have the number of another shipment.", body = ErrorBody),
    )
)]
pub(crate) async fn ship(State(app): State<App>, caller: Warehouse, Named(number): Named<String>) -> Result<Json<ShipmentOut>, ApiError> {
    act(&app, &caller, &number, Act::Ship).await
}

/// Report that a shipment arrived.
///
/// Once it was shipped: `delivered`. A repeat changes nothing.
#[utoipa::path(
    post,
    path = "/v1/outbound_shipments/{asn_number}/deliver",
    tag = "warehouse",
    security(("oauth2" = ["warehouse"])),
    params(("asn_number" = String, Path, description = "The number of the shipment.")),
    responses(
        (status = 200, description = "It is delivered.", body = ShipmentOut),
        (status = 404, description = "The merchant has no such shipment.", body = ErrorBody),
        (status = 409, description = "It was not shipped.", body = ErrorBody),
    )
)]
pub(crate) async fn deliver(
    State(app): State<App>,
    caller: Warehouse,
    Named(number): Named<String>,
) -> Result<Json<ShipmentOut>, ApiError> {
    act(&app, &caller, &number, Act::Deliver).await
}

/// Cancel a shipment.
///
/// As long as it has not shipped. Its units can be in another shipment. The merchant's systems are told if it was announced:
/// `canceled`. A repeat changes nothing.
#[utoipa::path(
    post,
    path = "/v1/outbound_shipments/{asn_number}/cancel",
    tag = "warehouse",
    security(("oauth2" = ["warehouse"])),
    params(("asn_number" = String, Path, description = "The number of the shipment.")),
    responses(
        (status = 200, description = "It is cancelled.", body = ShipmentOut),
        (status = 404, description = "The merchant has no such shipment.", body = ErrorBody),
        (status = 409, description = "It has shipped.", body = ErrorBody),
    )
)]
pub(crate) async fn cancel(State(app): State<App>, caller: Warehouse, Named(number): Named<String>) -> Result<Json<ShipmentOut>, ApiError> {
    act(&app, &caller, &number, Act::Cancel).await
}

async fn act(app: &App, caller: &Warehouse, number: &str, act: Act) -> Result<Json<ShipmentOut>, ApiError> {
    let shipment = move_shipment(app, caller.merchant, number, act).await.map_err(refused)?;
    Ok(Json(shipments::shown(&shipment)))
}

fn refused(error: MoveShipmentError) -> ApiError {
    match error {
        MoveShipmentError::NoSuchShipment => ApiError::NotFound,
        MoveShipmentError::Refused(refused) => ApiError::Conflict(format!("This cannot be: {refused}.")),
        MoveShipmentError::NoUnits => ApiError::Conflict("The shipment has no units yet; add them first.".to_owned()),
        MoveShipmentError::NumberTaken(number) => ApiError::Conflict(format!(
            "A part of this shipment would be sent as {number}, which is the number of another one. Cancel it, and make it anew \
             under another asn_number."
        )),
        MoveShipmentError::Failed(failed) => failed.into(),
    }
}

/// Answers 404 for a shipment that does not exist, before the body of a request about it is checked.
async fn must_exist(app: &App, caller: &Warehouse, number: &str) -> Result<(), ApiError> {
    kept::find(&app.store, caller.merchant, number).await?.map(drop).ok_or(ApiError::NotFound)
}
