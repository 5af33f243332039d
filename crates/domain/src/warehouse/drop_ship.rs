//! Drop-ship orders: orders that the warehouse ships to a merchant's shoppers.
//!
//! The status of an order and of its items is derived from the units shipped and cancelled, so it can never contradict them.
//! [`Order`] applies the warehouse's reports and returns an [`Event`]: the name of the one message that is owed.

mod refusal;
mod word;

use std::collections::HashSet;
use std::num::NonZeroU32;

pub use refusal::{Refused, TooMany};
pub use word::{Event, Status};

/// The part of a drop-ship order that can change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// In the merchant's order.
    pub items: Vec<Item>,
    /// The warehouse rejected the whole order.
    pub rejected: bool,
}

/// The unit counts of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    pub ordered: u32,
    pub shipped: u32,
    pub cancelled: u32,
}

/// A number of units of one item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    /// Position of the item in the order.
    pub item: usize,
    pub quantity: NonZeroU32,
}

impl Item {
    /// A new item, with all units open.
    #[must_use]
    pub const fn new(ordered: u32) -> Self {
        Self { ordered, shipped: 0, cancelled: 0 }
    }

    /// The units neither shipped nor cancelled.
    #[must_use]
    pub const fn open(&self) -> u32 {
        self.ordered.saturating_sub(self.shipped).saturating_sub(self.cancelled)
    }
}

impl Order {
    /// A new order, given the units ordered of each item. It owes no message.
    #[must_use]
    pub fn new(ordered: impl IntoIterator<Item = u32>) -> Self {
        Self { items: ordered.into_iter().map(Item::new).collect(), rejected: false }
    }

    /// The status of the order.
    #[must_use]
    pub fn status(&self) -> Status {
        let shipped = self.items.iter().any(|item| item.shipped > 0);
        let open = self.items.iter().any(|item| item.open() > 0);
        self.status_of(shipped, open)
    }

    /// The status of one of its items.
    #[must_use]
    pub fn item_status(&self, item: &Item) -> Status {
        self.status_of(item.shipped > 0, item.open() > 0)
    }

    const fn status_of(&self, shipped: bool, open: bool) -> Status {
        match (shipped, open) {
            (false, true) => Status::Accepted,
            (true, true) => Status::PartiallyShipped,
            (true, false) => Status::Shipped,
            (false, false) if self.rejected => Status::Rejected,
            (false, false) => Status::Cancelled,
        }
    }

    /// True while the order has open units.
    #[must_use]
    pub fn is_live(&self) -> bool {
        match self.status() {
            Status::Accepted | Status::PartiallyShipped => true,
            Status::Shipped | Status::Cancelled | Status::Rejected => false,
        }
    }

    /// Ships units in one shipment.
    pub fn ship(&mut self, units: &[Units]) -> Result<Event, Refused> {
        self.take(units, |item| &mut item.shipped)?;
        Ok(Event::Confirmed)
    }

    /// Cancels units. If no unit is left open and none was shipped, the whole order is cancelled.
    pub fn cancel_units(&mut self, units: &[Units]) -> Result<Event, Refused> {
        self.take(units, |item| &mut item.cancelled)?;
        Ok(match self.status() {
            Status::Cancelled | Status::Rejected => Event::Cancelled,
            Status::Accepted | Status::PartiallyShipped | Status::Shipped => Event::PartiallyCancelled,
        })
    }

    /// Cancels the whole order; does nothing if it is already cancelled.
    pub fn cancel(&mut self) -> Result<Option<Event>, Refused> {
        match self.status() {
            Status::Accepted => {}
            Status::Cancelled => return Ok(None),
            Status::PartiallyShipped => return Err(Refused::Shipped),
            over @ (Status::Shipped | Status::Rejected) => return Err(Refused::Over(over)),
        }
        self.close();
        Ok(Some(Event::Cancelled))
    }

    /// Rejects the order; does nothing if it is already rejected.
    pub fn reject(&mut self) -> Result<Option<Event>, Refused> {
        match self.status() {
            Status::Accepted if self.items.iter().any(|item| item.cancelled > 0) => return Err(Refused::Begun),
            Status::Accepted => {}
            Status::Rejected => return Ok(None),
            Status::PartiallyShipped => return Err(Refused::Shipped),
            over @ (Status::Shipped | Status::Cancelled) => return Err(Refused::Over(over)),
        }
        self.rejected = true;
        self.close();
        Ok(Some(Event::Rejected))
    }

    /// Cancels every open unit.
    fn close(&mut self) {
        for item in &mut self.items {
            item.cancelled += item.open();
        }
    }

    /// Moves open units to the count that `of` selects: all of them or none.
    fn take(&mut self, units: &[Units], of: fn(&mut Item) -> &mut u32) -> Result<(), Refused> {
        let status = self.status();
        if !self.is_live() {
            return Err(Refused::Over(status));
        }
        let mut items = self.items.clone();
        let mut too_many = Vec::new();
        for (at, units) in units.iter().enumerate() {
            let wanted = units.quantity.get();
            match items.get_mut(units.item) {
                Some(item) if wanted <= item.open() => *of(item) += wanted,
                Some(item) => too_many.push(TooMany { at, open: item.open() }),
                None => too_many.push(TooMany { at, open: 0 }),
            }
        }
        if !too_many.is_empty() {
            return Err(Refused::TooMany(too_many));
        }
        if items == self.items {
            return Err(Refused::Nothing);
        }
        self.items = items;
        Ok(())
    }
}

/// The positions of names that occur earlier in the list.
pub fn repeated<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<usize> {
    let mut seen = HashSet::new();
    names.into_iter().enumerate().filter(|(_, name)| !seen.insert(*name)).map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests;
