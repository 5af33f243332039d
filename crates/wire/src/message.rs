//! Messages to merchants' systems, as these look at them: `/v1/messages` and `/v1/endpoints`.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// What stands in place of a body that was erased with the shopper's data.
pub const ERASED: &str = r#"{"erased":true}"#;

/// How many messages a page has at most.
pub const MOST_MESSAGES: u32 = 100;

/// How many it has when nothing is said.
const USUAL_MESSAGES: u32 = 50;

/// Which messages are wanted.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct MessagesQuery {
    /// Of this subject: the return, the order, the ASN number or the unit, exactly.
    #[param(required = false)]
    pub subject: Option<String>,
    /// Of this interface, such as `rma`; `endpoint_test` for trials, which are left out otherwise.
    #[param(required = false)]
    pub interface: Option<String>,
    /// With this event, such as `rma.created`.
    #[param(required = false)]
    pub event: Option<String>,
    /// In this state.
    #[param(required = false)]
    pub state: Option<MessageState>,
    /// Written at this time or later (ISO 8601).
    #[param(required = false)]
    pub from: Option<String>,
    /// Written before this time (ISO 8601).
    #[param(required = false)]
    pub to: Option<String>,
    /// Go on: the `next_before` of the page before.
    #[param(required = false)]
    pub before: Option<String>,
    /// How many at most.
    #[serde(default = "usual_messages")]
    #[param(required = false, minimum = 1, maximum = 100, default = 50)]
    pub limit: u32,
}

fn usual_messages() -> u32 {
    USUAL_MESSAGES
}

/// Where a message stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageState {
    /// It is still to be delivered.
    Owed,
    /// Its attempts are used up; it is in the failure queue.
    Failed,
    /// It was given up for good.
    Discarded,
    /// There was no endpoint for it when it was written.
    Unsent,
    /// It was answered with success.
    Delivered,
}

/// A message in a list.
#[derive(Serialize, ToSchema)]
pub struct MessageListed {
    /// Its id, as `webhook-id` has it.
    pub message_id: String,
    /// The interface that it is for.
    pub interface: String,
    /// What happened.
    pub event: String,
    /// What must stay in order.
    pub subject: String,
    /// Its position there.
    pub sequence: i64,
    /// Where it stands.
    pub state: MessageState,
    /// When it was written.
    pub created_at: String,
}

/// A page of messages.
#[derive(Serialize, ToSchema)]
pub struct Messages {
    /// Newest first. A page looks at a bounded number of messages: with filters it can be short, or even empty, while
    /// `has_more` is true.
    pub messages: Vec<MessageListed>,
    /// Whether there may be more.
    pub has_more: bool,
    /// Ask with this as `before` to go on; null when there are no more.
    pub next_before: Option<String>,
}

/// A message with everything that is known of it.
#[derive(Serialize, ToSchema)]
pub struct MessageOut {
    /// Its id, as `webhook-id` has it.
    pub message_id: String,
    /// The interface that it is for.
    pub interface: String,
    /// What happened.
    pub event: String,
    /// What must stay in order.
    pub subject: String,
    /// Its position there.
    pub sequence: i64,
    /// Where it stands.
    pub state: MessageState,
    /// When it was written.
    pub created_at: String,
    /// When it is tried next, if it is owed and no other message goes first.
    pub next_attempt_at: Option<String>,
    /// The message of the same subject that goes first.
    pub waits_for: Option<String>,
    /// What the failure queue says, if it ever was there.
    pub failure: Option<FailureOut>,
    /// What is sent, exactly.
    pub body: String,
    /// Whether what it said was erased with the shopper's data: `body` is not what was sent, and it is not sent again.
    pub erased: bool,
    /// What became of each call, first to last; a call that was made again with a new token has the number of the first.
    pub attempts: Vec<AttemptOut>,
}

/// What the failure queue says of a message.
#[derive(Serialize, ToSchema)]
pub struct FailureOut {
    /// The last outcome, or what else ended it.
    pub reason: String,
    /// `open`, `contacted`, `resolved` or `discarded`.
    pub state: String,
    /// When it was given up last.
    pub failed_at: String,
}

/// What became of a call.
#[derive(Serialize, ToSchema)]
pub struct AttemptOut {
    /// Its number, as `X-Service-Attempt` has it.
    pub number: i16,
    /// When it began.
    pub started_at: String,
    /// How long it took.
    pub took_ms: i32,
    /// The status, or what came instead: `timed out`, `unreachable`, `refused`, `unknown`.
    pub outcome: String,
    /// The status of the answer.
    pub status: Option<i16>,
    /// Why there was no answer.
    pub reason: Option<String>,
    /// How the answer began, as text.
    pub answer: Option<String>,
    /// The same in Base64, where it is not UTF-8.
    pub answer_base64: Option<String>,
}

/// A message that is tried again.
#[derive(Serialize, ToSchema)]
pub struct MessageRetried {
    /// Which.
    pub message_id: String,
    /// The number of the attempt that follows.
    pub attempt: i16,
    /// What is worth knowing: newer messages of the subject may have been delivered meanwhile.
    pub warning: Option<String>,
}

/// How an endpoint fares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndpointState {
    /// Calls succeed, or there were none.
    Healthy,
    /// In the last hour with calls, more failed than succeeded.
    Failing,
    /// Nothing is sent until it is resumed.
    Paused,
}

/// An endpoint and how it fares.
#[derive(Serialize, ToSchema)]
pub struct EndpointOut {
    /// For which messages.
    pub interface: String,
    /// Its address.
    pub url: String,
    /// How it fares.
    pub state: EndpointState,
    /// The last hour with a call that succeeded, of the last 7 days.
    pub last_success_hour: Option<String>,
    /// The last hour with a call that failed, of the last 7 days.
    pub last_failure_hour: Option<String>,
    /// How many messages are owed to it; 10000 means so many or more.
    pub owed: i64,
    /// How many of them should have been sent more than a minute ago; 10000 means so many or more.
    pub past_due: i64,
    /// How many of its messages are in the failure queue; 10000 means so many or more.
    pub failed: i64,
}

/// The merchant's endpoints.
#[derive(Serialize, ToSchema)]
pub struct Endpoints {
    /// By interface.
    pub endpoints: Vec<EndpointOut>,
}
