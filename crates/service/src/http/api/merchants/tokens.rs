//! Access tokens: `/oauth/token`.

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::{Extension, Json};
use secrecy::{ExposeSecret as _, SecretString};
use wire::answer::ErrorBody;
use wire::merchants::token::{BasicCredential, TokenRequest, TokenResponse, TwoCredentials};

use crate::app::App;
use crate::flow::merchants::client::{ClientError, Shown};
use crate::flow::merchants::issue_token::{IssueTokenError, issue_token};
use crate::http::address::Client;
use crate::http::asker::{Asker, Known};
use crate::http::body::{AnyBody, MediaType};
use crate::http::error::{ApiError, Exceeded};
use crate::http::listener::Presence;
use crate::http::rate;
use crate::http::size::TOKEN_BYTES;
use crate::node::rate::TooManyGuesses;
use crate::platform::client_certificate::ClientCertificate;

/// Get an access token.
///
/// The OAuth 2.0 client credentials flow. The client's id and secret are in the body, or in the header `Authorization` as HTTP
/// Basic (RFC 6749, 2.3.1), but not in both. With `scope` the token has only some of the credential's scopes (RFC 6749, 3.3), and
/// otherwise all of them. A token is valid for 25 hours, or until its credential expires, and works for every route that its scopes allow. Reuse
/// it until it expires. If the credential is bound to a client certificate, this call and those with the token need a TLS connection with
/// that certificate (RFC 8705).
#[utoipa::path(
    post,
    path = "/oauth/token",
    tag = "tokens",
    request_body(content((TokenRequest = "application/json"), (TokenRequest = "application/x-www-form-urlencoded"))),
    responses(
        (status = 200, description = "The access token.", body = TokenResponse),
        (status = 400, description = "The request is malformed, incomplete or has two credentials (`invalid_request`), or the grant is not supported (`unsupported_grant_type`), or the scope is unknown or not granted (`invalid_scope`).", body = ErrorBody),
        (status = 401, description = "The client id or secret is wrong, or the credential was revoked, has expired or is not for the caller's network or client certificate (`invalid_client`).", body = ErrorBody),
        (status = 413, description = "The body is larger than 16 KiB.", body = ErrorBody),
        (status = 415, description = "The body is neither JSON nor a form.", body = ErrorBody),
    )
)]
pub(crate) async fn issue(
    State(app): State<App>,
    address: Client,
    presence: Presence,
    Extension(asker): Extension<Asker>,
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
    let request = with_basic(request.map_err(|malformed| ApiError::MalformedTokenRequest(malformed.0))?, &headers)?;
    match request.grant_type.as_deref() {
        None => return Err(ApiError::IncompleteTokenRequest("grant_type")),
        Some("client_credentials") => {}
        Some(_) => return Err(ApiError::UnsupportedGrant),
    }
    let wants = request.scope.clone();
    let guess = Guess::new(&app, address, &presence, request)?;
    let issued = issue_token(&app, &guess.shown(), wants.as_deref()).await.map_err(|error| match error {
        IssueTokenError::Client(error) => guess.failed(&app, error),
        IssueTokenError::NotGranted { granted } => ApiError::InvalidScope(granted),
    })?;
    presence.authenticate();
    asker.is(Known { merchant: issued.merchant, handle: None, client_id: guess.client_id().into() });
    let answer = TokenResponse {
        access_token: issued.token.expose_secret().to_owned(),
        token_type: "Bearer",
        expires_in: issued.lifetime.num_seconds(),
        scope: issued.scopes.to_string(),
        created_at: issued.issued_at.timestamp(),
    };
    Ok(Json(answer))
}

/// A client id and secret from an address; wrong ones are counted.
pub(super) struct Guess {
    address: Client,
    certificate: Option<ClientCertificate>,
    client_id: String,
    client_secret: SecretString,
    second: u64,
}

impl Guess {
    /// Takes id and secret from the request, unless too many were wrong.
    pub(super) fn new(app: &App, address: Client, presence: &Presence, request: TokenRequest) -> Result<Self, ApiError> {
        let client_id = request.client_id.ok_or(ApiError::IncompleteTokenRequest("client_id"))?;
        let client_secret = request.client_secret.ok_or(ApiError::IncompleteTokenRequest("client_secret"))?;
        let second = app.clock.uptime().as_secs();
        app.rates.guesses.check(address.counted, &client_id, second).map_err(|exceeded| match exceeded {
            TooManyGuesses::Client(verdict) => rate::refuse(app, Exceeded::SecretsOfClient, verdict),
            TooManyGuesses::Address(verdict) => rate::refuse(app, Exceeded::SecretsOfAddress, verdict),
        })?;
        Ok(Self { address, certificate: presence.certificate(), client_id, client_secret, second })
    }

    pub(super) fn shown(&self) -> Shown<'_> {
        let Self { client_id, client_secret, certificate, .. } = self;
        Shown { client_id, client_secret, from: self.address.exact, certificate: *certificate }
    }

    pub(super) fn client_id(&self) -> &str {
        &self.client_id
    }

    /// The answer to a client that is not known.
    pub(super) fn failed(&self, app: &App, error: ClientError) -> ApiError {
        match error {
            ClientError::Wrong => {
                app.rates.guesses.count(self.address.counted, &self.client_id, self.second);
                ApiError::InvalidClient
            }
            ClientError::Failed(failed) => failed.into(),
        }
    }
}

/// The request with the credential in `Authorization: Basic …`, if it has one.
pub(super) fn with_basic(request: TokenRequest, headers: &HeaderMap) -> Result<TokenRequest, ApiError> {
    let Some(encoded) = basic(headers) else { return Ok(request) };
    let credential = BasicCredential::read(encoded).ok_or(ApiError::InvalidClient)?;
    request.authenticated_by(credential).map_err(|TwoCredentials| ApiError::TwoCredentials)
}

/// The credential in `Authorization: Basic …`; other schemes are not for this endpoint.
fn basic(headers: &HeaderMap) -> Option<&str> {
    let (scheme, encoded) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("basic").then(|| encoded.trim())
}
