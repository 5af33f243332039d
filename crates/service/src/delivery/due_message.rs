//! A message on its way out. It is a `Message` when a flow owes it, and a [`DueMessage`] once the engine has read it. A transport turns
//! it into a `PreparedMessage`; a call of that ends in a `CallResult`. All calls of one attempt and their consequence are an
//! `AttemptResult`, which the writer settles.

use bytes::Bytes;
use domain::id::{EndpointId, MerchantId};
use domain::messages::message::Kind;
use store::messages::deliveries::DueRow;
use store::messages::settlements::{self, Attempt, Hold};
use uuid::Uuid;

use super::handle::Delivery;

/// A message that is due, read by the holder of its bucket.
pub(super) struct DueMessage {
    pub(super) hold: Hold,
    pub(super) id: Uuid,
    pub(super) kind: Kind,
    pub(super) merchant: MerchantId,
    pub(super) endpoint: EndpointId,
    pub(super) event: String,
    pub(super) sequence: i64,
    pub(super) body: Bytes,
    /// Counted attempts of this round and of the rounds before, without this one.
    pub(super) attempts: i16,
    attempts_before: i16,
    by_hand: bool,
}

impl DueMessage {
    /// The message in a row, if the row has one that this program knows.
    pub(super) fn new(row: &mut DueRow, hold: Hold) -> Option<Self> {
        let (text, by_hand) = (row.text.take()?, row.is_by_hand());
        Some(Self {
            hold,
            id: row.message,
            kind: text.kind.parse().ok()?,
            merchant: row.merchant,
            endpoint: row.endpoint,
            event: text.event,
            sequence: row.sequence,
            body: Bytes::from(text.body),
            attempts: row.attempts,
            attempts_before: row.attempts_before,
            by_hand,
        })
    }

    /// The number of this attempt, as the receiver is told.
    pub(super) fn number(&self) -> i16 {
        self.attempts_before.saturating_add(self.attempts).saturating_add(1)
    }

    /// The record of a call that begins now.
    pub(super) fn attempted(&self, delivery: &Delivery) -> Attempt {
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
