//! One piece on its way back.

use super::{Held, Method, Parcel, Receiving, RefundType};

/// One piece on its way back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The identifier of the order line.
    pub line: String,
    /// Which of the line's units, from 1.
    pub number: u32,
    /// What the shopper gets for it.
    pub refund_type: RefundType,
    /// Where its parcel is.
    pub parcel: Parcel,
    /// Whether it has arrived; none where nothing is received.
    pub receiving: Option<Receiving>,
    /// Whether a refund of the merchant's covers it.
    pub refunded: bool,
    /// Whether it is exchanged and the exchange is not placed yet.
    pub exchange_owed: bool,
}

impl Unit {
    /// A unit of a new return; with `managed_receiving` it is waited for, unless the shopper keeps it.
    #[must_use]
    pub fn new(line: String, number: u32, refund_type: RefundType, method: Method, managed_receiving: bool) -> Self {
        Self {
            line,
            number,
            refund_type,
            parcel: Parcel::new(method),
            receiving: (managed_receiving && method != Method::CustomerKeep).then_some(Receiving::Pending),
            refunded: false,
            exchange_owed: refund_type != RefundType::Refund,
        }
    }

    /// Whether it stayed with the shopper when others of its return were dropped off.
    pub(super) const fn is_left_out(&self) -> bool {
        matches!(self.parcel, Parcel::NotDroppedOff(_))
    }

    /// What about this unit keeps its return from being called off.
    pub(super) fn held(&self) -> Option<Held> {
        if self.refunded {
            return Some(Held::Refunded);
        }
        if self.receiving == Some(Receiving::Received) {
            return Some(Held::Received);
        }
        match self.parcel {
            Parcel::Transit(_) | Parcel::Delivered(_) | Parcel::Returned(_) | Parcel::Failure(_) => return Some(Held::Scanned),
            Parcel::Accepted(_) => return Some(Held::Accepted),
            Parcel::Kept | Parcel::AwaitingLabel | Parcel::PreTransit(_) | Parcel::NotDroppedOff(_) => {}
        }
        match self.refund_type {
            RefundType::Refund => None,
            RefundType::EvenExchange | RefundType::UnevenExchange if self.exchange_owed => Some(Held::ExchangeOwed),
            RefundType::EvenExchange | RefundType::UnevenExchange => Some(Held::ExchangePlaced),
        }
    }
}
