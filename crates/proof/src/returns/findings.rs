//! The records of a run, and the checker's findings about them.

use std::collections::BTreeSet;

use super::client::Client;
use super::record::Receipt;
use super::stored::Stored;

/// The three records of a run.
#[derive(Clone)]
pub(super) struct History {
    pub(super) clients: Vec<Client>,
    pub(super) receipts: Vec<Receipt>,
    pub(super) stored: Stored,
}

/// The possible faults of a return.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wrong {
    /// An acknowledged change is not stored, or a stored message was not received.
    Lost,
    /// A message was received before its predecessor.
    Inverted,
    /// A call carried other bytes than its message, or belongs to no message.
    Altered,
    /// Its messages' sequences have gaps or do not start at one.
    Gapped,
    /// It was started twice, or changed more often than its clients requested.
    Doubled,
    /// One of its units was refunded twice.
    RefundedTwice,
    /// It was closed without a refund.
    Unrefunded,
    /// It was disclosed to another client or merchant.
    Strange,
}

/// A return: its merchant and its identifier.
pub(super) type Key = (usize, String);

/// The faulty returns, and counts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Findings {
    pub(super) wrong: BTreeSet<(Wrong, Key)>,
    /// Repeated acceptances of a message, which are allowed.
    pub(super) duplicates: usize,
    /// Returns that ended as they should and whose merchants know it.
    pub(super) closed: usize,
}

impl Findings {
    pub(super) fn add(&mut self, wrong: Wrong, shop: usize, rma: &str) {
        self.wrong.insert((wrong, (shop, rma.to_owned())));
    }
}
