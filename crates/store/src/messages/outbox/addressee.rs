//! The endpoint that a message is addressed to.

use domain::id::{EndpointId, MerchantId};
use domain::node::trace::TraceContext;

use super::message::Message;
use crate::messages::due::{DueRow, Text};
use crate::messages::signal::Signal;

/// The endpoint of a message, as the statement that wrote the message found it.
pub(super) struct Addressee {
    pub(super) endpoint: EndpointId,
    /// The revision of the endpoint's settings.
    revision: i64,
    /// True if the endpoint is not paused, the merchant is not moving, and no other message of the subject goes first.
    is_next: bool,
}

impl Addressee {
    /// The addressee in the answer of such a statement, if there is one.
    pub(super) fn read(endpoint: Option<uuid::Uuid>, revision: Option<i64>, is_next: bool) -> Option<Self> {
        endpoint.zip(revision).map(|(endpoint, revision)| Self { endpoint: EndpointId(endpoint), revision, is_next })
    }

    /// The message as the delivery engine would read it, or the signal to read it if others go first.
    pub(super) fn announce(self, merchant: MerchantId, message: Message, trace: Option<TraceContext>) -> Result<DueRow, Signal> {
        let Message { id, kind, event, subject, sequence, body, due_at } = message;
        if !self.is_next {
            return Err(Signal::new(merchant, self.endpoint, due_at));
        }
        Ok(DueRow {
            merchant,
            endpoint: self.endpoint,
            message: id,
            due_at,
            lane: subject,
            sequence,
            attempts: 0,
            attempts_before: 0,
            discard: false,
            revision: self.revision,
            is_head: true,
            text: Some(Text { kind: kind.as_str().to_owned(), event: event.to_owned(), body, trace }),
        })
    }
}
