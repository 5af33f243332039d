//! The items of a choice: what the shopper asks for, and what the shopper gets.

use crate::returns::exchange::variant::Variant;
use crate::returns::rma::word::RefundType;

/// Units of one line that the shopper wants to return for one reason.
pub struct RequestedItem<'a> {
    /// Identifier of the order line.
    pub line: &'a str,
    pub quantity: u32,
    pub reason: &'a str,
    pub instead: Instead<'a>,
}

/// A request for a refund or an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instead<'a> {
    Refund,
    /// An exchange for the variant with this SKU.
    Variant(&'a str),
    GiftCard,
}

/// The refund or exchange that a shopper gets for a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Getting<'a> {
    Refund,
    Variant(&'a Variant),
    GiftCard,
}

impl Getting<'_> {
    /// The refund type in messages.
    #[must_use]
    pub const fn refund_type(self) -> RefundType {
        match self {
            Self::Refund => RefundType::Refund,
            Self::Variant(_) => RefundType::EvenExchange,
            Self::GiftCard => RefundType::UnevenExchange,
        }
    }
}
