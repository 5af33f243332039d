//! A returned unit.

use super::parcel::Parcel;
use super::refusal::Held;
use super::word::{Method, Receiving, RefundType};

/// A returned unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Identifier of the order line.
    pub line: String,
    /// Number within the line, from 1.
    pub number: u32,
    pub refund_type: RefundType,
    pub parcel: Parcel,
    /// `None` without managed receiving.
    pub receiving: Option<Receiving>,
    /// Covered by a refund of the merchant.
    pub refunded: bool,
    /// A refund was reported while the exchange order was owed, and the exchange was converted afterwards: somebody must confirm
    /// that it is the shopper's money, or another refund settles the unit. Then it is not `refunded`.
    pub in_question: bool,
    /// To be exchanged, and the exchange is not placed yet.
    pub exchange_owed: bool,
}

impl Unit {
    /// A unit of a new return. With `managed_receiving` the warehouse expects it, unless the shopper keeps it.
    #[must_use]
    pub fn new(line: String, number: u32, refund_type: RefundType, method: Method, managed_receiving: bool) -> Self {
        Self {
            line,
            number,
            refund_type,
            parcel: Parcel::new(method),
            receiving: (managed_receiving && method != Method::CustomerKeep).then_some(Receiving::Pending),
            refunded: false,
            in_question: false,
            exchange_owed: refund_type != RefundType::Refund,
        }
    }

    /// True if it stayed with the shopper when other units were dropped off.
    pub(super) const fn is_left_out(&self) -> bool {
        matches!(self.parcel, Parcel::NotDroppedOff(_))
    }

    /// The reason this unit prevents its return from being cancelled, if any.
    pub(super) fn held(&self) -> Option<Held> {
        if self.refunded || self.in_question {
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
