//! Carrier events: `/v1/carrier_events`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use wire::answer::ErrorBody;
use wire::returns::carrier::CarrierEventTaken;

use crate::app::App;
use crate::flow::returns::carrier_event::{CarrierEventError, EventOutcome, carrier_event};
use crate::http::body::JsonBody;
use crate::http::caller::Carrier;
use crate::http::error::ApiError;

/// Report a carrier event.
///
/// A label, a drop-off or a scan. Repeated and late events change nothing. An event that arrives before the label is kept and
/// takes effect together with the label.
#[utoipa::path(
    post,
    path = "/v1/carrier_events",
    tag = "carriers",
    security(("oauth2" = ["carrier"])),
    request_body(content = ref("#/components/schemas/CarrierEvent"), content_type = "application/json"),
    responses(
        (status = 200, description = "The event was applied, or it changed nothing: it was known, came late, or the return is cancelled.", body = CarrierEventTaken),
        (status = 202, description = "The event is kept until the return has a label.", body = CarrierEventTaken),
        (status = 400, description = "Malformed JSON.", body = ErrorBody),
        (status = 404, description = "The merchant has no such return.", body = ErrorBody),
        (status = 409, description = "The event contradicts the return: it has another label, the tracking number belongs to another return, or there is no parcel.", body = ErrorBody),
        (status = 422, description = "The event has faults; `errors` lists each with its path.", body = ErrorBody),
    )
)]
pub(crate) async fn report(
    State(app): State<App>,
    caller: Carrier,
    JsonBody(body): JsonBody,
) -> Result<(StatusCode, Json<CarrierEventTaken>), ApiError> {
    let event = wire::returns::carrier::read(&body)?;
    let taken = carrier_event(&app, caller.merchant, &event).await.map_err(|error| match error {
        CarrierEventError::NoSuchReturn => ApiError::NotFound,
        CarrierEventError::Refused(refused) => {
            ApiError::Conflict(format!("The event contradicts the return and was not applied: {refused}."))
        }
        CarrierEventError::TrackingNumberTaken => {
            ApiError::Conflict("The tracking number belongs to another return. Check it and send the event again.".to_owned())
        }
        CarrierEventError::Failed(failed) => failed.into(),
    })?;
    let (status, result, rma_identifier) = match taken {
        EventOutcome::Moved(rma) => (StatusCode::OK, "moved", Some(rma)),
        EventOutcome::Unchanged(rma) => (StatusCode::OK, "unchanged", Some(rma)),
        EventOutcome::Waiting(rma) => (StatusCode::ACCEPTED, "kept", rma),
        EventOutcome::Ignored => (StatusCode::OK, "ignored", None),
    };
    Ok((status, Json(CarrierEventTaken { result, rma_identifier })))
}
