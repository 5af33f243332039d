use proptest::prelude::*;

use super::*;
use crate::returns::rma::sale::tests::line;

fn cents(amount: i64) -> Cents {
    Cents::new(amount).expect("in range")
}

fn amounts(amounts: &[i64]) -> Vec<Cents> {
    amounts.iter().copied().map(cents).collect()
}

fn sum(parts: impl IntoIterator<Item = Cents>) -> i128 {
    parts.into_iter().map(|part| i128::from(part.get())).sum()
}

fn any_cents() -> impl Strategy<Value = Cents> {
    prop_oneof![0..100_i64, 0..=Cents::MAX].prop_map(cents)
}

fn any_type() -> impl Strategy<Value = RefundType> {
    prop::sample::select(RefundType::ALL)
}

#[test]
fn the_first_parts_have_the_odd_cents() {
    assert_eq!(split(cents(1_000), 3), amounts(&[334, 333, 333]));
    assert_eq!(split(cents(2), 3), amounts(&[1, 1, 0]));
    assert_eq!(split(cents(5), 0), []);
}

#[test]
fn the_largest_remainders_get_the_odd_cents_and_of_equals_the_first() {
    assert_eq!(share(cents(100), &[1, 1, 1]), amounts(&[34, 33, 33]));
    assert_eq!(share(cents(10), &[1, 5]), amounts(&[2, 8]));
    assert_eq!(share(cents(3), &[0, 0]), amounts(&[2, 1]));
    assert_eq!(share(cents(3), &[]), []);
}

#[test]
fn a_unit_has_its_part_of_what_the_line_cost() {
    let line = SoldLine { shipped: 3, quantity: 4, product: Some(cents(1_000)), discount: cents(100), tax: cents(80), ..line() };
    let units: Vec<UnitMoney> = (1..=3).filter_map(|number| unit_money(&line, number)).collect();
    let parts = |of: fn(&UnitMoney) -> Cents| units.iter().map(of).map(Cents::get).collect::<Vec<_>>();
    assert_eq!(parts(|unit| unit.product), [334, 333, 333]);
    assert_eq!(parts(|unit| unit.discount), [25, 25, 25], "the fourth unit, which is still to be shipped, has its part too");
    assert_eq!(parts(|unit| unit.tax), [27, 27, 26]);
    assert_eq!(parts(|unit| unit.estimated), [336, 335, 334]);
    assert_eq!((unit_money(&line, 0), unit_money(&line, 4)), (None, None));
}

#[test]
fn a_line_discount_is_taken_once_however_the_units_are_shipped() {
    let line =
        |shipped, product| SoldLine { quantity: 3, cancelled: 1, shipped, product: Some(cents(product)), discount: cents(101), ..line() };
    let discounts: Vec<Cents> = [(1, 500), (2, 1_000)]
        .iter()
        .filter_map(|(shipped, product)| unit_money(&line(*shipped, *product), *shipped))
        .map(|unit| unit.discount)
        .collect();
    assert_eq!(discounts, amounts(&[51, 50]), "the first unit when one was shipped, the second when both were");
}

#[test]
fn a_discount_on_the_order_lowers_every_unit_by_its_share() {
    let sold =
        |unit_price, quantity, tax| SoldLine { quantity, shipped: quantity, unit_price: cents(unit_price), tax: cents(tax), ..line() };
    let mut lines = [sold(2_000, 2, 256), sold(6_000, 1, 384)];
    spread_discount(cents(2_000), &mut lines);
    assert_eq!(lines.each_ref().map(|line| line.order_discount), [cents(800), cents(1_200)]);
    let units = lines.iter().flat_map(|line| (1..=line.shipped).filter_map(|number| unit_money(line, number)));
    assert_eq!(sum(units.map(|unit| unit.estimated)), 8_640, "product 10,000, less 2,000, plus tax of 640");
}

#[test]
fn the_discounts_on_the_lines_are_part_of_the_discount_on_the_order() {
    let mut lines = [SoldLine { unit_price: cents(100), discount: cents(30), ..line() }, SoldLine { unit_price: cents(100), ..line() }];
    spread_discount(cents(50), &mut lines);
    assert_eq!(lines.each_ref().map(|line| line.order_discount), [cents(10), cents(10)]);
    spread_discount(cents(20), &mut lines);
    assert_eq!(lines.each_ref().map(|line| line.order_discount), [cents(0), cents(0)], "the lines say more than the order");
}

#[test]
fn a_cancelled_unit_has_no_part_of_the_discount_on_the_order() {
    let mut lines = [
        SoldLine { quantity: 4, shipped: 1, cancelled: 2, unit_price: cents(100), ..line() },
        SoldLine { quantity: 1, shipped: 1, unit_price: cents(100), ..line() },
    ];
    spread_discount(cents(30), &mut lines);
    assert_eq!(lines.each_ref().map(|line| line.order_discount), [cents(20), cents(10)]);
    assert_eq!(unit_money(&lines[0], 1).map(|unit| unit.discount), Some(cents(10)), "the other unit is still to be shipped");
}

#[test]
fn without_the_line_amount_a_unit_costs_its_price() {
    let line = SoldLine { shipped: 2, product: None, unit_price: cents(499), ..line() };
    assert_eq!(unit_money(&line, 2).map(|unit| unit.product), Some(cents(499)));
}

#[test]
fn a_discount_above_the_price_leaves_nothing_to_refund() {
    let line = SoldLine { shipped: 1, product: Some(cents(10)), discount: cents(30), tax: cents(1), ..line() };
    assert_eq!(unit_money(&line, 1).map(|unit| unit.estimated), Some(cents(0)));
}

#[test]
fn a_fee_is_taken_off_the_refunds_and_not_off_the_exchanges() {
    let worth = |estimated| UnitMoney { estimated: cents(estimated), ..UnitMoney::default() };
    let units = [(worth(3_000), RefundType::Refund), (worth(500), RefundType::EvenExchange), (worth(1_000), RefundType::Refund)];
    let shared = financials(&units, cents(799));
    let told = |of: fn(&Financials) -> Cents| shared.units.iter().map(of).map(Cents::get).collect::<Vec<_>>();
    assert_eq!(told(|unit| unit.fee), [599, 0, 200]);
    assert_eq!(told(|unit| unit.shopper), [2_401, 0, 800]);
    assert_eq!(told(|unit| unit.service), [0, 500, 0]);
    assert_eq!(shared.undeducted, cents(0));
}

#[test]
fn a_fee_above_the_refunds_takes_all_and_says_what_is_missing() {
    let units = [(UnitMoney { estimated: cents(300), ..UnitMoney::default() }, RefundType::Refund)];
    let shared = financials(&units, cents(799));
    assert_eq!((shared.units[0].shopper, shared.undeducted), (cents(0), cents(499)));
    assert_eq!(financials(&[], cents(799)).undeducted, cents(799));
}

#[test]
fn what_becomes_a_refund_shares_what_is_left_of_the_fee() {
    let money = |estimated| UnitMoney { estimated: cents(estimated), ..UnitMoney::default() };
    let paid = Financials { estimated: cents(1_000), service: cents(0), shopper: cents(900), fee: cents(100) };
    let units = [
        (money(1_000), RefundType::Refund, Some(paid)),
        (money(1_000), RefundType::Refund, None),
        (money(500), RefundType::EvenExchange, None),
    ];
    let shared = share_anew(&units, cents(250));
    assert_eq!(shared[0], paid, "what was refunded stays as it was");
    assert_eq!((shared[1].shopper, shared[1].fee), (cents(850), cents(150)));
    assert_eq!((shared[2].service, shared[2].fee), (cents(500), cents(0)));
}

proptest! {
    #[test]
    fn a_fee_is_never_taken_twice(
        units in prop::collection::vec((any_cents(), any_type(), any::<bool>()), 0..20), fee in any_cents(),
    ) {
        let money = |estimated| UnitMoney { estimated, ..UnitMoney::default() };
        let paid: Vec<_> = units.iter().map(|(amount, refund_type, _)| (money(*amount), *refund_type)).collect();
        let before = financials(&paid, fee).units;
        // Every exchange has become a refund; some of the original refunds were already paid.
        let now: Vec<_> = units
            .iter()
            .zip(&before)
            .map(|((amount, refund_type, settled), before)| {
                let settled = *settled && *refund_type == RefundType::Refund;
                (money(*amount), RefundType::Refund, settled.then_some(*before))
            })
            .collect();
        let after = share_anew(&now, fee);
        prop_assert_eq!(after.len(), units.len());
        let taken = sum(after.iter().map(|unit| unit.fee));
        prop_assert!(taken <= i128::from(fee.get()));
        for ((_, _, settled), after) in now.iter().zip(&after) {
            prop_assert!(settled.is_none_or(|settled| settled == *after));
            prop_assert_eq!(i128::from(after.shopper.get()) + i128::from(after.fee.get()), i128::from(after.estimated.get()));
        }
    }
}

proptest! {
    #[test]
    fn parts_sum_to_the_whole_and_differ_by_a_cent_at_most(total in any_cents(), parts in 1..1_100_u32) {
        let split = split(total, parts);
        prop_assert_eq!(split.len(), parts as usize);
        prop_assert_eq!(sum(split.iter().copied()), i128::from(total.get()));
        prop_assert!(split.is_sorted_by(|a, b| a >= b) && split[0].get() - split[split.len() - 1].get() <= 1);
    }

    #[test]
    fn shares_sum_to_the_whole_and_are_within_a_cent_of_exact(total in any_cents(), weights in prop::collection::vec(any_cents(), 1..40)) {
        let weights: Vec<i128> = weights.into_iter().map(|weight| i128::from(weight.get())).collect();
        let shares = share(total, &weights);
        prop_assert_eq!(sum(shares.iter().copied()), i128::from(total.get()));
        let whole: i128 = weights.iter().sum();
        for (share, weight) in shares.iter().zip(&weights) {
            let (share, exact) = (i128::from(share.get()) * whole, i128::from(total.get()) * weight);
            prop_assert!(whole == 0 || (share - exact).abs() < whole);
        }
        prop_assert_eq!(share(total, &weights), shares, "the same again");
    }

    #[test]
    fn the_units_of_a_line_sum_to_the_line(shipped in 1..200_u32, product in any_cents(), discount in any_cents(), tax in any_cents()) {
        let line = SoldLine { shipped, quantity: shipped, product: Some(product), discount, tax, ..line() };
        let units: Vec<UnitMoney> = (1..=shipped).filter_map(|number| unit_money(&line, number)).collect();
        prop_assert_eq!(sum(units.iter().map(|unit| unit.product)), i128::from(product.get()));
        prop_assert_eq!(sum(units.iter().map(|unit| unit.discount)), i128::from(discount.get()));
        prop_assert_eq!(sum(units.iter().map(|unit| unit.tax)), i128::from(tax.get()));
        let exact = i128::from(product.get()) + i128::from(tax.get()) - i128::from(discount.get());
        let nothing_lost = units.iter().all(|unit| unit.estimated.get() > 0 && unit.estimated.get() < Cents::MAX);
        prop_assert!(!nothing_lost || sum(units.iter().map(|unit| unit.estimated)) == exact);
    }

    #[test]
    fn a_discount_on_the_order_is_spread_to_the_last_cent(
        sold in prop::collection::vec((1..5_u32, 0..5_u32, 0..100_000_i64, 0..500_i64), 1..8), discount in 0..10_000_i64,
    ) {
        let mut lines: Vec<SoldLine> = sold
            .iter()
            .map(|(units, cancelled, price, discount)| SoldLine {
                quantity: units + cancelled,
                cancelled: *cancelled,
                shipped: *units,
                unit_price: cents(*price),
                discount: cents(*discount),
                ..line()
            })
            .collect();
        spread_discount(cents(discount), &mut lines);
        let on_lines = sum(lines.iter().map(|line| line.discount));
        prop_assert_eq!(sum(lines.iter().map(|line| line.order_discount)), (i128::from(discount) - on_lines).max(0));
        let units = lines.iter().flat_map(|line| (1..=line.shipped).filter_map(|number| unit_money(line, number)));
        prop_assert_eq!(sum(units.map(|unit| unit.discount)), i128::from(discount).max(on_lines), "no cent is lost among the units");
    }

    #[test]
    fn nobody_gets_more_than_there_is(units in prop::collection::vec((any_cents(), any_type()), 0..20), fee in any_cents()) {
        let units: Vec<(UnitMoney, RefundType)> =
            units.into_iter().map(|(estimated, refund_type)| (UnitMoney { estimated, ..UnitMoney::default() }, refund_type)).collect();
        let shared = financials(&units, fee);
        prop_assert_eq!(shared.units.len(), units.len());
        prop_assert_eq!(sum(shared.units.iter().map(|unit| unit.fee)) + i128::from(shared.undeducted.get()), i128::from(fee.get()));
        for unit in &shared.units {
            prop_assert_eq!(unit.service.get() + unit.shopper.get() + unit.fee.get(), unit.estimated.get());
        }
        let left = sum(shared.units.iter().map(|unit| unit.shopper));
        prop_assert!(shared.undeducted == Cents::default() || left == 0, "a fee is only left over when nothing else is");
    }
}
