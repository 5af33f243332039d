//! The results of attempts on their way to the writer, and, once settled, back to the engine.

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::messages::message::Kind;
use domain::node::trace::TraceContext;
use store::messages::settlements::{Attempt, Disposition, Hold, Settlement};
use uuid::Uuid;

use crate::delivery::reaction::Ending;

/// The result of handling one message: the settlement, and the calls that were made.
pub(crate) struct AttemptResult {
    pub(super) endpoint: EndpointId,
    /// The message's lane. Two results of a lane are never settled at the same time.
    pub(super) lane: String,
    pub(super) settlement: Settlement,
    pub(super) attempts: Vec<Attempt>,
    pub(super) due_again: Option<DateTime<Utc>>,
    /// Set if the message's kind has a reaction to this result.
    pub(super) reaction: Option<ReactionInput>,
    /// The place in a trace of the last call, which the reaction continues.
    pub(super) trace: Option<TraceContext>,
}

/// The input of a reaction, and the data needed to postpone the message if the reaction fails.
pub(super) struct ReactionInput {
    pub(super) kind: Kind,
    pub(super) ending: Ending,
    /// Counted attempts of this round, without this one.
    pub(super) attempts: i16,
}

impl AttemptResult {
    /// A result without a call.
    pub(super) fn without_call(endpoint: EndpointId, lane: String, settlement: Settlement, due_again: Option<DateTime<Utc>>) -> Self {
        Self { endpoint, lane, settlement, attempts: Vec::new(), due_again, reaction: None, trace: None }
    }
}

/// The result of an attempt as evidence of its endpoint's health.
pub(super) enum Observation {
    Success,
    Failure {
        /// The start of the call.
        at: DateTime<Utc>,
        given_up: bool,
        outcome: String,
    },
}

impl Observation {
    /// The observation from the last call of a message. Test messages and internal work give none.
    fn of(result: &AttemptResult) -> Option<Self> {
        let attempt = result.attempts.last().filter(|attempt| attempt.counted_as.is_some())?;
        Some(if attempt.arrived() {
            Self::Success
        } else {
            let given_up = matches!(result.settlement.disposition, Disposition::Failed { .. });
            Self::Failure { at: attempt.started_at, given_up, outcome: attempt.outcome.clone() }
        })
    }
}

/// A settled message.
pub(super) struct Settled {
    pub(super) merchant: MerchantId,
    pub(super) endpoint: EndpointId,
    pub(super) hold: Hold,
    pub(super) message: Uuid,
    pub(super) due_again: Option<DateTime<Utc>>,
    pub(super) observed: Option<Observation>,
}

impl Settled {
    pub(super) fn new(result: &AttemptResult) -> Self {
        let Settlement { hold, merchant, message, .. } = result.settlement;
        Self { merchant, endpoint: result.endpoint, hold, message, due_again: result.due_again, observed: Observation::of(result) }
    }
}

/// A settled batch.
pub(crate) struct Batch {
    pub(super) messages: Vec<Settled>,
    /// Holds that turned out to be no longer valid.
    pub(super) lost: Vec<Hold>,
    /// Endpoints of lanes whose next message has become due.
    pub(super) unparked: Vec<(MerchantId, EndpointId)>,
    /// The due time of these next messages.
    pub(super) now: DateTime<Utc>,
}
