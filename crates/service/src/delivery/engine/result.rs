//! The results of attempts, on their way to the writer and, settled, back to the engine.

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::messages::message::Kind;
use store::messages::settlements::{Attempt, Disposition, Hold, Settlement};
use uuid::Uuid;

use crate::delivery::reaction::Ending;

/// What became of a message.
pub(in crate::delivery) struct AttemptResult {
    pub(super) endpoint: EndpointId,
    pub(super) settlement: Settlement,
    pub(super) attempts: Vec<Attempt>,
    /// When it is due again, if it is.
    pub(super) due_again: Option<DateTime<Utc>>,
    /// How it ended, if its kind has a reaction to that.
    pub(super) ending: Option<Reacts>,
}

/// What a reaction is told, and what is needed to send the message again if it cannot be done.
pub(super) struct Reacts {
    pub(super) kind: Kind,
    pub(super) ending: Ending,
    /// Counted attempts of this round, without this one.
    pub(super) attempts: i16,
}

impl AttemptResult {
    /// What became of a message without a call.
    pub(super) fn uncalled(endpoint: EndpointId, settlement: Settlement, due_again: Option<DateTime<Utc>>) -> Self {
        Self { endpoint, settlement, attempts: Vec::new(), due_again, ending: None }
    }
}

/// What an attempt says of its endpoint.
pub(super) enum Saw {
    /// The message arrived.
    Success,
    /// It did not.
    Failure {
        /// When the call began.
        at: DateTime<Utc>,
        /// Whether the message was given up.
        given_up: bool,
        /// The outcome in a word.
        outcome: String,
    },
}

impl Saw {
    /// What the last call of a message says. Trials and work of our own say nothing.
    fn of(result: &AttemptResult) -> Option<Self> {
        let attempt = result.attempts.last().filter(|attempt| attempt.counted_as.is_some())?;
        Some(if attempt.arrived() {
            Self::Success
        } else {
            let given_up = matches!(result.settlement.fate, Disposition::Failed { .. });
            Self::Failure { at: attempt.started_at, given_up, outcome: attempt.outcome.clone() }
        })
    }
}

/// A message that was settled.
pub(super) struct Settled {
    pub(super) merchant: MerchantId,
    pub(super) endpoint: EndpointId,
    pub(super) hold: Hold,
    pub(super) message: Uuid,
    /// When it is due again, if it is.
    pub(super) due_again: Option<DateTime<Utc>>,
    /// What it says of its endpoint.
    pub(super) saw: Option<Saw>,
}

impl Settled {
    pub(super) fn new(result: &AttemptResult) -> Self {
        let Settlement { hold, merchant, message, .. } = result.settlement;
        Self { merchant, endpoint: result.endpoint, hold, message, due_again: result.due_again, saw: Saw::of(result) }
    }
}

/// A batch that was settled.
pub(in crate::delivery) struct Batch {
    /// Every message of it.
    pub(super) messages: Vec<Settled>,
    /// Buckets that turned out to be somebody else's.
    pub(super) lost: Vec<Hold>,
    /// Endpoints whose lanes go on.
    pub(super) unparked: Vec<(MerchantId, EndpointId)>,
    /// Since when these are due.
    pub(super) now: DateTime<Utc>,
}
