//! A message to be owed.

use chrono::{DateTime, Utc};
use domain::messages::message::Kind;
use uuid::Uuid;

/// A message as it will be sent, byte for byte.
pub struct Message {
    /// UUID version 7. Receivers recognise duplicates by it.
    pub id: Uuid,
    pub kind: Kind,
    /// The reported event, such as `rma.created`.
    pub event: &'static str,
    /// A return, an order, an ASN number or a unit. Messages about one subject are delivered in order.
    pub subject: String,
    /// The position within the subject, starting at 1, taken under the subject's lock.
    pub sequence: i64,
    pub body: String,
    /// The earliest time of delivery.
    pub due_at: DateTime<Utc>,
}

impl Message {
    /// True for a message that the merchant's feed shows. Internal work and trials have no position in it.
    pub(super) fn is_in_feed(&self) -> bool {
        match self.kind {
            Kind::Of(_) => true,
            Kind::EndpointTest | Kind::Internal(_) => false,
        }
    }
}
