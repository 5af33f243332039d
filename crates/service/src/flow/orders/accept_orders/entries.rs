//! The refunds of a message that change the record.

use domain::orders::refund::{Ledger, Taken};
use store::orders::refunds::Change;
use wire::orders::order::{ReceivedOrder, RefundIn, RefundLineIn};

/// A refund of the message that changes the record.
pub(super) struct Entry<'m> {
    pub(super) order: &'m ReceivedOrder<'m>,
    /// Position within the order.
    pub(super) at: usize,
    pub(super) taken: Taken,
}

impl<'m> Entry<'m> {
    pub(super) fn identifier(&self) -> &'m str {
        self.stated().map_or("", |refund| &refund.identifier.0)
    }

    fn stated(&self) -> Option<&'m RefundIn<'m>> {
        self.order.order.refunds.0.get(self.at)
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = &'m RefundLineIn<'m>> {
        self.stated().into_iter().flat_map(|refund| &refund.refund_line_items.0)
    }
}

/// The ledger of an order, and the entries of the message that change it.
pub(super) struct Changed<'m> {
    pub(super) order: &'m ReceivedOrder<'m>,
    /// The message is older than the stored order.
    pub(super) stale: bool,
    pub(super) ledger: Ledger,
    pub(super) entries: Vec<Entry<'m>>,
}

impl Changed<'_> {
    /// The records that the entries change.
    pub(super) fn records<'a>(&'a self, order: &'a str) -> impl Iterator<Item = Change<'a>> {
        let record = |entry: &'a Entry<'_>| {
            let (identifier, refund) = self.ledger.refunds.get_key_value(entry.identifier())?;
            Some(Change { order, identifier, refund })
        };
        self.entries.iter().filter_map(record)
    }
}
