//! Credentials, as their holders see them: `/v1/credentials`.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use chrono::TimeDelta;
use secrecy::ExposeSecret as _;
use wire::answer::ErrorBody;
use wire::merchants::token::{RotationRequest, RotationResponse};
use wire::time;

use super::tokens::{Guess, with_basic};
use crate::app::App;
use crate::flow::merchants::rotate_credential::{LONGEST_OVERLAP, RotateError, USUAL_OVERLAP, rotate_credential};
use crate::http::address::Client;
use crate::http::body::{AnyBody, MediaType};
use crate::http::error::ApiError;
use crate::http::listener::Presence;
use crate::http::size::TOKEN_BYTES;

/// Replace the secret of a credential.
///
/// The credential authenticates itself, as for a token: id and secret in the body, or as HTTP Basic. The answer has a new secret, this
/// once. The old one goes on working for `overlap_seconds`, so that all of your systems can change over; tokens that are fetched with it
/// end with it too. If the answer is lost, send the request again with the old secret: as long as no token was fetched with the new
/// one, you get another. A further rotation ends the overlap of the one before.
#[utoipa::path(
    post,
    path = "/v1/credentials/rotate",
    tag = "tokens",
    request_body(content((RotationRequest = "application/json"), (RotationRequest = "application/x-www-form-urlencoded"))),
    responses(
        (status = 200, description = "The new secret.", body = RotationResponse),
        (status = 400, description = "The request is malformed, incomplete or has two credentials (`invalid_request`).", body = ErrorBody),
        (status = 401, description = "The client id or secret is wrong, or the credential was revoked, has expired or is not for the caller's network or client certificate (`invalid_client`).", body = ErrorBody),
        (status = 409, description = "The secret was replaced before, and the new one is in use.", body = ErrorBody),
        (status = 413, description = "The body is larger than 16 KiB.", body = ErrorBody),
        (status = 415, description = "The body is neither JSON nor a form.", body = ErrorBody),
    )
)]
pub(crate) async fn rotate(
    State(app): State<App>,
    address: Client,
    presence: Presence,
    headers: HeaderMap,
    body: AnyBody<TOKEN_BYTES>,
) -> Result<Json<RotationResponse>, ApiError> {
    let request = match body.media_type {
        MediaType::Json => RotationRequest::from_json(&body.bytes),
        MediaType::Form => RotationRequest::from_form(&body.bytes),
        MediaType::Lines | MediaType::Other => {
            return Err(ApiError::UnsupportedMediaType("application/json or application/x-www-form-urlencoded"));
        }
    };
    let malformed = |malformed: wire::json::Malformed| ApiError::Malformed(malformed.0);
    let request = request.map_err(malformed)?;
    let overlap = request.overlap_seconds.map_or(USUAL_OVERLAP, |seconds| TimeDelta::seconds(seconds.into()));
    if overlap > LONGEST_OVERLAP {
        let longest = LONGEST_OVERLAP.num_seconds();
        return Err(ApiError::Malformed(format!("overlap_seconds is at most {longest}")));
    }
    let guess = Guess::new(&app, address, &presence, with_basic(request.client().map_err(malformed)?, &headers)?)?;
    let rotated = rotate_credential(&app, &guess.shown(), overlap).await.map_err(|error| match error {
        RotateError::Client(error) => guess.failed(&app, error),
        RotateError::Replaced => ApiError::Conflict(
            "The secret was replaced before, and a token was fetched with the new one. Send the new secret, or ask the operator for a new credential."
                .to_owned(),
        ),
    })?;
    presence.authenticate();
    Ok(Json(RotationResponse {
        client_id: guess.client_id().to_owned(),
        client_secret: rotated.client_secret.expose_secret().to_owned(),
        old_secret_expires_at: time::write(rotated.old_until),
    }))
}
