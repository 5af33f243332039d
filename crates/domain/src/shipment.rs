//! Shipments out of a warehouse: what can happen to one, and into which messages it is split.
//!
//! A shipment is open until its units are fixed, by announcing it or by shipping it. [`State::on`] takes what is asked for and
//! answers with a [`Step`]: what moved is told where its [`Event`] says so; what did not move is not.

pub mod number;
pub mod split;
mod word;

pub use number::AsnNumber;
pub use word::{CarrierPayment, Event, Kind, PlaceType, State, Status};

/// How many units a shipment has at most: they are told in one transaction.
pub const MOST_UNITS: u32 = 200_000;

/// What can be asked of a shipment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Fix its units and tell of it.
    Announce,
    /// It leaves the warehouse.
    Ship,
    /// It arrived.
    Deliver,
    /// Call it off.
    Cancel,
    /// It ships on another day.
    ChangeShipDate,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It changed something.
    Moved {
        /// Where the shipment stands now.
        to: State,
        /// What is told of it; nothing of a shipment that nobody was told of.
        tells: Option<Event>,
    },
    /// A repeat. No error, and no message.
    Unchanged,
}

/// Why something was refused; nothing of it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the shipment is {} and cannot be {}", from.status(), act.done())]
pub struct Refused {
    /// Where the shipment stands.
    pub from: State,
    /// What was asked for.
    pub act: Act,
}

impl Act {
    /// What would have been done, as a past participle.
    const fn done(self) -> &'static str {
        match self {
            Self::Announce => "announced",
            Self::Ship => "shipped",
            Self::Deliver => "delivered",
            Self::Cancel => "canceled",
            Self::ChangeShipDate => "given another ship date",
        }
    }
}

impl State {
    /// What others are told of it.
    #[must_use]
    pub const fn status(self) -> Status {
        match self {
            Self::Open | Self::Announced => Status::Pending,
            Self::Shipped => Status::Shipped,
            Self::Delivered => Status::Delivered,
            Self::Canceled => Status::Canceled,
        }
    }

    /// What `act` does to a shipment in this state.
    pub const fn on(self, act: Act) -> Result<Step, Refused> {
        match (self, act) {
            (Self::Open, Act::Announce) => Ok(Step::Moved { to: Self::Announced, tells: Some(Event::Pending) }),
            (Self::Open | Self::Announced, Act::Ship) => Ok(Step::Moved { to: Self::Shipped, tells: Some(Event::Shipped) }),
            (Self::Shipped, Act::Deliver) => Ok(Step::Moved { to: Self::Delivered, tells: Some(Event::Delivered) }),
            // Nobody knows of a shipment that was never announced.
            (Self::Open, Act::Cancel) => Ok(Step::Moved { to: Self::Canceled, tells: None }),
            (Self::Announced, Act::Cancel) => Ok(Step::Moved { to: Self::Canceled, tells: Some(Event::Canceled) }),
            (Self::Open, Act::ChangeShipDate) => Ok(Step::Moved { to: Self::Open, tells: None }),
            (Self::Announced, Act::ChangeShipDate) => Ok(Step::Moved { to: Self::Announced, tells: Some(Event::ShipDateChanged) }),
            // Warehouses repeat themselves. What was delivered did ship.
            (Self::Announced, Act::Announce)
            | (Self::Shipped | Self::Delivered, Act::Ship)
            | (Self::Delivered, Act::Deliver)
            | (Self::Canceled, Act::Cancel) => Ok(Step::Unchanged),
            (Self::Shipped | Self::Delivered | Self::Canceled, Act::Announce | Act::ChangeShipDate)
            | (Self::Canceled, Act::Ship)
            | (Self::Open | Self::Announced | Self::Canceled, Act::Deliver)
            | (Self::Shipped | Self::Delivered, Act::Cancel) => Err(Refused { from: self, act }),
        }
    }
}

#[cfg(test)]
mod tests;
