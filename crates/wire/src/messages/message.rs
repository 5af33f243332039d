//! Views of messages and endpoints for merchants: `/v1/messages` and `/v1/endpoints`.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Replaces a body that was erased with the shopper's data.
pub const ERASED: &str = r#"{"erased":true}"#;

/// Query parameters for listing messages.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct MessagesQuery {
    /// Only messages about this subject: the exact identifier of a return, order, ASN or unit.
    #[param(required = false)]
    pub subject: Option<String>,
    /// Only messages of this interface, such as `rma`. Test messages are listed only with `endpoint_test`.
    #[param(required = false)]
    pub interface: Option<String>,
    /// Only messages with this event, such as `rma.created`.
    #[param(required = false)]
    pub event: Option<String>,
    /// Only messages in this state.
    #[param(required = false)]
    pub state: Option<MessageState>,
    /// Only messages written at this time or later (ISO 8601).
    #[param(required = false)]
    pub from: Option<String>,
    /// Only messages written before this time (ISO 8601).
    #[param(required = false)]
    pub to: Option<String>,
}

/// The state of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageState {
    /// Still to be delivered.
    Owed,
    /// All attempts failed; the message is in the failure queue.
    Failed,
    /// Given up for good.
    Discarded,
    /// There was no endpoint for it when it was written.
    Unsent,
    /// Answered with success.
    Delivered,
}

/// A message in a list.
#[derive(Serialize, ToSchema)]
pub struct MessageListed {
    /// Message id, as in the header `webhook-id`.
    pub message_id: String,
    /// Interface, such as `rma`.
    pub interface: String,
    /// Event name.
    pub event: String,
    /// Subject; messages about one subject are delivered in order.
    pub subject: String,
    /// Position within the subject.
    pub sequence: i64,
    /// State.
    pub state: MessageState,
    /// Time the message was written.
    pub created_at: String,
}

/// A page of messages.
#[derive(Serialize, ToSchema)]
pub struct Messages {
    /// Newest first. A page scans a bounded number of messages: with filters it can be short or even empty while
    /// `next` is not null.
    pub items: Vec<MessageListed>,
    /// Pass it as `cursor` to get the next page; null on the last page.
    pub next: Option<String>,
}

/// A message in full.
#[derive(Serialize, ToSchema)]
pub struct MessageOut {
    /// Message id, as in the header `webhook-id`.
    pub message_id: String,
    /// Interface, such as `rma`.
    pub interface: String,
    /// Event name.
    pub event: String,
    /// Subject; messages about one subject are delivered in order.
    pub subject: String,
    /// Position within the subject.
    pub sequence: i64,
    /// State.
    pub state: MessageState,
    /// Time the message was written.
    pub created_at: String,
    /// Time of the next attempt, if the message is owed and does not wait for another one.
    pub next_attempt_at: Option<String>,
    /// Earlier message about the same subject that must be delivered first.
    pub waits_for: Option<String>,
    /// Entry in the failure queue, if there ever was one.
    pub failure: Option<FailureOut>,
    /// The body, exactly as sent.
    pub body: String,
    /// True if the body was erased with the shopper's data: `body` is then a placeholder, and the message is not sent again.
    pub erased: bool,
    /// A page of the attempts, oldest first. A call repeated with a new token keeps the number of the first call.
    pub attempts: Attempts,
}

/// A page of the attempts to deliver a message.
#[derive(Default, Serialize, ToSchema)]
pub struct Attempts {
    /// Oldest first.
    pub items: Vec<AttemptOut>,
    /// Pass it as `cursor` to get the next page; null on the last page.
    pub next: Option<String>,
}

/// A message's entry in the failure queue.
#[derive(Serialize, ToSchema)]
pub struct FailureOut {
    /// Last outcome, or another reason the message failed.
    pub reason: String,
    /// `open`, `contacted`, `resolved` or `discarded`.
    pub state: String,
    /// Time it last failed.
    pub failed_at: String,
}

/// An attempt to deliver a message.
#[derive(Serialize, ToSchema)]
pub struct AttemptOut {
    /// Attempt number, as in the header `X-Service-Attempt`.
    pub number: i16,
    /// Start time.
    pub started_at: String,
    /// Duration in milliseconds.
    pub took_ms: i32,
    /// HTTP status, or `timed out`, `unreachable`, `refused` or `unknown`.
    pub outcome: String,
    /// HTTP status of the answer.
    pub status: Option<i16>,
    /// Reason there was no answer.
    pub reason: Option<String>,
    /// Beginning of the answer, as text.
    pub answer: Option<String>,
    /// Beginning of the answer in Base64, if it is not UTF-8.
    pub answer_base64: Option<String>,
}

/// A message that was scheduled for another attempt.
#[derive(Serialize, ToSchema)]
pub struct MessageRetried {
    /// Message id.
    pub message_id: String,
    /// Number of the next attempt.
    pub attempt: i16,
    /// A warning, for example that newer messages about the subject have been delivered in the meantime.
    pub warning: Option<String>,
}

/// The health of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndpointState {
    /// It was never called.
    Untried,
    /// In the last hour with calls, no more failed than succeeded.
    Healthy,
    /// In the last hour with calls, more failed than succeeded.
    Failing,
    /// Nothing is sent until the endpoint is resumed.
    Paused,
}

/// The client certificate that Backhaul presents to an endpoint.
#[derive(Serialize, ToSchema)]
pub struct EndpointCertificate {
    /// Subject, such as `CN=backhaul.example.com`.
    pub subject: String,
    /// SHA-256 of the certificate in DER, in hexadecimal.
    pub sha256: String,
    /// End of its validity.
    pub expires_at: String,
}

/// The newest call to an endpoint.
#[derive(Serialize, ToSchema)]
pub struct LastAnswer {
    /// Start time.
    pub at: String,
    /// HTTP status, or `timed out`, `unreachable` or `refused`.
    pub outcome: String,
    /// Reason there was no answer, or no usable one.
    pub reason: Option<String>,
}

/// An endpoint and its health.
#[derive(Serialize, ToSchema)]
pub struct EndpointOut {
    /// Interface, such as `rma`.
    pub interface: String,
    /// URL.
    pub url: String,
    /// The client certificate that calls present, if there is one.
    pub client_certificate: Option<EndpointCertificate>,
    /// Health.
    pub state: EndpointState,
    /// The newest call; null if there was none.
    pub last_answer: Option<LastAnswer>,
    /// Start of the last successful call, within the last 7 days.
    pub last_success_at: Option<String>,
    /// Time since when the endpoint has been reported as failing; null once it was reported to have recovered.
    pub failing_since: Option<String>,
    /// Time at which the next message is due; null if none is owed, or while the endpoint is paused.
    pub next_attempt_at: Option<String>,
    /// Last hour with a successful call, within the last 7 days.
    pub last_success_hour: Option<String>,
    /// Last hour with a failed call, within the last 7 days.
    pub last_failure_hour: Option<String>,
    /// Messages owed to the endpoint; 10000 means 10000 or more.
    pub owed: i64,
    /// Owed messages that have been due for more than a minute; 10000 means 10000 or more.
    pub past_due: i64,
    /// Messages in the failure queue; 10000 means 10000 or more.
    pub failed: i64,
    /// Kind of authentication: `none`, `bearer`, `basic`, `api key` or `oauth`; `unreadable` if it cannot be opened with the present keys.
    pub authentication: String,
    /// URL that issues tokens, with OAuth.
    pub token_url: Option<String>,
    /// Most concurrent calls.
    pub slots: i32,
    /// Most calls per second.
    pub per_second: i32,
    /// Seconds before each of the five retries; empty for `exchange_variants`, which is not retried.
    pub waits: Vec<i64>,
    /// Time of the last change of its settings.
    pub changed_at: String,
}

/// The merchant's endpoints.
#[derive(Serialize, ToSchema)]
pub struct Endpoints {
    /// Ordered by interface.
    pub items: Vec<EndpointOut>,
    /// Pass it as `cursor` to get the next page; null on the last page.
    pub next: Option<String>,
}
