//! Access tokens: `/oauth/token`.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use secrecy::ExposeSecret as _;
use wire::answer::ErrorBody;
use wire::merchants::token::{BasicCredential, TokenRequest, TokenResponse, TwoCredentials};

use crate::app::App;
use crate::flow::merchants::issue_token::{IssueTokenError, issue_token};
use crate::http::address::Client;
use crate::http::body::{AnyBody, MediaType};
use crate::http::error::{ApiError, Exceeded};
use crate::http::listener::Presence;
use crate::http::rate;
use crate::http::size::TOKEN_BYTES;
use crate::node::rate::TooManyGuesses;
use crate::platform::keys::bearer;

/// Get an access token.
///
/// The OAuth 2.0 client credentials flow. The client's id and secret are in the body, or in the header `Authorization` as HTTP
/// Basic (RFC 6749, 2.3.1), but not in both. A token is valid for 25 hours and works for every route that its scopes allow. Reuse
/// it until it expires.
#[utoipa::path(
    post,
    path = "/oauth/token",
    tag = "tokens",
    request_body(content((TokenRequest = "application/json"), (TokenRequest = "application/x-www-form-urlencoded"))),
    responses(
        (status = 200, description = "The access token.", body = TokenResponse),
        (status = 400, description = "The request is malformed, incomplete or has two credentials (`invalid_request`), or the grant is not supported (`unsupported_grant_type`).", body = ErrorBody),
        (status = 401, description = "The client id or secret is wrong, or the credential was revoked (`invalid_client`).", body = ErrorBody),
        (status = 413, description = "The body is larger than 16 KiB.", body = ErrorBody),
        (status = 415, description = "The body is neither JSON nor a form.", body = ErrorBody),
    )
)]
pub(crate) async fn issue(
    State(app): State<App>,
    Client(address): Client,
    presence: Presence,
    headers: HeaderMap,
    body: AnyBody<TOKEN_BYTES>,
) -> Result<Json<TokenResponse>, ApiError> {
    let request = match body.media_type {
        MediaType::Json => TokenRequest::from_json(&body.bytes),
        MediaType::Form => TokenRequest::from_form(&body.bytes),
        MediaType::Lines | MediaType::Other => {
            return Err(ApiError::UnsupportedMediaType("application/json or application/x-www-form-urlencoded"));
        }
    };
    let mut request = request.map_err(|malformed| ApiError::Malformed(malformed.0))?;
    if let Some(encoded) = basic(&headers) {
        let credential = BasicCredential::read(encoded).ok_or(ApiError::InvalidClient)?;
        request = request.authenticated_by(credential).map_err(|TwoCredentials| ApiError::TwoCredentials)?;
    }
    match request.grant_type.as_deref() {
        None => return Err(ApiError::IncompleteTokenRequest("grant_type")),
        Some("client_credentials") => {}
        Some(_) => return Err(ApiError::UnsupportedGrant),
    }
    let client_id = request.client_id.ok_or(ApiError::IncompleteTokenRequest("client_id"))?;
    let client_secret = request.client_secret.ok_or(ApiError::IncompleteTokenRequest("client_secret"))?;

    let second = app.clock.uptime().as_secs();
    app.rates.guesses.check(address, &client_id, second).map_err(|exceeded| match exceeded {
        TooManyGuesses::Client(verdict) => rate::refuse(&app, Exceeded::SecretsOfClient, verdict),
        TooManyGuesses::Address(verdict) => rate::refuse(&app, Exceeded::SecretsOfAddress, verdict),
    })?;
    let issued = issue_token(&app, &client_id, &client_secret).await.map_err(|error| match error {
        IssueTokenError::WrongClient => {
            app.rates.guesses.count(address, &client_id, second);
            ApiError::InvalidClient
        }
        IssueTokenError::Failed(failed) => failed.into(),
    })?;
    presence.authenticate();
    let answer = TokenResponse {
        access_token: issued.token.expose_secret().to_owned(),
        token_type: "Bearer",
        expires_in: bearer::LIFETIME.num_seconds(),
        scope: issued.scopes.to_string(),
        created_at: issued.issued_at.timestamp(),
    };
    Ok(Json(answer))
}

/// The credential in `Authorization: Basic …`; other schemes are not for this endpoint.
fn basic(headers: &HeaderMap) -> Option<&str> {
    let (scheme, encoded) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("basic").then(|| encoded.trim())
}

/// Keeps every answer of the token endpoint out of caches, errors included.
pub(crate) async fn forbid_caching(mut response: Response) -> Response {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
