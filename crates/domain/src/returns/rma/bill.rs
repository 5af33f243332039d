//! A return's money as a shopper reads it: line by line, and what comes back in the end.

use super::money::{Financials, UnitMoney};
use super::word::RefundType;
use crate::money::Cents;

/// A unit of a return with its money.
#[derive(Clone, Copy, Debug)]
pub struct BilledUnit<'a> {
    /// Identifier of the order line.
    pub line: &'a str,
    pub refund_type: RefundType,
    pub money: UnitMoney,
    pub financials: Financials,
}

/// The money of units of one line that end in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BillLine<'a> {
    pub line: &'a str,
    pub refund_type: RefundType,
    pub units: u32,
    pub product: Cents,
    pub discount: Cents,
    pub tax: Cents,
    /// Product − discount + tax.
    pub worth: Cents,
}

/// The money of a return.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bill<'a> {
    /// In the order of the units.
    pub lines: Vec<BillLine<'a>>,
    /// The part of the fee that is deducted from the refund.
    pub fee: Cents,
    /// What the shopper gets back as money.
    pub refund: Cents,
    /// What goes onto a gift card.
    pub gift_card: Cents,
}

/// The bill of these units.
#[must_use]
pub fn bill<'a>(units: impl IntoIterator<Item = BilledUnit<'a>>) -> Bill<'a> {
    let mut bill = Bill::default();
    for unit in units {
        bill.fee = bill.fee.plus(unit.financials.fee);
        bill.refund = bill.refund.plus(unit.financials.shopper);
        if unit.refund_type == RefundType::UnevenExchange {
            bill.gift_card = bill.gift_card.plus(unit.money.estimated);
        }
        let line = match bill.lines.iter_mut().find(|line| line.line == unit.line && line.refund_type == unit.refund_type) {
            Some(line) => line,
            None => bill.lines.push_mut(BillLine::empty(unit.line, unit.refund_type)),
        };
        line.units += 1;
        line.product = line.product.plus(unit.money.product);
        line.discount = line.discount.plus(unit.money.discount);
        line.tax = line.tax.plus(unit.money.tax);
        line.worth = line.worth.plus(unit.money.estimated);
    }
    bill
}

impl<'a> BillLine<'a> {
    fn empty(line: &'a str, refund_type: RefundType) -> Self {
        let none = Cents::default();
        Self { line, refund_type, units: 0, product: none, discount: none, tax: none, worth: none }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::money::financials;
    use super::*;

    fn cents(amount: i64) -> Cents {
        Cents::new(amount).expect("in range")
    }

    fn money(product: i64, discount: i64, tax: i64) -> UnitMoney {
        UnitMoney { product: cents(product), discount: cents(discount), tax: cents(tax), estimated: cents(product - discount + tax) }
    }

    #[test]
    fn units_of_a_line_are_one_entry_for_each_way_that_they_end() {
        let units =
            [("1", RefundType::Refund), ("1", RefundType::Refund), ("1", RefundType::UnevenExchange), ("2", RefundType::EvenExchange)];
        let paid = units.map(|(_, refund_type)| (money(6_900, 690, 0), refund_type));
        let shares = financials(&paid, cents(299)).units;
        let billed = units.iter().zip(paid).zip(&shares).map(|(((line, refund_type), (money, _)), financials)| BilledUnit {
            line,
            refund_type: *refund_type,
            money,
            financials: *financials,
        });
        let bill = bill(billed);
        let lines: Vec<_> = bill.lines.iter().map(|line| (line.line, line.units, line.worth.get())).collect();
        assert_eq!(lines, [("1", 2, 12_420), ("1", 1, 6_210), ("2", 1, 6_210)]);
        assert_eq!((bill.fee.get(), bill.refund.get(), bill.gift_card.get()), (299, 12_121, 6_210));
    }

    proptest! {
        #[test]
        fn the_refunded_lines_less_the_fee_are_the_refund(prices in prop::collection::vec((0_i64..100_000, 0_i64..3), 1..20), fee in 0_i64..200_000) {
            let types = [RefundType::Refund, RefundType::EvenExchange, RefundType::UnevenExchange];
            let paid: Vec<_> = prices.iter().map(|(price, kind)| (money(*price, 0, 0), types[usize::try_from(*kind).expect("small")])).collect();
            let shares = financials(&paid, cents(fee)).units;
            let lines: Vec<String> = (0..paid.len()).map(|line| (line % 3).to_string()).collect();
            let billed = paid.iter().zip(&shares).zip(&lines).map(|(((money, refund_type), financials), line)| BilledUnit {
                line,
                refund_type: *refund_type,
                money: *money,
                financials: *financials,
            });
            let bill = bill(billed);
            let refunded: i64 = bill.lines.iter().filter(|line| line.refund_type == RefundType::Refund).map(|line| line.worth.get()).sum();
            prop_assert_eq!(bill.refund.get(), refunded - bill.fee.get());
            prop_assert_eq!(bill.lines.iter().map(|line| line.units).sum::<u32>() as usize, paid.len());
        }
    }
}
