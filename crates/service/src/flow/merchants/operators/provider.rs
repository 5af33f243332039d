//! The identity provider of single sign-on: `OpenID Connect` with state, nonce and PKCE. Calls go through the only HTTP client.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use domain::messages::delivery::Outcome;
use futures::future::BoxFuture;
use openidconnect::core::{
    CoreAuthDisplay, CoreAuthPrompt, CoreAuthenticationFlow, CoreErrorResponseType, CoreGenderClaim, CoreJsonWebKey,
    CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm, CoreProviderMetadata, CoreRevocableToken, CoreRevocationErrorResponse,
    CoreTokenIntrospectionResponse, CoreTokenType,
};
use openidconnect::{
    AdditionalClaims, AsyncHttpClient, AuthorizationCode, Client, ClientId, ClientSecret, CsrfToken, EmptyExtraTokenFields,
    EndpointMaybeSet, EndpointNotSet, EndpointSet, HttpRequest, HttpResponse, IdTokenFields, IssuerUrl, Nonce, PkceCodeChallenge,
    PkceCodeVerifier, RedirectUrl, Scope, StandardErrorResponse, StandardTokenResponse, TokenResponse as _,
};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ticket::Authorisation;
use crate::app::App;
use crate::platform::entropy::Entropy;
use crate::platform::keys::bearer;

/// The path to which the provider sends people back.
pub const RETURN_PATH: &str = "/sign-in/single/back";
/// The bytes of an answer that are read; a document with many keys fits.
const MOST_READ: usize = 512 * 1024;

/// The signatures that are accepted: those with a public key.
const ALGORITHMS: [CoreJwsSigningAlgorithm; 8] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha384,
    CoreJwsSigningAlgorithm::RsaSsaPssSha512,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EdDsa,
];

/// The reasons that the provider's word is not taken. Their texts hold nothing of the person.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    #[error("no identity provider is set up: console.oidc.issuer is empty")]
    NotSetUp,
    #[error("the settings in console.oidc cannot be used: {0}")]
    Settings(String),
    #[error("the identity provider could not be asked: {0}")]
    Unreachable(String),
    /// The state, the nonce, the signature, the issuer, the audience or the time is not right.
    #[error("the identity provider's answer was not accepted: {0}")]
    Refused(String),
}

/// A person as the provider knows them.
pub struct Identity {
    pub email: Option<String>,
    /// False only if the provider says that nobody has checked it.
    pub email_is_verified: bool,
    pub name: Option<String>,
    pub groups: Vec<String>,
}

/// All claims that the library does not read itself.
#[derive(Clone, Deserialize, Serialize)]
struct OtherClaims {
    #[serde(flatten)]
    claims: BTreeMap<String, Value>,
}

/// Shows nothing, because claims are personal.
impl std::fmt::Debug for OtherClaims {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OtherClaims").finish_non_exhaustive()
    }
}

impl AdditionalClaims for OtherClaims {}

type Fields =
    IdTokenFields<OtherClaims, EmptyExtraTokenFields, CoreGenderClaim, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm>;

type Provider = Client<
    OtherClaims,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    StandardTokenResponse<Fields, CoreTokenType>,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// A call that brought no answer.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct NoAnswer(String);

/// The only HTTP client, as the library calls it.
struct Http<'a>(&'a App);

impl<'c> AsyncHttpClient<'c> for Http<'_> {
    type Error = NoAnswer;
    type Future = BoxFuture<'c, Result<HttpResponse, NoAnswer>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(call(self.0, request))
    }
}

/// Makes one call of the protocol.
async fn call(app: &App, request: HttpRequest) -> Result<HttpResponse, NoAnswer> {
    let (head, body) = request.into_parts();
    let mut outgoing = app.client.request(head.method, &head.uri.to_string());
    outgoing.headers = head.headers;
    outgoing.body = Bytes::from(body);
    (outgoing.most_read, outgoing.most_kept) = (MOST_READ, MOST_READ);
    let result = app.client.call(outgoing).await;
    let status = match result.outcome {
        Outcome::Answered { status, .. } => status,
        Outcome::TimedOut => return Err(NoAnswer("it did not answer in time".to_owned())),
        Outcome::Unreachable(why) | Outcome::Refused(why) => return Err(NoAnswer(why)),
    };
    let mut response = HttpResponse::new(result.answer.to_vec());
    *response.status_mut() = openidconnect::http::StatusCode::from_u16(status).map_err(|_| NoAnswer("its status is unknown".to_owned()))?;
    Ok(response)
}

/// The provider, from its discovery document and keys.
async fn discover(app: &App, back: &str) -> Result<Provider, ProviderError> {
    let oidc = &app.settings.console.oidc;
    let settings = |error: &dyn std::fmt::Display| ProviderError::Settings(error.to_string());
    let issuer = oidc.issuer().ok_or(ProviderError::NotSetUp)?;
    let issuer = IssuerUrl::new(issuer.to_owned()).map_err(|error| settings(&error))?;
    let secret = oidc.client_secret().map_err(|error| settings(&error))?;
    let back = RedirectUrl::new(back.to_owned()).map_err(|error| settings(&error))?;
    let http = Http(app);
    let metadata = CoreProviderMetadata::discover_async(issuer, &http).await;
    let metadata = metadata.map_err(|error| ProviderError::Unreachable(explain(&error)))?;
    let secret = secret.map(|secret| ClientSecret::new(secret.expose_secret().to_owned()));
    Ok(Client::from_provider_metadata(metadata, ClientId::new(oidc.client_id.clone()), secret).set_redirect_uri(back))
}

/// An error with its causes.
fn explain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

fn new_text(entropy: &Entropy) -> String {
    URL_SAFE_NO_PAD.encode(entropy.bytes::<32>())
}

/// The address of the provider to which a person is sent, and the ticket with which they come back.
pub(super) async fn begin(app: &App, back: &str, next: &str) -> Result<(String, Authorisation), ProviderError> {
    let provider = discover(app, back).await?;
    let (state, nonce, verifier) = (new_text(&app.entropy), new_text(&app.entropy), PkceCodeVerifier::new(new_text(&app.entropy)));
    let challenge = PkceCodeChallenge::from_code_verifier_sha256(&verifier);
    let (of_request, nonce_of_request) = (CsrfToken::new(state.clone()), Nonce::new(nonce.clone()));
    let (address, ..) = provider
        .authorize_url(CoreAuthenticationFlow::AuthorizationCode, || of_request, || nonce_of_request)
        .add_scopes(["email", "profile"].map(|scope| Scope::new(scope.to_owned())))
        .set_pkce_challenge(challenge)
        .url();
    let verifier = SecretString::from(verifier.secret().clone());
    Ok((address.into(), Authorisation { state: state.into(), nonce: nonce.into(), verifier, next: next.to_owned() }))
}

/// Exchanges the code that a person came back with, and checks the ID token.
pub(super) async fn finish(
    app: &App,
    back: &str,
    authorisation: &Authorisation,
    state: &str,
    code: SecretString,
) -> Result<Identity, ProviderError> {
    if !bearer::same(&bearer::hash(state), &bearer::hash(authorisation.state.expose_secret())) {
        return Err(ProviderError::Refused("it belongs to another sign-in".to_owned()));
    }
    let provider = discover(app, back).await?;
    let http = Http(app);
    let exchange = provider.exchange_code(AuthorizationCode::new(code.expose_secret().to_owned()));
    let exchange = exchange.map_err(|error| ProviderError::Refused(explain(&error)))?;
    let verifier = PkceCodeVerifier::new(authorisation.verifier.expose_secret().to_owned());
    let tokens = exchange.set_pkce_verifier(verifier).request_async(&http).await;
    // The provider's own words could hold anything.
    let tokens = tokens.map_err(|_| ProviderError::Refused("it did not take the code".to_owned()))?;
    let token = tokens.id_token().ok_or_else(|| ProviderError::Refused("it has no ID token".to_owned()))?;
    let clock = app.clock.clone();
    let verifier = provider.id_token_verifier().set_allowed_algs(ALGORITHMS).set_time_fn(move || clock.now());
    let nonce = Nonce::new(authorisation.nonce.expose_secret().to_owned());
    let claims = token.claims(&verifier, &nonce).map_err(|error| ProviderError::Refused(explain(&error)))?;
    let groups = claims.additional_claims().claims.get(&app.settings.console.oidc.groups_claim);
    Ok(Identity {
        email: claims.email().map(|email| email.to_string()),
        email_is_verified: claims.email_verified() != Some(false),
        name: claims.name().and_then(|name| name.get(None)).map(|name| name.to_string()),
        groups: texts(groups),
    })
}

/// The texts of a claim, which is one text or a list of them.
fn texts(claim: Option<&Value>) -> Vec<String> {
    match claim {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(texts)) => texts.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}
