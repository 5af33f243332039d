//! New returns.

use domain::id::MerchantId;
use domain::node::trace::SpanIds;
use domain::returns::rma::Method;
use domain::returns::rma::choice::{Choice, Instead, RequestedItem};

use super::work::Work;

/// A return that a caller wants to start, of units that are all refunded.
pub struct Wanted {
    pub merchant: MerchantId,
    pub order: String,
    pub method: Method,
    pub items: Vec<WantedItem>,
    pub giftee_email: Option<String>,
    pub language: Option<String>,
    /// The place in a trace that the message on it carries.
    pub trace: Option<SpanIds>,
}

/// Units of an order line that are to be returned.
pub struct WantedItem {
    pub line: String,
    pub quantity: u32,
    pub reason: String,
}

impl Wanted {
    /// The shopper's choice.
    pub(crate) fn choice(&self) -> Choice<'_> {
        let items = self.items.iter().map(|item| RequestedItem {
            line: &item.line,
            quantity: item.quantity,
            reason: &item.reason,
            instead: Instead::Refund,
        });
        Choice { method: self.method, items: items.collect(), giftee: self.giftee_email.is_some() }
    }
}

impl Work for Wanted {
    /// The return, as JSON.
    type Done = String;

    fn key(&self) -> (MerchantId, &str) {
        (self.merchant, &self.order)
    }
}
