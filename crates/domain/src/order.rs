//! What an order message must and should say.
//!
//! [`broken`] finds what makes a message unusable, so that it is refused; [`doubts`] finds what does not add up, so
//! that it is accepted and pointed out: merchants round.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use crate::money::{Balance, Cents};

/// The most units that one line may have.
pub const MOST_UNITS: u32 = 1_000;

/// Where the order stands in the merchant's systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Placed, nothing or not everything shipped yet.
    Created,
    /// The full order has shipped; also after a full refund.
    Shipped,
    /// Called off.
    Cancelled,
}

/// An order as the rules see it: borrowed from the message, defaults filled in.
pub struct Order<'a> {
    /// The merchant's name for it.
    pub identifier: &'a str,
    /// Where it stands.
    pub status: Status,
    /// What the shopper paid.
    pub total: Cents,
    /// The goods, where stated.
    pub product: Option<Cents>,
    /// Tax on the goods, where stated.
    pub tax: Option<Cents>,
    /// Discount on the order.
    pub discount: Cents,
    /// Shipping charge.
    pub shipping: Cents,
    /// Tax on shipping.
    pub shipping_tax: Cents,
    /// When it was placed.
    pub placed_at: DateTime<Utc>,
    /// Whether the shopper is named by an identifier or an e-mail address.
    pub customer_named: bool,
    /// What was ordered.
    pub lines: Vec<Line<'a>>,
    /// What was paid back.
    pub refunds: Vec<Refund<'a>>,
}

/// One line of an order.
pub struct Line<'a> {
    /// The merchant's name for the line.
    pub identifier: &'a str,
    /// Units ordered.
    pub quantity: u32,
    /// Units that left.
    pub shipped: u32,
    /// Units called off.
    pub cancelled: u32,
    /// Price of one unit.
    pub unit_price: Cents,
    /// The merchant's figure for the goods of the line, where given.
    pub product: Option<Cents>,
    /// Tax of the line.
    pub tax: Cents,
}

/// Money that the merchant paid back.
pub struct Refund<'a> {
    /// Unique among all refunds of the merchant.
    pub identifier: &'a str,
    /// What was paid back.
    pub total: Cents,
    /// When, by the merchant's account.
    pub refunded_at: DateTime<Utc>,
    /// The units covered.
    pub lines: Vec<RefundLine<'a>>,
}

/// Units of one line covered by a refund.
pub struct RefundLine<'a> {
    /// Unique among all refund lines of the merchant.
    pub identifier: &'a str,
    /// The order line whose units these are.
    pub order_line: &'a str,
    /// How many.
    pub quantity: u32,
}

/// A rule that an order breaks; places are positions in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The shopper has neither identifier nor e-mail address.
    CustomerUnnamed,
    /// The line's identifier was used by a line before it.
    LineRepeated {
        /// Position of the line.
        line: usize,
    },
    /// Shipped and cancelled units together exceed the ordered ones.
    LineOvercommitted {
        /// Position of the line.
        line: usize,
    },
    /// The refund's identifier was used by a refund before it.
    RefundRepeated {
        /// Position of the refund.
        refund: usize,
    },
    /// The refund line's identifier was used by a refund line before it.
    RefundLineRepeated {
        /// Position of the refund.
        refund: usize,
        /// Position of the line within the refund.
        line: usize,
    },
    /// The refund covers a line that the order does not have.
    RefundOfUnknownLine {
        /// Position of the refund.
        refund: usize,
        /// Position of the line within the refund.
        line: usize,
    },
    /// With this refund line, more units of the order's line are refunded than were ordered.
    Overrefunded {
        /// Position of the refund.
        refund: usize,
        /// Position of the line within the refund.
        line: usize,
    },
}

/// Every rule that `order` breaks, in the order of the message.
#[must_use]
pub fn broken(order: &Order<'_>) -> Vec<Broken> {
    let mut found = Vec::new();
    let mut ordered: HashMap<&str, u32> = HashMap::with_capacity(order.lines.len());
    for (at, line) in order.lines.iter().enumerate() {
        if ordered.insert(line.identifier, line.quantity).is_some() {
            found.push(Broken::LineRepeated { line: at });
        }
        if line.shipped.saturating_add(line.cancelled) > line.quantity {
            found.push(Broken::LineOvercommitted { line: at });
        }
    }
    if !order.customer_named {
        found.push(Broken::CustomerUnnamed);
    }
    let mut refunds = HashMap::new();
    let mut refund_lines = HashMap::new();
    let mut refunded: HashMap<&str, u32> = HashMap::new();
    for (at, refund) in order.refunds.iter().enumerate() {
        if refunds.insert(refund.identifier, at).is_some() {
            found.push(Broken::RefundRepeated { refund: at });
        }
        for (line_at, line) in refund.lines.iter().enumerate() {
            if refund_lines.insert(line.identifier, line_at).is_some() {
                found.push(Broken::RefundLineRepeated { refund: at, line: line_at });
            }
            let Some(&ordered) = ordered.get(line.order_line) else {
                found.push(Broken::RefundOfUnknownLine { refund: at, line: line_at });
                continue;
            };
            let sum = refunded.entry(line.order_line).or_default();
            *sum = sum.saturating_add(line.quantity);
            if *sum > ordered {
                found.push(Broken::Overrefunded { refund: at, line: line_at });
            }
        }
    }
    found
}

/// Something that does not add up; places are positions in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The total is not product − discount + tax + shipping + shipping tax.
    TotalDiffers {
        /// What the parts come to.
        computed: Balance,
    },
    /// The order's product amount is not the sum of its lines'.
    ProductDiffers {
        /// What the lines come to.
        computed: Balance,
    },
    /// The order's tax is not the sum of its lines'.
    TaxDiffers {
        /// What the lines come to.
        computed: Balance,
    },
    /// A line's product amount is not unit price × shipped units.
    LineProductDiffers {
        /// Position of the line.
        line: usize,
        /// What the units come to.
        computed: Balance,
    },
    /// A refund of every unit is not the order's total.
    FullRefundDiffers {
        /// Position of the refund.
        refund: usize,
    },
    /// More was paid back than was paid.
    RefundedAboveTotal {
        /// Position of the refund that went above.
        refund: usize,
    },
    /// The refund is dated before the order was placed.
    RefundBeforeOrder {
        /// Position of the refund.
        refund: usize,
    },
}

/// Every doubt about `order`, in the order of the message. An amount that was left out is not doubted.
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
