//! What an API caller is told when something is wrong.

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::access::Scope;
use uuid::Uuid;
use wire::answer::{ErrorBody, ProblemBody};
use wire::fault::Fault;
use wire::order::Refusal;

use super::body::MOST_BYTES;
use super::middleware::RequestId;

/// Everything that can be wrong with a call. Its words are put together in [`ApiError::render`], where the request's id
/// and the caller's wishes are known.
#[derive(Clone, Debug)]
pub(super) enum ApiError {
    /// The body is not what it says it is.
    Malformed(String),
    /// The body did not come in time.
    BodyTooSlow,
    /// A parameter in the address is not understood.
    BadQuery(String),
    /// A header is not understood.
    BadHeader(String),
    /// The version asked for is not ours.
    UnknownVersion,
    /// A request for a token lacks something.
    IncompleteTokenRequest(&'static str),
    /// A grant that is not ours.
    UnsupportedGrant,
    /// No token, or none that is known and live.
    Unauthorized {
        /// Whether there was one.
        token_given: bool,
    },
    /// A webhook that its sender did not sign.
    NotSigned,
    /// A wrong client id or secret.
    InvalidClient,
    /// The token does not open this route.
    MissingScope(&'static [Scope]),
    /// The merchant is paused.
    Paused,
    /// There is no such thing, or it is somebody else's.
    NotFound,
    /// The route has no such method.
    MethodNotAllowed,
    /// The body is beyond the limit.
    TooLarge,
    /// The body is of a type that is not read here.
    UnsupportedMediaType(&'static str),
    /// Another request runs the import.
    ImportRunning,
    /// It cannot be done as things stand; in a sentence, with what to do.
    Conflict(String),
    /// It was there and never will be again; in a sentence.
    Gone(&'static str),
    /// The message has faults.
    Faulty(Vec<Fault>),
    /// It is one too many.
    TooManyRequests {
        /// Which limit it met.
        exceeded: Exceeded,
        /// How many it lets through.
        limit: u32,
        /// In how many seconds there is room again.
        retry_after: u32,
    },
    /// An import broke off and can be resumed.
    Interrupted(Uuid, Box<Self>),
    /// The merchant's system cannot be reached, or errs.
    MerchantErred,
    /// The merchant's system did not answer in time.
    MerchantTooSlow,
    /// The database cannot be reached.
    Unavailable(String),
    /// We are at fault.
    Internal(String),
}

/// A limit that a request can meet.
#[derive(Clone, Copy, Debug)]
pub(super) enum Exceeded {
    /// Requests of one address.
    Requests,
    /// Wrong secrets that one address sent for one client.
    SecretsOfClient,
    /// Wrong secrets that one address sent for all clients.
    SecretsOfAddress,
    /// Order messages that this node works on.
    MessagesInFlight,
    /// Live feeds of this node.
    Followers,
    /// Live feeds of one merchant on this node.
    FollowersOfMerchant,
}

impl Exceeded {
    /// Its word in the metrics.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::SecretsOfClient => "secrets_of_client",
            Self::SecretsOfAddress => "secrets_of_address",
            Self::MessagesInFlight => "messages_in_flight",
            Self::Followers => "followers",
            Self::FollowersOfMerchant => "followers_of_merchant",
        }
    }

    /// What there were more of than the limit allows.
    const fn what(self) -> &'static str {
        match self {
            Self::Requests => "requests a minute from one address",
            Self::SecretsOfClient => "wrong secrets a minute for one client from one address",
            Self::SecretsOfAddress => "wrong secrets a minute from one address",
            Self::MessagesInFlight => "order messages at a time",
            Self::Followers => "live feeds at a time",
            Self::FollowersOfMerchant => "live feeds of one merchant at a time",
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

const PROBLEM: &str = "application/problem+json";

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
            | Self::UnknownVersion
            | Self::IncompleteTokenRequest(_)
            | Self::UnsupportedGrant => StatusCode::BAD_REQUEST,
            Self::Unauthorized { .. } | Self::NotSigned | Self::InvalidClient => StatusCode::UNAUTHORIZED,
            Self::MissingScope(_) | Self::Paused => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::BodyTooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::ImportRunning | Self::Conflict(_) => StatusCode::CONFLICT,
            Self::Gone(_) => StatusCode::GONE,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMediaType(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Faulty(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::TooManyRequests { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::MerchantErred => StatusCode::BAD_GATEWAY,
            Self::MerchantTooSlow | Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Interrupted(_, cause) => cause.status(),
        }
    }

    /// What is wrong, and what to do.
    pub(super) fn message(&self) -> String {
        match self {
            Self::Malformed(why) => format!("The body cannot be read: {why}."),
            Self::BodyTooSlow => "The body did not arrive in time; send the request again.".to_owned(),
            Self::BadQuery(why) => format!("The query cannot be read: {why}."),
            Self::BadHeader(why) => format!("A header cannot be read: {why}."),
            Self::UnknownVersion => "Api-Version must be 3, or be left out.".to_owned(),
            Self::IncompleteTokenRequest(field) => {
                format!("{field} is required: send grant_type=client_credentials, client_id and client_secret as JSON or as a form.")
            }
            Self::UnsupportedGrant => "grant_type must be client_credentials.".to_owned(),
            Self::Unauthorized { token_given: false } => {
                "Send the header Authorization: Bearer <access token>; POST /oauth/token issues one.".to_owned()
            }
            Self::Unauthorized { token_given: true } => {
                "The access token is unknown, expired or revoked; get a new one from POST /oauth/token.".to_owned()
            }
            Self::NotSigned => {
                "The webhook is not signed with the account's secret, or it is older than 30 days; see `backhaul carrier show`.".to_owned()
            }
            Self::InvalidClient => "The client_id or client_secret is wrong, or the credential was revoked.".to_owned(),
            Self::MissingScope(scopes) => {
                let scopes = scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(" or ");
                format!("The access token lacks the scope {scopes}; ask the operator for a credential with it.")
            }
            Self::Paused => "The merchant is paused; ask the operator.".to_owned(),
            Self::NotFound => "There is nothing here under this name.".to_owned(),
            Self::MethodNotAllowed => "This address does not take this method; see /openapi.json.".to_owned(),
            Self::TooLarge => format!("The body exceeds the limit of {MOST_BYTES} bytes (5 MiB); send fewer orders a message."),
            Self::UnsupportedMediaType(wanted) => format!("The Content-Type must be {wanted}."),
            Self::ImportRunning => {
                "Another request runs this import; let it finish, or try again when it has shown no sign of life for 15 seconds.".to_owned()
            }
            Self::Conflict(why) => why.clone(),
            Self::Gone(why) => (*why).to_owned(),
            Self::Interrupted(import, cause) => format!(
                "{} What was read so far is stored; send the same file again to POST /v1/order_imports?resume={import}.",
                cause.message()
            ),
            Self::Faulty(faults) => match faults.len() {
                1 => "The message has a fault and nothing of it was stored.".to_owned(),
                many => format!("The message has {many} faults and nothing of it was stored."),
            },
            Self::TooManyRequests { exceeded, limit, retry_after } => {
                let what = exceeded.what();
                format!("The limit is {limit} {what}; retry in {retry_after} s at the earliest, with exponential backoff.")
            }
            Self::MerchantErred => {
                "The merchant's system cannot be reached or errs, so that no exchange is offered; go on with a refund or a gift card."
                    .to_owned()
            }
            Self::MerchantTooSlow => {
                "The merchant's system did not answer in time, so that no exchange is offered; go on with a refund or a gift card."
                    .to_owned()
            }
            Self::Unavailable(_) => "The service is unavailable at the moment; try again with exponential backoff.".to_owned(),
            Self::Internal(_) => "The service failed; try again with exponential backoff, and quote the request_id to support.".to_owned(),
        }
    }

    /// The error's name in OAuth, for the token endpoint.
    fn oauth_name(&self) -> Option<&'static str> {
        match self {
            Self::IncompleteTokenRequest(_) => Some("invalid_request"),
            Self::UnsupportedGrant => Some("unsupported_grant_type"),
            Self::InvalidClient => Some("invalid_client"),
            _ => None,
        }
    }

    fn challenge(&self) -> Option<&'static str> {
        match self {
            Self::Unauthorized { token_given: true } => Some(r#"Bearer realm="backhaul", error="invalid_token""#),
            Self::Unauthorized { token_given: false } | Self::InvalidClient => Some(r#"Bearer realm="backhaul""#),
            Self::MissingScope(_) => Some(r#"Bearer realm="backhaul", error="insufficient_scope""#),
            _ => None,
        }
    }

    /// A failure of ours is logged here and nowhere else; a caller's is not a failure.
    pub(super) fn log(&self, request_id: &str, route: &str) {
        match self {
            Self::Unavailable(why) | Self::Internal(why) => {
                tracing::error!(request_id, route, why, status = self.status().as_u16(), "failed");
            }
            Self::Interrupted(_, cause) => cause.log(request_id, route),
            _ => {}
        }
    }

    pub(super) fn render(&self, request_id: &str, format: ErrorFormat) -> Response {
        let status = self.status();
        let message = self.message();
        let errors = match self {
            Self::Faulty(faults) => faults.as_slice(),
            _ => &[],
        };
        let (content_type, body) = match format {
            ErrorFormat::Json => {
                let body = ErrorBody { error: self.oauth_name(), message: &message, errors, request_id };
                ("application/json", serde_json::to_vec(&body))
            }
            ErrorFormat::Problem => {
                let title = status.canonical_reason().unwrap_or_default();
                let body = ProblemBody { kind: "about:blank", title, status: status.as_u16(), detail: &message, errors, request_id };
                (PROBLEM, serde_json::to_vec(&body))
            }
        };
        let mut response = (status, [(header::CONTENT_TYPE, content_type)], Body::from(body.unwrap_or_default())).into_response();
        if let Some(challenge) = self.challenge() {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static(challenge));
        }
        if let Some(seconds) = self.retry_after() {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }

    /// After how many seconds the same again may succeed.
    fn retry_after(&self) -> Option<u32> {
        match self {
            Self::TooManyRequests { retry_after, .. } => Some(*retry_after),
            Self::Unavailable(_) => Some(1),
            _ => None,
        }
    }
}

/// The error travels as an extension of the answer until the exchange renders it.
impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
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
            store::Failed::Unreachable(_) | store::Failed::Collided(_) => Self::Unavailable(failed.to_string()),
            store::Failed::Constraint(_) | store::Failed::Refused(_) => Self::Internal(failed.to_string()),
        }
    }
}

impl<S: Sync> axum::extract::FromRequestParts<S> for RequestId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut axum::http::request::Parts, _: &S) -> Result<Self, ApiError> {
        parts.extensions.get::<Self>().cloned().ok_or_else(|| ApiError::Internal("a request without an id".to_owned()))
    }
}
