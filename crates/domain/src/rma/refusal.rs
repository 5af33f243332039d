//! What cannot be done to a return, and why.

use super::parcel::TrackingNumber;

/// Why a step of a return was refused; nothing of it was done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// A carrier reports on goods that the shopper keeps.
    #[error("the shopper keeps the goods; there is no parcel")]
    NoParcel,
    /// A second label.
    #[error("there is a label already, with another tracking number")]
    AnotherLabel {
        /// The one that stands.
        has: TrackingNumber,
        /// The one that was refused.
        offered: TrackingNumber,
    },
    /// A label for some of the units.
    #[error("a label is for all units of a return")]
    PartOfALabel,
    /// The return has no unit at this position.
    #[error("the return has no such unit")]
    NoSuchUnit(usize),
    /// A receipt without managed receiving, or of goods that the shopper keeps.
    #[error("nothing is received for this return")]
    NotReceiving,
    /// The return was called off.
    #[error("the return is cancelled")]
    Canceled,
    /// The return cannot be called off any more.
    #[error("the return cannot be cancelled: {0}")]
    NotCancelable(Held),
}

/// What holds a return, so that it cannot be called off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Held {
    /// It is settled.
    #[error("it is refunded")]
    Settled,
    /// A unit was refunded.
    #[error("a unit is refunded")]
    Refunded,
    /// A unit arrived.
    #[error("a unit was received")]
    Received,
    /// A unit was scanned on its way.
    #[error("the carrier has scanned it")]
    Scanned,
    /// A unit was dropped off or collected.
    #[error("the carrier has accepted it")]
    Accepted,
    /// An exchange is still to be placed.
    #[error("an exchange is being placed")]
    ExchangeOwed,
    /// An exchange was placed.
    #[error("an exchange was placed")]
    ExchangePlaced,
}
