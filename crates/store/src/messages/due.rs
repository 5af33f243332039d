//! A delivery that is due, as the engine takes it: read from the database, or handed over by the transaction that wrote it.

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::node::trace::TraceContext;
use uuid::Uuid;

use crate::messages::signal::Signal;

/// A delivery that is due.
pub struct DueRow {
    pub merchant: MerchantId,
    pub endpoint: EndpointId,
    pub message: Uuid,
    pub due_at: DateTime<Utc>,
    pub lane: String,
    pub sequence: i64,
    /// Counted attempts in this round.
    pub attempts: i16,
    /// Counted attempts in earlier rounds.
    pub attempts_before: i16,
    /// True once someone has asked to discard the message.
    pub discard: bool,
    /// The revision of the endpoint's settings at the time of reading.
    pub revision: i64,
    /// True if no other message of the lane goes first.
    pub is_head: bool,
    /// The content of the head of a lane. `None` if its message is gone.
    pub text: Option<Text>,
}

impl DueRow {
    /// The signal to read it from the database.
    #[must_use]
    pub fn signal(&self) -> Signal {
        Signal::new(self.merchant, self.endpoint, self.due_at)
    }

    /// True for a manual retry, which has a lane of its own.
    #[must_use]
    pub fn is_by_hand(&self) -> bool {
        Uuid::try_parse(&self.lane).is_ok_and(|lane| lane == self.message)
    }
}

/// The content of a message.
pub struct Text {
    /// The message kind as stored.
    pub kind: String,
    pub event: String,
    pub body: String,
    /// The place in a trace of the work that owed it.
    pub trace: Option<TraceContext>,
}
