//! Shipments out of a warehouse: their state machine, and the split into messages.
//!
//! A shipment is open until its units are fixed, by announcing or by shipping it. [`State::on`] applies an [`Act`] and returns a
//! [`Step`], which carries an [`Event`] if the merchant is owed messages.

pub mod number;
pub mod split;
mod word;

pub use number::AsnNumber;
pub use word::{CarrierPayment, Event, Kind, PlaceType, State, Status};

/// The most units in a shipment; all its messages are written in one transaction.
pub const MOST_UNITS: u32 = 200_000;

/// An action on a shipment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Fix its units and send it to the merchant.
    Announce,
    Ship,
    Deliver,
    Cancel,
    ChangeShipDate,
    /// Change its carrier, tracking numbers or bill of lading.
    ChangeTransport,
}

/// The outcome of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Moved {
        to: State,
        /// The event to send; `None` if the merchant does not know of the shipment.
        tells: Option<Event>,
    },
    /// A repeat: no error, and no message.
    Unchanged,
}

/// An action that the state of the shipment does not allow. Nothing is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the shipment is {} and cannot be {}", from.status(), act.done())]
pub struct Refused {
    pub from: State,
    pub act: Act,
}

impl Act {
    /// The past participle, for error messages.
    const fn done(self) -> &'static str {
        match self {
            Self::Announce => "announced",
            Self::Ship => "shipped",
            Self::Deliver => "delivered",
            Self::Cancel => "cancelled",
            Self::ChangeShipDate => "given another ship date",
            Self::ChangeTransport => "given another carrier, tracking number or bill of lading",
        }
    }
}

impl State {
    /// The status in messages.
    #[must_use]
    pub const fn status(self) -> Status {
        match self {
            Self::Open | Self::Announced => Status::Pending,
            Self::Shipped => Status::Shipped,
            Self::Delivered => Status::Delivered,
            Self::Cancelled => Status::Cancelled,
        }
    }

    /// Applies `act` to a shipment in this state.
    pub const fn on(self, act: Act) -> Result<Step, Refused> {
        match (self, act) {
            (Self::Open, Act::Announce) => Ok(Step::Moved { to: Self::Announced, tells: Some(Event::Pending) }),
            (Self::Open | Self::Announced, Act::Ship) => Ok(Step::Moved { to: Self::Shipped, tells: Some(Event::Shipped) }),
            (Self::Shipped, Act::Deliver) => Ok(Step::Moved { to: Self::Delivered, tells: Some(Event::Delivered) }),
            // The merchant does not know of a shipment that was never announced.
            (Self::Open, Act::Cancel) => Ok(Step::Moved { to: Self::Cancelled, tells: None }),
            (Self::Announced, Act::Cancel) => Ok(Step::Moved { to: Self::Cancelled, tells: Some(Event::Cancelled) }),
            (Self::Open, Act::ChangeShipDate | Act::ChangeTransport) => Ok(Step::Moved { to: Self::Open, tells: None }),
            (Self::Announced, Act::ChangeShipDate) => Ok(Step::Moved { to: Self::Announced, tells: Some(Event::ShipDateChanged) }),
            (Self::Announced, Act::ChangeTransport) => Ok(Step::Moved { to: Self::Announced, tells: Some(Event::TransportChanged) }),
            // Warehouses repeat reports. A delivered shipment has also shipped.
            (Self::Announced, Act::Announce)
            | (Self::Shipped | Self::Delivered, Act::Ship)
            | (Self::Delivered, Act::Deliver)
            | (Self::Cancelled, Act::Cancel) => Ok(Step::Unchanged),
            (Self::Shipped | Self::Delivered | Self::Cancelled, Act::Announce | Act::ChangeShipDate | Act::ChangeTransport)
            | (Self::Cancelled, Act::Ship)
            | (Self::Open | Self::Announced | Self::Cancelled, Act::Deliver)
            | (Self::Shipped | Self::Delivered, Act::Cancel) => Err(Refused { from: self, act }),
        }
    }
}

#[cfg(test)]
mod tests;
