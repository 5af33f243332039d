//! The rules for orders.
//!
//! [`broken`] finds violations, for which an order is refused. [`doubts`] finds what does not add up; such an order is accepted
//! with warnings, because merchants round.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};

use crate::money::{Balance, Cents};

/// The most units on one line.
pub const MOST_UNITS: u32 = 1_000;

/// The status of an order in the merchant's systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Placed, and not fully shipped.
    Created,
    /// Fully shipped; also after a full refund.
    Shipped,
    Cancelled,
}

impl Status {
    /// The status in the contract's spelling.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "Created",
            Self::Shipped => "Shipped",
            Self::Cancelled => "Cancelled",
        }
    }
}

/// An order as the rules see it: borrowed from the message, with defaults filled in.
pub struct Order<'a> {
    pub identifier: &'a str,
    pub status: Status,
    pub total: Cents,
    /// Total of the goods, if stated.
    pub product: Option<Cents>,
    /// Tax on the goods, if stated.
    pub tax: Option<Cents>,
    pub discount: Cents,
    pub shipping: Cents,
    pub shipping_tax: Cents,
    pub placed_at: DateTime<Utc>,
    /// The shopper has an identifier or an e-mail address.
    pub customer_named: bool,
    pub lines: Vec<Line<'a>>,
    pub refunds: Vec<Refund<'a>>,
}

/// One line of an order.
pub struct Line<'a> {
    pub identifier: &'a str,
    pub quantity: u32,
    pub shipped: u32,
    pub cancelled: u32,
    pub unit_price: Cents,
    /// The merchant's figure for the goods of the line, if given.
    pub product: Option<Cents>,
    pub tax: Cents,
}

impl Line<'_> {
    /// The units that will never be shipped.
    #[must_use]
    pub const fn cancelled_units(&self, status: Status) -> u32 {
        match status {
            Status::Created | Status::Shipped => self.cancelled,
            Status::Cancelled => self.quantity.saturating_sub(self.shipped),
        }
    }
}

/// A refund paid by the merchant.
pub struct Refund<'a> {
    /// Unique among all refunds of the merchant.
    pub identifier: &'a str,
    pub total: Cents,
    /// As the merchant reported it.
    pub refunded_at: DateTime<Utc>,
    pub lines: Vec<RefundLine<'a>>,
}

/// Units of one line covered by a refund.
pub struct RefundLine<'a> {
    /// Unique among all refund lines of the merchant.
    pub identifier: &'a str,
    pub order_line: &'a str,
    pub quantity: u32,
}

/// A rule that an order breaks; fields are positions in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The shopper has neither identifier nor e-mail address.
    CustomerUnnamed,
    /// The line's identifier was used by a line before it.
    LineRepeated { line: usize },
    /// Shipped and cancelled units together exceed the ordered ones.
    LineOvercommitted { line: usize },
    /// The refund's identifier was used by a refund before it.
    RefundRepeated { refund: usize },
}

/// The rules that `order` breaks, in the order of the message.
#[must_use]
pub fn broken(order: &Order<'_>) -> Vec<Broken> {
    let mut found = Vec::new();
    let mut lines = Seen::with_capacity(order.lines.len());
    for (at, line) in order.lines.iter().enumerate() {
        if !lines.insert(line.identifier) {
            found.push(Broken::LineRepeated { line: at });
        }
        if line.shipped.saturating_add(line.cancelled) > line.quantity {
            found.push(Broken::LineOvercommitted { line: at });
        }
    }
    if !order.customer_named {
        found.push(Broken::CustomerUnnamed);
    }
    let mut refunds = Seen::with_capacity(order.refunds.len());
    let repeated = order.refunds.iter().enumerate().filter(|(_, refund)| !refunds.insert(refund.identifier));
    found.extend(repeated.map(|(refund, _)| Broken::RefundRepeated { refund }));
    found
}

/// Identifiers met so far. Most orders have a few, which are sooner compared than hashed.
enum Seen<'a> {
    Few(Vec<&'a str>),
    Many(HashSet<&'a str>),
}

impl<'a> Seen<'a> {
    /// The most identifiers that are compared with each other.
    const FEW: usize = 16;

    fn with_capacity(identifiers: usize) -> Self {
        if identifiers <= Self::FEW { Self::Few(Vec::with_capacity(identifiers)) } else { Self::Many(HashSet::with_capacity(identifiers)) }
    }

    /// Returns false if it was met before.
    fn insert(&mut self, identifier: &'a str) -> bool {
        match self {
            Self::Few(seen) if seen.contains(&identifier) => false,
            Self::Few(seen) => {
                seen.push(identifier);
                true
            }
            Self::Many(seen) => seen.insert(identifier),
        }
    }
}

/// Something that does not add up; fields are positions in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The total is not product − discount + tax + shipping + shipping tax.
    TotalDiffers { computed: Balance },
    /// The order's product amount is not the sum of its lines'.
    ProductDiffers { computed: Balance },
    /// The order's tax is not the sum of its lines'.
    TaxDiffers { computed: Balance },
    /// A line's product amount is not unit price × shipped units.
    LineProductDiffers { line: usize, computed: Balance },
    /// A refund of every unit is not the order's total.
    FullRefundDiffers { refund: usize },
    /// The refunds exceed the order's total.
    RefundedAboveTotal {
        /// The refund that exceeds it.
        refund: usize,
    },
    /// The refund is dated before the order was placed.
    RefundBeforeOrder { refund: usize },
    /// The refund line is for a line that the order does not have, or no longer.
    RefundOfUnknownLine {
        refund: usize,
        /// Position within the refund.
        line: usize,
    },
    /// The refunds cover more units of the order line than were sold.
    Overrefunded {
        refund: usize,
        /// Position within the refund.
        line: usize,
    },
}

/// The doubts about `order`, those about its refunds last. Omitted amounts are not checked.
#[must_use]
pub fn doubts(order: &Order<'_>) -> Vec<Doubt> {
    let mut found = Vec::new();
    if let Some(product) = order.product {
        let tax = order.tax.unwrap_or_default();
        let total = Balance::from(product).less(order.discount).plus(tax).plus(order.shipping).plus(order.shipping_tax);
        if Balance::from(order.total) != total {
            found.push(Doubt::TotalDiffers { computed: total });
        }
        let lines: Balance = order.lines.iter().map(|line| line.product.unwrap_or_default()).sum();
        if Balance::from(product) != lines {
            found.push(Doubt::ProductDiffers { computed: lines });
        }
    }
    let lines: Balance = order.lines.iter().map(|line| line.tax).sum();
    if order.tax.is_some_and(|tax| Balance::from(tax) != lines) {
        found.push(Doubt::TaxDiffers { computed: lines });
    }
    for (at, line) in order.lines.iter().enumerate() {
        let computed = Balance::of(line.unit_price, line.shipped);
        if line.product.is_some_and(|stated| Balance::from(stated) != computed) {
            found.push(Doubt::LineProductDiffers { line: at, computed });
        }
    }
    doubt_refunds(order, &mut found);
    found
}

fn doubt_refunds(order: &Order<'_>, found: &mut Vec<Doubt>) {
    if order.refunds.is_empty() {
        return;
    }
    let sold: HashMap<&str, u32> = order.lines.iter().map(|line| (line.identifier, line.quantity)).collect();
    let mut refunded: HashMap<&str, u32> = HashMap::new();
    let mut paid_back = Balance::default();
    for (at, refund) in order.refunds.iter().enumerate() {
        if covers_everything(order, refund) && refund.total != order.total {
            found.push(Doubt::FullRefundDiffers { refund: at });
        }
        paid_back = paid_back.plus(refund.total);
        if paid_back > Balance::from(order.total) {
            found.push(Doubt::RefundedAboveTotal { refund: at });
        }
        if refund.refunded_at < order.placed_at {
            found.push(Doubt::RefundBeforeOrder { refund: at });
        }
        for (line_at, line) in refund.lines.iter().enumerate() {
            let Some(&sold) = sold.get(line.order_line) else {
                found.push(Doubt::RefundOfUnknownLine { refund: at, line: line_at });
                continue;
            };
            let sum = refunded.entry(line.order_line).or_default();
            *sum = sum.saturating_add(line.quantity);
            if *sum > sold {
                found.push(Doubt::Overrefunded { refund: at, line: line_at });
            }
        }
    }
}

fn covers_everything(order: &Order<'_>, refund: &Refund<'_>) -> bool {
    order.lines.iter().all(|line| {
        let covered = refund.lines.iter().filter(|covered| covered.order_line == line.identifier);
        covered.map(|covered| covered.quantity).fold(0, u32::saturating_add) == line.quantity
    })
}

#[cfg(test)]
mod tests;
