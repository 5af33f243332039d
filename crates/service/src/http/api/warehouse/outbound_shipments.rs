//! Shipments out of a warehouse: `/v1/outbound_shipments`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::warehouse::shipment::Act;
use sha2::{Digest as _, Sha256};
use store::warehouse::shipments as kept;
use wire::answer::ErrorBody;
use wire::page::PageQuery;
use wire::warehouse::outbound_shipment::{self as wanted, ShipmentOut, Shipments, UnitsAdded};

use crate::app::App;
use crate::flow::warehouse::add_units::{self as adding, AddUnitsError};
use crate::flow::warehouse::create_shipment::{CreateShipmentError, create_shipment};
use crate::flow::warehouse::move_shipment::{MoveShipmentError, change_shipment, move_shipment, ship as ship_shipment};
use crate::http::body::{JsonBody, OptionalBody};
use crate::http::caller::Warehouse;
use crate::http::error::{ApiError, sentence};
use crate::http::page::Page;
use crate::http::path::Named;
use crate::show::warehouse::shipments;

/// Create a shipment.
///
/// It has no units yet, and the merchant is not notified. Repeating the request returns the shipment in its current state.
#[utoipa::path(
    post,
    path = "/v1/outbound_shipments",
    tag = "warehouse",
    security(("oauth2" = ["warehouse"])),
    request_body(content = ref("#/components/schemas/CreateShipment"), content_type = "application/json"),
    responses(
        (status = 201, description = "The shipment is created.", body = ShipmentOut),
        (status = 200, description = "The shipment was created before, by a request with the same content.", body = ShipmentOut),
        (status = 400, description = "Malformed JSON.", body = ErrorBody),
        (status = 409, description = "Another shipment, or a part of one, has this number.", body = ErrorBody),
        (status = 422, description = "The request has faults, such as a place that is not set up; `errors` lists each with its path, and nothing was created.", body = ErrorBody),
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
            ApiError::Conflict("Another shipment, or a part of one, has this asn_number. Use a new number.".to_owned())
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
    params(PageQuery),
    responses(
        (status = 200, description = "A page of shipments.", body = Shipments),
        (status = 400, description = "`cursor` or `limit` is invalid.", body = ErrorBody),
    )
)]
pub(crate) async fn list(State(app): State<App>, caller: Warehouse, page: Page) -> Result<Json<Shipments>, ApiError> {
    let (found, next) = kept::list(app.store(caller.merchant), caller.merchant, page.place()?, page.limit as usize).await?;
    Ok(Json(Shipments { items: found.iter().map(shipments::shown).collect(), next: next.map(|next| next.to_string()) }))
}

/// Show a shipment.
///
/// `sent_as` lists the numbers under which its messages were sent, if it was split into parts.
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
    let shipment = kept::find(app.store(caller.merchant), caller.merchant, &number).await?.ok_or(ApiError::NotFound)?;
    Ok(Json(shipments::shown(&shipment)))
}

/// Change a shipment's ship date or transport.
///
/// Its carrier, payment type, tracking numbers and bill of lading; fields that are absent stay as they are. Possible while the
/// shipment is pending. The merchant is notified if the shipment was announced.
#[utoipa::path(
    patch,
    path = "/v1/outbound_shipments/{asn_number}",
    tag = "warehouse",
    security(("oauth2" = ["warehouse"])),
    params(("asn_number" = String, Path, description = "The number of the shipment.")),
    request_body(content = ref("#/components/schemas/ShipmentChange"), content_type = "application/json"),
    responses(
        (status = 200, description = "The shipment is changed.", body = ShipmentOut),
        (status = 400, description = "Malformed JSON.", body = ErrorBody),
        (status = 404, description = "The merchant has no such shipment.", body = ErrorBody),
        (status = 409, description = "The shipment has shipped, or is cancelled.", body = ErrorBody),
        (status = 422, description = "The request has faults; `errors` lists each with its path.", body = ErrorBody),
    )
)]
pub(crate) async fn change(
    State(app): State<App>,
    caller: Warehouse,
    Named(number): Named<String>,
    JsonBody(body): JsonBody,
) -> Result<Json<ShipmentOut>, ApiError> {
    must_exist(&app, &caller, &number).await?;
    let change = wanted::read_change(&body)?;
    let shipment = change_shipment(&app, caller.merchant, &number, &change).await.map_err(refused)?;
    Ok(Json(shipments::shown(&shipment)))
}

/// Add units to a shipment.
///
/// At most 500 per request, until the shipment is announced or shipped. Either all units are added or none. Repeating the
/// request changes nothing. What a unit's receipt knows and the request does not state is taken from the receipt; a statement that
/// contradicts the receipt is taken with a warning.
#[utoipa::path(
    post,
    path = "/v1/outbound_shipments/{asn_number}/units",
    tag = "warehouse",
    security(("oauth2" = ["warehouse"])),
    params(("asn_number" = String, Path, description = "The number of the shipment.")),
    request_body(content = ref("#/components/schemas/ShipmentUnits"), content_type = "application/json"),
    responses(
        (status = 200, description = "The units are in the shipment.", body = UnitsAdded),
        (status = 400, description = "Malformed JSON.", body = ErrorBody),
        (status = 404, description = "The merchant has no such shipment.", body = ErrorBody),
        (status = 409, description = "The shipment takes no more units, or it has a line or carton with other content.", body = ErrorBody),
        (status = 422, description = "The request has faults, such as units that are in another shipment; `errors` lists each with its path, and none was added.", body = ErrorBody),
    )
)]
pub(crate) async fn add_units(
    State(app): State<App>,
    caller: Warehouse,
    Named(number): Named<String>,
    JsonBody(body): JsonBody,
) -> Result<Json<UnitsAdded>, ApiError> {
    must_exist(&app, &caller, &number).await?;
    let units = wanted::read_units(&body)?;
    let (shipment, warnings) = adding::add_units(&app, caller.merchant, &number, &units).await.map_err(|error| match error {
        AddUnitsError::NoSuchShipment => ApiError::NotFound,
        AddUnitsError::Fixed(state) => {
            ApiError::Conflict(format!("No units can be added: the shipment is {}. Create another shipment for them.", state.as_str()))
        }
        AddUnitsError::OtherLines(lines) => ApiError::Conflict(format!(
            "The shipment already has these lines with other content, so no units were added: {}. Use other line identifiers.",
            lines.join(", ")
        )),
        AddUnitsError::OtherCartons(cartons) => ApiError::Conflict(format!(
            "The shipment already has these cartons with another reference, so no units were added: {}. Use other carton identifiers.",
            cartons.join(", ")
        )),
        AddUnitsError::Faulty(faults) => ApiError::Faulty(faults),
        AddUnitsError::Failed(failed) => failed.into(),
    })?;
    Ok(Json(UnitsAdded { shipment: shipments::shown(&shipment), warnings }))
}

/// Announce a shipment.
///
/// Closes it for further units, and notifies the merchant that it will ship: `pending`. Repeating the request changes nothing.
#[utoipa::path(
    post,
    path = "/v1/outbound_shipments/{asn_number}/announce",
    tag = "warehouse",
    security(("oauth2" = ["warehouse"])),
    params(("asn_number" = String, Path, description = "The number of the shipment.")),
    responses(
        (status = 200, description = "The shipment is announced.", body = ShipmentOut),
        (status = 404, description = "The merchant has no such shipment.", body = ErrorBody),
        (status = 409, description = "The shipment has no units, is no longer pending, or one of its parts would get the number of another shipment.", body = ErrorBody),
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
/// It leaves the warehouse, announced or not, and the merchant is notified: `shipped`. The body is optional: what is known of the
/// transport by now. Tracking numbers are added to those scanned before. Repeating the request changes nothing.
#[utoipa::path(
    post,
    path = "/v1/outbound_shipments/{asn_number}/ship",
    tag = "warehouse",
    security(("oauth2" = ["warehouse"])),
    params(("asn_number" = String, Path, description = "The number of the shipment.")),
    request_body(content = ref("#/components/schemas/ShipmentChange"), content_type = "application/json"),
    responses(
        (status = 200, description = "The shipment is shipped.", body = ShipmentOut),
        (status = 400, description = "Malformed JSON.", body = ErrorBody),
        (status = 404, description = "The merchant has no such shipment.", body = ErrorBody),
        (status = 409, description = "The shipment has no units, is cancelled, has shipped in another way, or one of its parts would get the number of another shipment.", body = ErrorBody),
        (status = 422, description = "The request has faults; `errors` lists each with its path.", body = ErrorBody),
    )
)]
pub(crate) async fn ship(
    State(app): State<App>,
    caller: Warehouse,
    Named(number): Named<String>,
    OptionalBody(body): OptionalBody,
) -> Result<Json<ShipmentOut>, ApiError> {
    must_exist(&app, &caller, &number).await?;
    let change = wanted::read_ship(&body)?;
    let shipment = ship_shipment(&app, caller.merchant, &number, &change).await.map_err(refused)?;
    Ok(Json(shipments::shown(&shipment)))
}

/// Report that a shipment arrived.
///
/// Possible once it has shipped. The merchant is notified: `delivered`. Repeating the request changes nothing.
#[utoipa::path(
    post,
    path = "/v1/outbound_shipments/{asn_number}/deliver",
    tag = "warehouse",
    security(("oauth2" = ["warehouse"])),
    params(("asn_number" = String, Path, description = "The number of the shipment.")),
    responses(
        (status = 200, description = "The shipment is delivered.", body = ShipmentOut),
        (status = 404, description = "The merchant has no such shipment.", body = ErrorBody),
        (status = 409, description = "The shipment has not shipped.", body = ErrorBody),
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
/// Possible until it ships. Its units can then be added to another shipment. The merchant is notified if the shipment was
/// announced: `canceled`. Repeating the request changes nothing.
#[utoipa::path(
    post,
    path = "/v1/outbound_shipments/{asn_number}/cancel",
    tag = "warehouse",
    security(("oauth2" = ["warehouse"])),
    params(("asn_number" = String, Path, description = "The number of the shipment.")),
    responses(
        (status = 200, description = "The shipment is cancelled.", body = ShipmentOut),
        (status = 404, description = "The merchant has no such shipment.", body = ErrorBody),
        (status = 409, description = "The shipment has shipped.", body = ErrorBody),
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
        MoveShipmentError::Refused(refused) => ApiError::Conflict(sentence(refused)),
        MoveShipmentError::NoUnits => ApiError::Conflict("The shipment has no units yet. Add them first.".to_owned()),
        MoveShipmentError::NumberTaken(number) => ApiError::Conflict(format!(
            "A part of this shipment would be sent as {number}, which is the number of another shipment. Cancel this one, and \
             create it again under another asn_number."
        )),
        MoveShipmentError::Failed(failed) => failed.into(),
    }
}

/// Answers 404 for a shipment that does not exist, before the body of a request about it is checked.
async fn must_exist(app: &App, caller: &Warehouse, number: &str) -> Result<(), ApiError> {
    kept::find(app.store(caller.merchant), caller.merchant, number).await?.map(drop).ok_or(ApiError::NotFound)
}
