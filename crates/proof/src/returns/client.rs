//! The clients' record of one return: their requests and the answers.

use super::SHOPS;

/// The requests and answers of a return's clients.
#[expect(clippy::struct_excessive_bools, reason = "each is noted on its own")]
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) shop: usize,
    pub(super) order: String,
    pub(super) tracking_number: String,
    pub(super) refund: String,
    /// Units to return.
    pub(super) units: usize,
    pub(super) order_acknowledged: bool,
    /// The return's identifier, from an answer.
    pub(super) rma: Option<String>,
    /// The label was acknowledged.
    pub(super) labelled: bool,
    /// The number of acknowledged changes of the return, and of those that may have happened.
    pub(super) least: i64,
    pub(super) most: i64,
    pub(super) refunding: Refunding,
    /// The number of the last call received by any merchant before the refund was sent.
    pub(super) received_before_refund: u64,
    /// A repeated request with the same key got another answer.
    pub(super) answered_differently: bool,
    /// An answer was about another return.
    pub(super) answered_of_another: bool,
}

impl Client {
    /// The record of the return with this number, before any request. Two consecutive returns share an order: the first returns
    /// one unit of it, the second two.
    pub(super) fn new(number: u64) -> Self {
        let (order, half, shops) = (number / 2, number % 2, SHOPS as u64);
        let name = order / shops;
        Self {
            shop: usize::try_from(order % shops).unwrap_or_default(),
            order: format!("O-{name}"),
            tracking_number: format!("T-{name}-{half}"),
            refund: format!("F-{name}-{half}"),
            units: if half == 0 { 1 } else { 2 },
            order_acknowledged: false,
            rma: None,
            labelled: false,
            least: 0,
            most: 0,
            refunding: Refunding::Ahead,
            received_before_refund: 0,
            answered_differently: false,
            answered_of_another: false,
        }
    }

    /// Returns whether the refund was sent.
    pub(super) const fn is_refunding(&self) -> bool {
        match self.refunding {
            Refunding::Never | Refunding::Ahead => false,
            Refunding::Sent | Refunding::Acknowledged => true,
        }
    }
}

/// The progress of the refund, as the merchant sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refunding {
    /// There is no refund, because the shopper forgets the return.
    Never,
    Ahead,
    Sent,
    Acknowledged,
}

/// The SKU that only the merchant `shop` sells.
pub(super) fn sku(shop: usize) -> String {
    format!("SHOE-{shop}")
}
