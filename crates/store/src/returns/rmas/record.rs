//! A return as it is stored.

use chrono::{DateTime, Utc};
use domain::money::Cents;
use domain::returns::rma::money::{Financials, UnitMoney};
use domain::returns::rma::{Rma, Unit};
use uuid::Uuid;

/// A stored return. It has no `Debug`, because the giftee's address is personal.
#[derive(Clone)]
pub struct Return {
    pub id: Uuid,
    pub identifier: String,
    pub order: String,
    /// The order that `order` is the exchange order of, if it is one.
    pub original_order: Option<String>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    /// The number of changes so far, counting its creation.
    pub sequence: i64,
    /// The cost of the way back.
    pub shipping_cost: Cents,
    /// True if that cost is deducted from the refunds.
    pub fee_deducted: bool,
    pub gift: bool,
    /// The address of whoever returns the gift.
    pub giftee_email: Option<String>,
    /// The code of the language in which the shopper is written to, if it is known.
    pub language: Option<String>,
    /// The reason for cancelling it.
    pub cancel_reason: Option<String>,
    /// True if the shopper has been reminded of it.
    pub reminded: bool,
    /// The time of the next action if nothing happens until then: the reminder, then the expiry.
    pub wakes_at: Option<DateTime<Utc>>,
    pub rma: Rma,
    /// In the order of the units.
    pub items: Vec<Item>,
    /// The return as it was last read or saved; `None` for a new one.
    pub stored: Option<Stored>,
}

/// The state of a return in the database, by which the store knows what has changed.
#[derive(Clone)]
pub struct Stored {
    rma: Rma,
    items: Vec<Item>,
}

/// The details of a unit beyond its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub sku: String,
    pub title: Option<String>,
    pub reason: String,
    /// The unit's share of the payment.
    pub money: UnitMoney,
    /// The unit's share of the refund.
    pub financials: Financials,
    /// The refund that covers it, or that is in question.
    pub refund: Option<String>,
    /// The SKU of the variant that the shopper takes instead of a refund.
    pub exchange_sku: Option<String>,
    /// The merchant's identifier of the exchange order, if the unit is exchanged.
    pub exchange_order: Option<String>,
}

impl Return {
    /// The state that is stored; `None` for a new return.
    #[must_use]
    pub fn before(&self) -> Option<&Rma> {
        self.stored.as_ref().map(|stored| &stored.rma)
    }

    /// Remembers that the current state is stored.
    pub(super) fn set_stored(&mut self) {
        self.stored = Some(Stored { rma: self.rma.clone(), items: self.items.clone() });
    }

    /// For each unit, whether it differs from what is stored.
    pub(super) fn changed_units(&self) -> Vec<bool> {
        let Some(Stored { rma, items }) = &self.stored else { return vec![true; self.items.len()] };
        let mut before = rma.units.iter().zip(items);
        self.units().map(|now| before.next() != Some(now)).collect()
    }

    /// Each unit with its details.
    pub fn units(&self) -> impl Iterator<Item = (&Unit, &Item)> {
        self.rma.units.iter().zip(&self.items)
    }
}
