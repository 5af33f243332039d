//! The standing of an order with regard to exchanges.

/// An order's standing with regard to exchanges, before any line of it is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Offered,
    /// The merchant takes no exchange orders.
    NotOffered,
    /// There is one exchange order per order, and this order has had its own.
    ExchangedBefore,
}
