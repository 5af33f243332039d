use proptest::prelude::*;
use proptest::sample::Index;

use super::*;

const LINES: [&str; 5] = ["line 0", "line 1", "line 2", "line 3", "line 4"];
const REFUNDS: [&str; 3] = ["refund 0", "refund 1", "refund 2"];
const REFUND_LINES: [[&str; 5]; 3] =
    [["0 0", "0 1", "0 2", "0 3", "0 4"], ["1 0", "1 1", "1 2", "1 3", "1 4"], ["2 0", "2 1", "2 2", "2 3", "2 4"]];

/// The plan of an order. A failing test prints the plan; orders have no `Debug`, because they may be personal.
#[derive(Clone, Debug)]
struct Plan {
    lines: Vec<PlannedLine>,
    /// Units of every line that each refund covers, as far as any are left.
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

/// The order of a plan; everything adds up.
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
    // A full refund takes the whole total and leaves nothing to the others; without one, they share it.
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

/// A change to an order, with a number that picks a line, and the finding that must follow.
type Change<Found> = fn(&mut Order<'static>, usize) -> Found;

const RULES: [Change<Broken>; 6] = [
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
];

const SUMS: [Change<Doubt>; 10] = [
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
        let lines =
            order.lines.iter().map(|line| RefundLine { identifier: line.identifier, order_line: line.identifier, quantity: line.quantity });
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
    |order, at| {
        let line = |identifier, order_line| RefundLine { identifier, order_line, quantity: 0 };
        order.refunds.push(refund(Cents::default(), vec![line("known", LINES[at]), line("unknown", "nowhere")]));
        Doubt::RefundOfUnknownLine { refund: order.refunds.len() - 1, line: 1 }
    },
    |order, at| {
        let covered = order.refunds.iter().flat_map(|refund| &refund.lines).filter(|line| line.order_line == LINES[at]);
        let sold = order.lines[at].quantity;
        let rest = sold - covered.map(|line| line.quantity).sum::<u32>();
        let line = |identifier, quantity| RefundLine { identifier, order_line: LINES[at], quantity };
        // More than were sold, so that it never covers exactly everything.
        order.refunds.push(refund(Cents::default(), vec![line("the rest", rest), line("more", sold + 1)]));
        Doubt::Overrefunded { refund: order.refunds.len() - 1, line: 1 }
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
    fn what_repeats_is_found_among_few_and_among_many(drawn in prop::collection::vec(0..60_u8, 0..50)) {
        let identifiers: Vec<String> = drawn.iter().map(u8::to_string).collect();
        let mut seen = Seen::with_capacity(identifiers.len());
        for (at, identifier) in identifiers.iter().enumerate() {
            prop_assert_eq!(seen.insert(identifier), !identifiers[..at].contains(identifier));
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
fn of_a_cancelled_order_all_that_was_not_shipped_is_cancelled() {
    let line = |quantity, shipped, cancelled| Line {
        identifier: "line",
        quantity,
        shipped,
        cancelled,
        unit_price: Cents::default(),
        product: None,
        tax: Cents::default(),
    };
    for status in [Status::Created, Status::Shipped] {
        assert_eq!([line(5, 2, 0), line(5, 2, 3)].map(|line| line.cancelled_units(status)), [0, 3]);
    }
    assert_eq!([line(5, 2, 0), line(5, 0, 1), line(2, 5, 0)].map(|line| line.cancelled_units(Status::Cancelled)), [3, 5, 0]);
}

#[test]
fn broken_rules_are_found_in_the_order_of_the_message() {
    let line =
        |identifier, shipped| Line { identifier, quantity: 1, shipped, cancelled: 0, unit_price: cents(1), product: None, tax: cents(0) };
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
            Broken::RefundRepeated { refund: 1 },
        ]
    );
}
