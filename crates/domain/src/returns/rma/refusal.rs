//! Refused changes of returns.

use super::tracking::TrackingNumber;

/// The reasons a change of a return is refused. Nothing is changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// A carrier event for goods that the shopper keeps.
    #[error("the shopper keeps the goods, so there is no parcel")]
    NoParcel,
    #[error("the return already has a label with another tracking number")]
    AnotherLabel { has: TrackingNumber, offered: TrackingNumber },
    /// A label for only some of the units.
    #[error("a label must be for all units of the return")]
    PartOfALabel,
    /// There is no unit at this position.
    #[error("the return has no such unit")]
    NoSuchUnit(usize),
    /// A receipt without managed receiving, or of goods that the shopper keeps.
    #[error("no units are received for this return")]
    NotReceiving,
    #[error("the return is cancelled")]
    Cancelled,
    #[error("the return cannot be cancelled: {0}")]
    NotCancelable(Held),
}

/// The reasons a return can no longer be cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Held {
    #[error("it has been refunded")]
    Settled,
    #[error("a unit has been refunded")]
    Refunded,
    #[error("a unit has been received")]
    Received,
    #[error("the carrier has scanned it")]
    Scanned,
    /// A unit was dropped off or collected.
    #[error("the carrier has accepted it")]
    Accepted,
    /// The exchange order is still owed to the merchant.
    #[error("an exchange is being placed")]
    ExchangeOwed,
    #[error("an exchange has been placed")]
    ExchangePlaced,
}
