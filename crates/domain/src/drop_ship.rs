//! Drop-ship orders: what a merchant has shipped to its shoppers from the warehouse, and what becomes of each unit.
//!
//! Where an order and its items stand follows from how many units were shipped and called off, so that no status can
//! contradict the units. [`Order`] takes what the warehouse reports and answers with an [`Event`]: the name of the one message
//! that is owed for it.

mod refusal;
mod word;

use std::collections::HashSet;
use std::num::NonZeroU32;

pub use refusal::{Refused, TooMany};
pub use word::{Event, Status};

/// A drop-ship order, as far as it can change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Its items, in the merchant's order.
    pub items: Vec<Item>,
    /// Whether the warehouse refused it as a whole.
    pub rejected: bool,
}

/// The units of one item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// How many were ordered.
    pub ordered: u32,
    /// How many were shipped.
    pub shipped: u32,
    /// How many were called off.
    pub cancelled: u32,
}

/// Units of the item at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    /// The item's position.
    pub item: usize,
    /// How many.
    pub quantity: NonZeroU32,
}

impl Item {
    /// An item of which nothing has happened to any unit.
    #[must_use]
    pub const fn new(ordered: u32) -> Self {
        Self { ordered, shipped: 0, cancelled: 0 }
    }

    /// How many units nothing has happened to yet.
    #[must_use]
    pub const fn open(&self) -> u32 {
        self.ordered.saturating_sub(self.shipped).saturating_sub(self.cancelled)
    }
}

impl Order {
    /// A new order of items with so many units each. It owes no message.
    #[must_use]
    pub fn new(ordered: impl IntoIterator<Item = u32>) -> Self {
        Self { items: ordered.into_iter().map(Item::new).collect(), rejected: false }
    }

    /// Where it stands.
    #[must_use]
    pub fn status(&self) -> Status {
        let shipped = self.items.iter().any(|item| item.shipped > 0);
        let open = self.items.iter().any(|item| item.open() > 0);
        self.status_of(shipped, open)
    }

    /// Where one of its items stands.
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

    /// Whether something can still happen to it.
    #[must_use]
    pub fn is_live(&self) -> bool {
        match self.status() {
            Status::Accepted | Status::PartiallyShipped => true,
            Status::Shipped | Status::Cancelled | Status::Rejected => false,
        }
    }

    /// Units leave the warehouse in one shipment.
    pub fn ship(&mut self, units: &[Units]) -> Result<Event, Refused> {
        self.take(units, |item| &mut item.shipped)?;
        Ok(Event::Confirmed)
    }

    /// Units are called off. If none is left and none was shipped, the order is.
    pub fn cancel_units(&mut self, units: &[Units]) -> Result<Event, Refused> {
        self.take(units, |item| &mut item.cancelled)?;
        Ok(match self.status() {
            Status::Cancelled | Status::Rejected => Event::Cancelled,
            Status::Accepted | Status::PartiallyShipped | Status::Shipped => Event::PartiallyCancelled,
        })
    }

    /// The whole order is called off; nothing happens if it was before.
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

    /// The warehouse refuses the order; nothing happens if it did before.
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

    /// Calls every open unit off.
    fn close(&mut self) {
        for item in &mut self.items {
            item.cancelled += item.open();
        }
    }

    /// Moves units from open to where `of` says, all or none.
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

/// The positions of names that stand earlier in the list as well: each order, and each item of an order, has its own.
pub fn repeated<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<usize> {
    let mut seen = HashSet::new();
    names.into_iter().enumerate().filter(|(_, name)| !seen.insert(*name)).map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests;
