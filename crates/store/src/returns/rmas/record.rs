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
    /// Each unit with its details.
    pub fn units(&self) -> impl Iterator<Item = (&Unit, &Item)> {
        self.rma.units.iter().zip(&self.items)
    }
}
