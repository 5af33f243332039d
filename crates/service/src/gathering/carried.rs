//! Carrier events.

use domain::id::MerchantId;
use domain::node::trace::SpanIds;
use domain::returns::rma::CarrierEvent;

use super::work::Work;

/// An event that concerns all units of a return.
pub struct Carried {
    pub merchant: MerchantId,
    /// The identifier of the return.
    pub rma: String,
    pub event: CarrierEvent,
    /// The place in a trace that a message on it carries.
    pub trace: Option<SpanIds>,
}

/// What an event did.
pub enum Applied {
    Moved,
    Unchanged,
}

impl Work for Carried {
    type Done = Applied;

    fn key(&self) -> (MerchantId, &str) {
        (self.merchant, &self.rma)
    }
}
