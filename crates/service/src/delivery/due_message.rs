//! A due message, as the engine has read it.
//!
//! A message changes its type on its way: a flow owes a `Message`; the engine reads it as a [`DueMessage`]; a transport turns it
//! into a `PreparedMessage`, whose call ends in a `CallResult`; all calls of one attempt and the decision that follows from them
//! make up an `AttemptResult`, which the writer settles.

use bytes::Bytes;
use domain::id::{EndpointId, MerchantId};
use domain::messages::message::Kind;
use domain::node::trace::TraceContext;
use store::messages::deliveries::DueRow;
use store::messages::settlements::{self, Attempt, Hold};
use uuid::Uuid;

use super::handle::Delivery;

/// A due message, read under a hold on its bucket.
pub(super) struct DueMessage {
    pub(super) hold: Hold,
    pub(super) id: Uuid,
    pub(super) kind: Kind,
    pub(super) merchant: MerchantId,
    pub(super) endpoint: EndpointId,
    pub(super) lane: String,
    pub(super) event: String,
    pub(super) sequence: i64,
    pub(super) body: Bytes,
    /// The place in a trace of the work that owed it.
    pub(super) trace: Option<TraceContext>,
    /// Counted attempts in this round, without the current one.
    pub(super) attempts: i16,
    /// Counted attempts in earlier rounds.
    attempts_before: i16,
    by_hand: bool,
}

/// The parts of a message that its headers tell.
pub(crate) struct Envelope<'a> {
    pub(crate) id: Uuid,
    pub(crate) event: &'a str,
    pub(crate) sequence: i64,
    /// The number of the attempt.
    pub(crate) attempt: i16,
    pub(crate) body: &'a [u8],
}

impl DueMessage {
    /// Takes the message out of a row. Returns `None` if the row has no text or this program does not know its kind.
    pub(super) fn new(row: &mut DueRow, hold: Hold) -> Option<Self> {
        let (text, by_hand) = (row.text.take()?, row.is_by_hand());
        Some(Self {
            hold,
            id: row.message,
            kind: text.kind.parse().ok()?,
            merchant: row.merchant,
            endpoint: row.endpoint,
            lane: std::mem::take(&mut row.lane),
            event: text.event,
            sequence: row.sequence,
            body: Bytes::from(text.body),
            trace: text.trace,
            attempts: row.attempts,
            attempts_before: row.attempts_before,
            by_hand,
        })
    }

    /// The number of the current attempt, as sent to the receiver.
    pub(super) fn number(&self) -> i16 {
        self.attempts_before.saturating_add(self.attempts).saturating_add(1)
    }

    /// The parts that the headers of the current attempt tell.
    pub(super) fn envelope(&self) -> Envelope<'_> {
        Envelope { id: self.id, event: &self.event, sequence: self.sequence, attempt: self.number(), body: &self.body }
    }

    /// The record of a call that starts now.
    pub(super) fn new_attempt(&self, delivery: &Delivery) -> Attempt {
        Attempt {
            hold: self.hold,
            id: delivery.mint(),
            merchant: self.merchant,
            message: self.id,
            endpoint: self.endpoint,
            started_at: delivery.now(),
            took_ms: 0,
            number: self.number(),
            by_hand: self.by_hand,
            status: None,
            outcome: settlements::UNKNOWN.to_owned(),
            reason: None,
            answer: None,
            counted_as: match self.kind {
                Kind::Of(interface) => Some(interface.as_str()),
                Kind::EndpointTest | Kind::Internal(_) => None,
            },
        }
    }
}
