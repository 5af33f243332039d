//! The errors of the API, and how they are rendered.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::merchants::access::{Scope, Scopes};
use domain::merchants::operator::Role;
use uuid::Uuid;
use wire::answer::{ErrorBody, ProblemBody};
use wire::fault::Fault;
use wire::orders::order::Refusal;

use super::size::{HEAD_BYTES, MOST_BYTES, MOST_HEADERS};

/// An error of an API call. [`ApiError::render`] turns it into a response, once the request's id and the format that the
/// caller accepts are known.
#[derive(Clone, Debug)]
pub(super) enum ApiError {
    Malformed(String),
    BodyTooSlow,
    BadQuery(String),
    BadHeader(String),
    /// The head of the request is not HTTP.
    MalformedHead,
    /// The head of the request can be read in two ways.
    AmbiguousHead,
    UriTooLong,
    HeadTooLarge,
    UnknownVersion,
    /// Carries the name of the missing field.
    IncompleteTokenRequest(&'static str),
    /// A token request that cannot be read. Carries why.
    MalformedTokenRequest(String),
    /// A token request with a secret in the header and one in the body.
    TwoCredentials,
    UnsupportedGrant,
    /// A token request for a scope that is unknown, or that the credential does not have. Carries those that it has.
    InvalidScope(Scopes),
    Unauthorized {
        token_given: bool,
    },
    /// A call of the operator API without a personal token that works.
    NoPersonalToken {
        token_given: bool,
    },
    /// The role of the personal token does not suffice.
    RoleTooLow {
        needed: Role,
        has: Role,
    },
    /// The operator API has no such command.
    NoSuchOperation,
    NotSigned,
    InvalidClient,
    /// Carries the scopes of which the token needs one.
    MissingScope(&'static [Scope]),
    /// The token's credential may not be used from the caller's network.
    ForeignNetwork,
    Paused,
    /// There is no such record, or it is another merchant's; the answer never tells which. The middleware puts it into words.
    NotFound,
    /// The same in words, with what to do next.
    Absent(String),
    /// There is no such route.
    NoSuchRoute,
    MethodNotAllowed,
    /// Carries the limit of the route in bytes.
    TooLarge(usize),
    /// Carries the media types that the route reads.
    UnsupportedMediaType(&'static str),
    ImportRunning,
    /// Carries whole sentences, with what to do next.
    Conflict(String),
    /// Carries whole sentences, with what to do next.
    Gone(&'static str),
    Faulty(Vec<Fault>),
    TooManyRequests {
        exceeded: Exceeded,
        limit: u32,
        /// In seconds.
        retry_after: u32,
    },
    /// An import that stopped half way and can be resumed.
    Interrupted(Uuid, Box<Self>),
    MerchantErred,
    MerchantTooSlow,
    /// Carries the cause, which is logged and not shown to the caller.
    Unavailable(String),
    /// Carries the cause, which is logged and not shown to the caller.
    Internal(String),
}

/// A limit that a request can exceed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Exceeded {
    Requests,
    /// Requests that this node is working on.
    RequestsInFlight,
    /// One address's requests that this node is working on.
    RequestsOfAddressInFlight,
    /// Requests of one personal token.
    RequestsOfToken,
    /// Wrong secrets that one address sent for one client.
    SecretsOfClient,
    /// Wrong secrets that one address sent for all clients.
    SecretsOfAddress,
    /// Order messages that this node is working on.
    MessagesInFlight,
    /// One merchant's order messages that this node is working on.
    MessagesOfMerchant,
    /// Mebibytes of request bodies on this node.
    BodyMemory,
    /// Mebibytes of request bodies of one merchant, or of one address, on this node.
    BodyMemoryOfCaller,
    /// Imports that this node runs.
    Imports,
    /// One merchant's imports that this node runs.
    ImportsOfMerchant,
    /// Attempts to deliver one message.
    AttemptsAtMessage,
    /// Live feeds on this node.
    Followers,
    /// One merchant's live feeds on this node.
    FollowersOfMerchant,
}

impl Exceeded {
    /// The label in the metrics.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::RequestsInFlight => "requests_in_flight",
            Self::RequestsOfAddressInFlight => "requests_of_address_in_flight",
            Self::RequestsOfToken => "requests_of_token",
            Self::SecretsOfClient => "secrets_of_client",
            Self::SecretsOfAddress => "secrets_of_address",
            Self::MessagesInFlight => "messages_in_flight",
            Self::MessagesOfMerchant => "messages_of_merchant",
            Self::BodyMemory => "body_memory",
            Self::BodyMemoryOfCaller => "body_memory_of_caller",
            Self::Imports => "imports",
            Self::ImportsOfMerchant => "imports_of_merchant",
            Self::AttemptsAtMessage => "attempts_at_message",
            Self::Followers => "followers",
            Self::FollowersOfMerchant => "followers_of_merchant",
        }
    }

    /// The unit of the limit, as in "The limit of 10 …".
    const fn unit(self, limit: u32) -> &'static str {
        match self {
            Self::Imports if limit == 1 => "import at a time",
            Self::Imports => "imports at a time",
            Self::ImportsOfMerchant if limit == 1 => "import at a time for one merchant",
            Self::ImportsOfMerchant => "imports at a time for one merchant",
            Self::Requests => "requests per minute from one address",
            Self::RequestsInFlight => "requests at a time",
            Self::RequestsOfAddressInFlight => "requests at a time from one address",
            Self::RequestsOfToken => "requests per minute of one personal token",
            Self::SecretsOfClient => "wrong secrets per minute for one client from one address",
            Self::SecretsOfAddress => "wrong secrets per minute from one address",
            Self::MessagesInFlight => "order messages at a time",
            Self::MessagesOfMerchant => "order messages at a time for one merchant",
            Self::BodyMemory => "MiB of request bodies at a time",
            Self::BodyMemoryOfCaller => "MiB of request bodies at a time for one merchant or address",
            Self::AttemptsAtMessage => "attempts per hour at one message",
            Self::Followers => "live feeds at a time",
            Self::FollowersOfMerchant => "live feeds at a time for one merchant",
        }
    }
}

/// The format of an error body.
#[derive(Clone, Copy)]
pub(super) enum ErrorFormat {
    /// Plain JSON, as in [`ErrorBody`].
    Json,
    /// Problem details, as in RFC 9457.
    Problem,
}

pub(super) const PROBLEM: &str = "application/problem+json";

/// The header of a response that carries the request's id.
pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

impl ErrorFormat {
    /// Reads the caller's `Accept`; plain JSON unless it names problem details.
    pub(super) fn accepted_by(headers: &HeaderMap) -> Self {
        let problem = headers.get_all(header::ACCEPT).iter().any(|accept| {
            let types = accept.to_str().unwrap_or_default().split(',');
            types.filter_map(|one| one.split(';').next()).any(|one| one.trim().eq_ignore_ascii_case(PROBLEM))
        });
        if problem { Self::Problem } else { Self::Json }
    }
}

impl ApiError {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Malformed(_)
            | Self::BadQuery(_)
            | Self::BadHeader(_)
            | Self::MalformedHead
            | Self::AmbiguousHead
            | Self::UnknownVersion
            | Self::IncompleteTokenRequest(_)
            | Self::MalformedTokenRequest(_)
            | Self::TwoCredentials
            | Self::UnsupportedGrant
            | Self::InvalidScope(_) => StatusCode::BAD_REQUEST,
            Self::Unauthorized { .. } | Self::NoPersonalToken { .. } | Self::NotSigned | Self::InvalidClient => StatusCode::UNAUTHORIZED,
            Self::MissingScope(_) | Self::RoleTooLow { .. } | Self::ForeignNetwork | Self::Paused => StatusCode::FORBIDDEN,
            Self::NotFound | Self::Absent(_) | Self::NoSuchRoute | Self::NoSuchOperation => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::BodyTooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::ImportRunning | Self::Conflict(_) => StatusCode::CONFLICT,
            Self::Gone(_) => StatusCode::GONE,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UriTooLong => StatusCode::URI_TOO_LONG,
            Self::HeadTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::UnsupportedMediaType(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Faulty(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::TooManyRequests { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::MerchantErred => StatusCode::BAD_GATEWAY,
            Self::MerchantTooSlow | Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Interrupted(_, cause) => cause.status(),
        }
    }

    /// The text for the caller: what happened, why, and what to do next.
    pub(super) fn message(&self) -> String {
        match self {
            Self::Malformed(why) | Self::MalformedTokenRequest(why) => format!("The body cannot be read: {why}."),
            Self::BodyTooSlow => "The body did not arrive in time. Send the request again.".to_owned(),
            Self::BadQuery(why) => format!("The query is invalid: {why}."),
            Self::BadHeader(why) => format!("A header is invalid: {why}."),
            Self::MalformedHead => "The request's head is not valid HTTP. Correct its first line and its headers.".to_owned(),
            Self::AmbiguousHead => {
                "The request's head can be read in two ways. Send one Host, which is that of the URL, and either a Content-Length or Transfer-Encoding: chunked.".to_owned()
            }
            Self::UriTooLong => "The request's path and query are too long. Shorten them.".to_owned(),
            Self::HeadTooLarge => {
                format!("The request's headers exceed the limit of {MOST_HEADERS} headers or {HEAD_BYTES} bytes. Send fewer or shorter ones.")
            }
            Self::UnknownVersion => "This Api-Version is not supported. Send 3, or leave the header out.".to_owned(),
            Self::IncompleteTokenRequest(field) => {
                format!("The request lacks {field}. Send client_id and client_secret, as JSON or as a form, and for a token also grant_type=client_credentials.")
            }
            Self::TwoCredentials => {
                "The request has a client credential in the header Authorization and another in the body. Send it in one of the two.".to_owned()
            }
            Self::InvalidScope(granted) => {
                format!("The scope has a name that is unknown or not granted. This credential has: {granted}. Send some of these, or leave scope out to get all.")
            }
            Self::UnsupportedGrant => "This grant_type is not supported. Send client_credentials.".to_owned(),
            Self::Unauthorized { token_given: false } => {
                "The request has no access token. Get one from POST /oauth/token and send it as Authorization: Bearer <access token>.".to_owned()
            }
            Self::Unauthorized { token_given: true } => {
                "The access token is unknown, expired or revoked. Get a new one from POST /oauth/token.".to_owned()
            }
            Self::NoPersonalToken { token_given: false } => {
                "The request has no personal token. Make one in the console under Your account, and send it as Authorization: Bearer <token>.".to_owned()
            }
            Self::NoPersonalToken { token_given: true } => {
                "The personal token is unknown, expired or revoked, or its operator is disabled. Make a new one in the console under Your account.".to_owned()
            }
            Self::RoleTooLow { needed, has } => {
                format!("This takes the role {needed}, and the token has the role {has}. Nothing was done. Make a token with that role, or ask somebody who has it.")
            }
            Self::NoSuchOperation => "There is no such route in the operator API; see /admin/v1/openapi.json.".to_owned(),
            Self::NotSigned => {
                "The webhook is not signed with the secret of this account, or it is older than 30 days. Compare its URL with `backhaul carrier show`, and its secret with the carrier's.".to_owned()
            }
            Self::InvalidClient => "The client_id or client_secret is wrong, or the credential was revoked, has expired or may not be used from this network or without its client certificate. Check both, or ask the operator for a new credential.".to_owned(),
            Self::MissingScope(scopes) => {
                let scopes = scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(" or ");
                format!("The access token lacks the scope {scopes}. Ask the operator for a credential with it.")
            }
            Self::ForeignNetwork => {
                "The access token may not be used from this network. Call from one of the networks of its credential, or ask the operator for a credential with this one.".to_owned()
            }
            Self::Paused => "The merchant is paused, so its requests are refused. Ask the operator to resume it.".to_owned(),
            Self::NotFound => "There is no such record. Check the identifiers in the request.".to_owned(),
            Self::NoSuchRoute => "There is no such route; see /openapi.json.".to_owned(),
            Self::MethodNotAllowed => "This path does not support the method. The header Allow and /openapi.json list those that it does.".to_owned(),
            Self::TooLarge(MOST_BYTES) => format!("The body exceeds the limit of {MOST_BYTES} bytes (5 MiB). Split it into several requests."),
            Self::TooLarge(limit) => format!("The body exceeds the limit of {limit} bytes ({} KiB).", limit / 1024),
            Self::UnsupportedMediaType(wanted) => format!("The Content-Type must be {wanted}."),
            Self::ImportRunning => {
                "Another request is running this import. Let it finish, or try again once it has been silent for 15 seconds.".to_owned()
            }
            Self::Conflict(why) | Self::Absent(why) => why.clone(),
            Self::Gone(why) => (*why).to_owned(),
            Self::Interrupted(import, cause) => format!(
                "{} Everything read so far is stored. Send the same file again to POST /v1/order_imports?resume={import}.",
                cause.message()
            ),
            Self::Faulty(faults) => match faults.len() {
                1 => "The message has a fault, so nothing was stored. See errors for what to fix.".to_owned(),
                many => format!("The message has {many} faults, so nothing was stored. See errors for what to fix."),
            },
            Self::TooManyRequests { exceeded, limit, retry_after } => {
                let unit = exceeded.unit(*limit);
                format!("The limit of {limit} {unit} is reached. Retry in {retry_after} s at the earliest, with exponential backoff.")
            }
            Self::MerchantErred => {
                "The merchant's system is unreachable or returned an error, so no exchange can be offered. Go on with a refund or a gift card."
                    .to_owned()
            }
            Self::MerchantTooSlow => {
                "The merchant's system did not answer in time, so no exchange can be offered. Go on with a refund or a gift card."
                    .to_owned()
            }
            Self::Unavailable(_) => "The service is unavailable at the moment. Try again with exponential backoff.".to_owned(),
            Self::Internal(_) => "The service failed. Try again with exponential backoff; if it keeps failing, quote the request_id to support.".to_owned(),
        }
    }

    /// The OAuth error code, for the token endpoint.
    fn oauth_name(&self) -> Option<&'static str> {
        match self {
            Self::IncompleteTokenRequest(_) | Self::MalformedTokenRequest(_) | Self::TwoCredentials => Some("invalid_request"),
            Self::UnsupportedGrant => Some("unsupported_grant_type"),
            Self::InvalidScope(_) => Some("invalid_scope"),
            Self::InvalidClient => Some("invalid_client"),
            _ => None,
        }
    }

    /// The kind of a 404, a route that does not exist or a record that is absent: its code, and its type as in RFC 9457.
    const fn kind(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::NoSuchRoute | Self::NoSuchOperation => Some(("no_such_route", "urn:backhaul:problem:no-such-route")),
            Self::NotFound | Self::Absent(_) => Some(("not_found", "urn:backhaul:problem:not-found")),
            _ => None,
        }
    }

    /// The `WWW-Authenticate` header.
    fn challenge(&self) -> Option<&'static str> {
        match self {
            Self::Unauthorized { token_given: true } | Self::NoPersonalToken { token_given: true } => {
                Some(r#"Bearer realm="backhaul", error="invalid_token""#)
            }
            Self::Unauthorized { token_given: false } | Self::NoPersonalToken { token_given: false } => Some(r#"Bearer realm="backhaul""#),
            Self::InvalidClient => Some(r#"Basic realm="backhaul", charset="UTF-8""#),
            Self::MissingScope(_) => Some(r#"Bearer realm="backhaul", error="insufficient_scope""#),
            _ => None,
        }
    }

    /// Logs a failure of the service. Nothing else logs it; a caller's mistake is not logged as an error.
    pub(super) fn log(&self, request_id: &str, route: &str) {
        match self {
            Self::Unavailable(why) | Self::Internal(why) => {
                tracing::error!(request_id, route, why, status = self.status().as_u16(), "handling a request failed");
            }
            Self::Interrupted(_, cause) => cause.log(request_id, route),
            _ => {}
        }
    }

    /// The body of the response.
    pub(super) fn body(&self, request_id: &str, format: ErrorFormat) -> Vec<u8> {
        let message = self.message();
        let errors = match self {
            Self::Faulty(faults) => faults.as_slice(),
            _ => &[],
        };
        let body = match format {
            ErrorFormat::Json => {
                let code = self.kind().map(|(code, _)| code);
                serde_json::to_vec(&ErrorBody { error: self.oauth_name(), code, message: &message, errors, request_id })
            }
            ErrorFormat::Problem => {
                let status = self.status();
                let title = status.canonical_reason().unwrap_or_default();
                let status = status.as_u16();
                let kind = self.kind().map_or("about:blank", |(_, kind)| kind);
                serde_json::to_vec(&ProblemBody { kind, title, status, detail: &message, errors, request_id })
            }
        };
        body.unwrap_or_default()
    }

    /// The response to a request that never reached the router, with its id in the header.
    pub(super) fn respond(&self, request_id: &str, format: ErrorFormat) -> Response {
        let mut response = self.render(request_id, format);
        if let Ok(id) = header::HeaderValue::from_str(request_id) {
            response.headers_mut().insert(REQUEST_ID, id);
        }
        response
    }

    pub(super) fn render(&self, request_id: &str, format: ErrorFormat) -> Response {
        let content_type = match format {
            ErrorFormat::Json => "application/json",
            ErrorFormat::Problem => PROBLEM,
        };
        let body = Body::from(self.body(request_id, format));
        let mut response = (self.status(), [(header::CONTENT_TYPE, content_type)], body).into_response();
        if let Some(challenge) = self.challenge() {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static(challenge));
        }
        if let Some(seconds) = self.retry_after() {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }

    /// Seconds after which the same request may succeed.
    fn retry_after(&self) -> Option<u32> {
        match self {
            Self::TooManyRequests { retry_after, .. } => Some(*retry_after),
            Self::Unavailable(_) => Some(1),
            _ => None,
        }
    }
}

/// The error travels as an extension of the response until the middleware renders it.
impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// A refusal as a sentence of its own, for [`ApiError::Conflict`].
pub(super) fn sentence(refusal: impl std::fmt::Display) -> String {
    let text = refusal.to_string();
    let mut rest = text.chars();
    let first = rest.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", rest.as_str())
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Malformed(malformed) => Self::Malformed(malformed.0),
            Refusal::Faulty(faulty) => Self::Faulty(faulty.faults),
        }
    }
}

impl From<store::Failed> for ApiError {
    fn from(failed: store::Failed) -> Self {
        match failed {
            store::Failed::Unreachable(_) | store::Failed::Collided(_) | store::Failed::Moved | store::Failed::UnknownCell(_) => {
                Self::Unavailable(failed.to_string())
            }
            store::Failed::Constraint(_) | store::Failed::Refused(_) | store::Failed::Internal(_) => Self::Internal(failed.to_string()),
        }
    }
}
