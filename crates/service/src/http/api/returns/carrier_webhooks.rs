//! Webhooks of carriers' own systems: `/v1/carrier_webhooks`.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use domain::id::MerchantId;
use uuid::Uuid;
use wire::answer::ErrorBody;
use wire::returns::carrier::CarrierEventTaken;
use wire::returns::easypost::SIGNATURE;

use crate::app::App;
use crate::flow::returns::carrier_event::EventOutcome;
use crate::flow::returns::carrier_webhook::{CarrierWebhookError, carrier_webhook};
use crate::http::body::JsonBody;
use crate::http::error::ApiError;
use crate::http::listener::Presence;
use crate::http::path::Named;
use crate::http::size::WEBHOOK_BYTES;
use crate::node::security::Event;

/// Receive a carrier webhook.
///
/// An event from EasyPost, or from a carrier with the same API, signed with the secret of the merchant's account. A repeated
/// event changes nothing, and neither does one that is not about a parcel.
#[utoipa::path(
    post,
    path = "/v1/carrier_webhooks/{account}",
    tag = "carriers",
    params(
        ("account" = String, Path, description = "The account, from the webhook URL that `backhaul carrier show` prints."),
        ("X-Hmac-Signature" = String, Header, description = "`hmac-sha256-hex=` followed by the HMAC-SHA256 of the body in hex."),
    ),
    request_body(content = serde_json::Value, description = "The event.", content_type = "application/json"),
    responses(
        (status = 200, description = "The event was received, now or before.", body = CarrierEventTaken),
        (status = 400, description = "The body is not an event.", body = ErrorBody),
        (status = 401, description = "The account is unknown, the signature does not match, or the event is older than 30 days.", body = ErrorBody),
        (status = 413, description = "The body is larger than 256 KiB.", body = ErrorBody),
    )
)]
pub(crate) async fn receive(
    State(app): State<App>,
    account: Result<Named<Uuid>, ApiError>,
    headers: HeaderMap,
    presence: Presence,
    JsonBody(body): JsonBody<WEBHOOK_BYTES>,
) -> Result<Json<CarrierEventTaken>, ApiError> {
    // An account that nobody has answers like a bad signature, so that accounts cannot be probed.
    let Named(account) = account.map_err(|_| not_signed())?;
    let signature = headers.get(SIGNATURE).and_then(|value| value.to_str().ok());
    let taken = carrier_webhook(&app, MerchantId(account), signature, &body).await.map_err(|error| match error {
        CarrierWebhookError::NotSigned => not_signed(),
        CarrierWebhookError::NoEvent => ApiError::Malformed("it is not a carrier event".to_owned()),
        CarrierWebhookError::Unusable(why) => ApiError::Internal(why.to_string()),
        CarrierWebhookError::Failed(failed) => failed.into(),
    })?;
    presence.authenticate();
    let (result, rma_identifier) = match taken {
        EventOutcome::Moved(rma) => ("moved", Some(rma)),
        EventOutcome::Unchanged(rma) => ("unchanged", Some(rma)),
        EventOutcome::Waiting(rma) => ("kept", rma),
        EventOutcome::Ignored => ("ignored", None),
    };
    Ok(Json(CarrierEventTaken { result, rma_identifier }))
}

/// The error of a webhook that the account's secret did not sign.
fn not_signed() -> ApiError {
    Event::SignatureRefused.log();
    ApiError::NotSigned
}
