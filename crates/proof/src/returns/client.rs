//! What the clients of one return sent, and what they were answered.

use super::SHOPS;

/// What a client sent and what it was answered.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) shop: usize,
    pub(super) order: String,
    pub(super) tracking_number: String,
    pub(super) refund: String,
    /// How many units come back.
    pub(super) units: usize,
    pub(super) order_acknowledged: bool,
    /// The return as it was named in an answer.
    pub(super) rma: Option<String>,
    /// How many changes of the return were acknowledged, and how many may have happened.
    pub(super) least: i64,
    pub(super) most: i64,
    pub(super) refunding: Refunding,
    /// The number of the last message that had arrived anywhere before the refund was sent.
    pub(super) received_before_refund: u64,
    /// The same request under the same key was answered differently.
    pub(super) answered_differently: bool,
    /// An answer was about something else.
    pub(super) answered_of_another: bool,
}

impl Client {
    /// The client of the return with this number, before it sends anything. Two returns in a row share an order: one has one
    /// unit of it, one has two.
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
            least: 0,
            most: 0,
            refunding: Refunding::Ahead,
            received_before_refund: 0,
            answered_differently: false,
            answered_of_another: false,
        }
    }

    /// Whether the refund was sent.
    pub(super) const fn is_refunding(&self) -> bool {
        match self.refunding {
            Refunding::Never | Refunding::Ahead => false,
            Refunding::Sent | Refunding::Acknowledged => true,
        }
    }
}

/// How far the refund is, for whoever sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refunding {
    /// There is none: the shopper forgets the return.
    Never,
    Ahead,
    Sent,
    Acknowledged,
}

/// What the merchant `shop` sells, and nobody else.
pub(super) fn sku(shop: usize) -> String {
    format!("SHOE-{shop}")
}
