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
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;

    const LINES: [&str; 5] = ["line 0", "line 1", "line 2", "line 3", "line 4"];
    const REFUNDS: [&str; 3] = ["refund 0", "refund 1", "refund 2"];
    const REFUND_LINES: [[&str; 5]; 3] =
        [["0 0", "0 1", "0 2", "0 3", "0 4"], ["1 0", "1 1", "1 2", "1 3", "1 4"], ["2 0", "2 1", "2 2", "2 3", "2 4"]];

    /// What an order is made from. It is printed when a test fails; an order is not, because it may be a shopper's.
    #[derive(Clone, Debug)]
    struct Plan {
        lines: Vec<PlannedLine>,
        /// How many units of every line each refund covers, as far as there are any left.
        refunds: Vec<Vec<u32>>,
        discount: i64,
        shipping: i64,
        shipping_tax: i64,
    }

    #[derive(Clone, Debug)]
    struct PlannedLine {
        quantity: u32,
        shipped: u32,
        cancelled: u32,
        price: i64,
        tax: i64,
    }

    fn plans() -> impl Strategy<Value = Plan> {
        let line = (1..=MOST_UNITS, 0..=MOST_UNITS, 0..=MOST_UNITS, 0..1_000_000_i64, 0..1_000_000_i64).prop_map(
            |(quantity, shipped, cancelled, price, tax)| {
                let shipped = shipped.min(quantity);
                PlannedLine { quantity, shipped, cancelled: cancelled.min(quantity - shipped), price, tax }
            },
        );
        let units = prop_oneof![Just(0), Just(MOST_UNITS), 0..=MOST_UNITS];
        let refunds = prop::collection::vec(prop::collection::vec(units, LINES.len()), 0..=REFUNDS.len());
        (prop::collection::vec(line, 1..=LINES.len()), refunds, 0..1_000_000_i64, 1..1_000_000_i64, 0..1_000_000_i64)
            .prop_map(|(lines, refunds, discount, shipping, shipping_tax)| Plan { lines, refunds, discount, shipping, shipping_tax })
    }

    fn cents(amount: i64) -> Cents {
        Cents::new(amount).expect("in range")
    }

    fn day(number: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(number * 86_400, 0).expect("in range")
    }

    fn one_more(amount: Cents) -> Cents {
        cents(amount.get() + 1)
    }

    /// The order of a plan: everything in it adds up.
    fn order(plan: &Plan) -> Order<'static> {
        let lines: Vec<Line<'static>> = plan
            .lines
            .iter()
            .zip(LINES)
            .map(|(line, identifier)| Line {
                identifier,
                quantity: line.quantity,
                shipped: line.shipped,
                cancelled: line.cancelled,
                unit_price: cents(line.price),
                product: Some(cents(line.price * i64::from(line.shipped))),
                tax: cents(line.tax),
            })
            .collect();
        let product: i64 = lines.iter().filter_map(|line| line.product).map(Cents::get).sum();
        let tax: i64 = plan.lines.iter().map(|line| line.tax).sum();
        let discount = plan.discount.min(product);
        let total = product - discount + tax + plan.shipping + plan.shipping_tax;
        let mut order = Order {
            identifier: "order",
            status: Status::Shipped,
            total: cents(total),
            product: Some(cents(product)),
            tax: Some(cents(tax)),
            discount: cents(discount),
            shipping: cents(plan.shipping),
            shipping_tax: cents(plan.shipping_tax),
            placed_at: day(10),
            customer_named: true,
            lines,
            refunds: Vec::new(),
        };
        order.refunds = refunds(plan, &order);
        order
    }

    fn refunds(plan: &Plan, order: &Order<'static>) -> Vec<Refund<'static>> {
        let mut left: Vec<u32> = order.lines.iter().map(|line| line.quantity).collect();
        let mut refunds = Vec::new();
        for ((units, identifier), line_identifiers) in plan.refunds.iter().zip(REFUNDS).zip(REFUND_LINES) {
            let mut lines = Vec::new();
            for (((wanted, left), line), identifier) in units.iter().zip(&mut left).zip(&order.lines).zip(line_identifiers) {
                let quantity = *wanted.min(left);
                *left -= quantity;
                if quantity > 0 {
                    lines.push(RefundLine { identifier, order_line: line.identifier, quantity });
                }
            }
            refunds.push(Refund { identifier, total: Cents::default(), refunded_at: day(10), lines });
        }
        // A refund of everything is the whole total and leaves nothing to the others; without one, they share it.
        let share = order.total.get() / i64::try_from(refunds.len().max(1)).expect("there are few");
        let full = refunds.iter().position(|refund| covers_everything(order, refund));
        for (at, refund) in refunds.iter_mut().enumerate() {
            refund.total = match full {
                None => cents(share),
                Some(full) if full == at => order.total,
                Some(_) => Cents::default(),
            };
        }
        refunds
    }

    fn refund(total: Cents, lines: Vec<RefundLine<'static>>) -> Refund<'static> {
        Refund { identifier: "another refund", total, refunded_at: day(20), lines }
    }

    /// What is done to an order, with a number that picks a line of it, and what must then be found.
    type Change<Found> = fn(&mut Order<'static>, usize) -> Found;

    const RULES: [Change<Broken>; 9] = [
        |order, _| {
            order.customer_named = false;
            Broken::CustomerUnnamed
        },
        |order, at| {
            let Line { identifier, quantity, shipped, cancelled, unit_price, product, tax } = order.lines[at];
            order.lines.push(Line { identifier, quantity, shipped, cancelled, unit_price, product, tax });
            Broken::LineRepeated { line: order.lines.len() - 1 }
        },
        |order, at| {
            order.lines[at].shipped = order.lines[at].quantity - order.lines[at].cancelled + 1;
            Broken::LineOvercommitted { line: at }
        },
        |order, at| {
            order.lines[at].cancelled = order.lines[at].quantity - order.lines[at].shipped + 1;
            Broken::LineOvercommitted { line: at }
        },
        |order, at| {
            (order.lines[at].shipped, order.lines[at].cancelled) = (u32::MAX, u32::MAX);
            Broken::LineOvercommitted { line: at }
        },
        |order, _| {
            order.refunds.extend([refund(Cents::default(), Vec::new()), refund(Cents::default(), Vec::new())]);
            Broken::RefundRepeated { refund: order.refunds.len() - 1 }
        },
        |order, at| {
            let line = || RefundLine { identifier: "twice", order_line: LINES[at], quantity: 0 };
            order.refunds.push(refund(Cents::default(), vec![line(), line()]));
            Broken::RefundLineRepeated { refund: order.refunds.len() - 1, line: 1 }
        },
        |order, at| {
            let line = |identifier, order_line| RefundLine { identifier, order_line, quantity: 0 };
            order.refunds.push(refund(Cents::default(), vec![line("known", LINES[at]), line("unknown", "nowhere")]));
            Broken::RefundOfUnknownLine { refund: order.refunds.len() - 1, line: 1 }
        },
        |order, at| {
            let covered = order.refunds.iter().flat_map(|refund| &refund.lines).filter(|line| line.order_line == LINES[at]);
            let quantity = order.lines[at].quantity - covered.map(|line| line.quantity).sum::<u32>();
            let line = |identifier, quantity| RefundLine { identifier, order_line: LINES[at], quantity };
            order.refunds.push(refund(Cents::default(), vec![line("the rest", quantity), line("one more", 1)]));
            Broken::Overrefunded { refund: order.refunds.len() - 1, line: 1 }
        },
    ];

    const SUMS: [Change<Doubt>; 8] = [
        |order, _| {
            order.discount = one_more(order.discount);
            Doubt::TotalDiffers { computed: Balance::from(order.total).less(cents(1)) }
        },
        |order, _| {
            order.shipping_tax = one_more(order.shipping_tax);
            Doubt::TotalDiffers { computed: Balance::from(order.total).plus(cents(1)) }
        },
        |order, _| {
            let product = order.product.unwrap_or_default();
            (order.product, order.discount) = (Some(one_more(product)), one_more(order.discount));
            Doubt::ProductDiffers { computed: product.into() }
        },
        |order, _| {
            let tax = order.tax.unwrap_or_default();
            (order.tax, order.discount) = (Some(one_more(tax)), one_more(order.discount));
            Doubt::TaxDiffers { computed: tax.into() }
        },
        |order, at| {
            let product = order.lines[at].product.unwrap_or_default();
            order.lines[at].product = Some(one_more(product));
            (order.product, order.discount) = (order.product.map(one_more), one_more(order.discount));
            Doubt::LineProductDiffers { line: at, computed: product.into() }
        },
        |order, _| {
            let lines = order.lines.iter().map(|line| RefundLine {
                identifier: line.identifier,
                order_line: line.identifier,
                quantity: line.quantity,
            });
            order.refunds = vec![refund(cents(order.total.get() - 1), lines.collect())];
            Doubt::FullRefundDiffers { refund: 0 }
        },
        |order, _| {
            order.refunds = vec![refund(order.total, Vec::new()), refund(cents(1), Vec::new())];
            Doubt::RefundedAboveTotal { refund: 1 }
        },
        |order, _| {
            let refunded_at = order.placed_at - chrono::TimeDelta::microseconds(1);
            order.refunds.push(Refund { refunded_at, ..refund(Cents::default(), Vec::new()) });
            Doubt::RefundBeforeOrder { refund: order.refunds.len() - 1 }
        },
    ];

    proptest! {
        #[test]
        fn an_order_that_adds_up_is_neither_broken_nor_doubted(plan in plans()) {
            let order = order(&plan);
            prop_assert_eq!(broken(&order), []);
            prop_assert_eq!(doubts(&order), []);
        }

        #[test]
        fn one_broken_rule_is_found_alone(plan in plans(), at in any::<Index>()) {
            for change in RULES {
                let mut order = order(&plan);
                let expected = change(&mut order, at.index(plan.lines.len()));
                prop_assert_eq!(broken(&order), [expected]);
            }
        }

        #[test]
        fn one_wrong_sum_is_doubted_alone(plan in plans(), at in any::<Index>()) {
            for change in SUMS {
                let mut order = order(&plan);
                let expected = change(&mut order, at.index(plan.lines.len()));
                prop_assert_eq!(doubts(&order), [expected]);
            }
        }

        #[test]
        fn what_was_left_out_is_not_doubted(plan in plans(), total in 0..=Cents::MAX) {
            let mut order = order(&plan);
            (order.product, order.tax, order.refunds) = (None, None, Vec::new());
            order.total = cents(total);
            for line in &mut order.lines {
                line.product = None;
            }
            prop_assert_eq!(doubts(&order), []);
        }
    }

    #[test]
    fn broken_rules_are_found_in_the_order_of_the_message() {
        let line = |identifier, shipped| Line {
            identifier,
            quantity: 1,
            shipped,
            cancelled: 0,
            unit_price: cents(1),
            product: None,
            tax: cents(0),
        };
        let covered = |identifier, order_line| RefundLine { identifier, order_line, quantity: 1 };
        let order = Order {
            identifier: "order",
            status: Status::Created,
            total: cents(1),
            product: None,
            tax: None,
            discount: cents(0),
            shipping: cents(0),
            shipping_tax: cents(0),
            placed_at: day(10),
            customer_named: false,
            lines: vec![line("a", 2), line("a", 2)],
            refunds: vec![refund(cents(0), vec![covered("x", "b")]), refund(cents(0), vec![covered("x", "a"), covered("y", "a")])],
        };
        assert_eq!(
            broken(&order),
            [
                Broken::LineOvercommitted { line: 0 },
                Broken::LineRepeated { line: 1 },
                Broken::LineOvercommitted { line: 1 },
                Broken::CustomerUnnamed,
                Broken::RefundOfUnknownLine { refund: 0, line: 0 },
                Broken::RefundRepeated { refund: 1 },
                Broken::RefundLineRepeated { refund: 1, line: 0 },
                Broken::Overrefunded { refund: 1, line: 1 },
            ]
        );
    }
}
