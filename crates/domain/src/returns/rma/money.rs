//! Dividing a line's money among its units, and the refund for each unit.
//!
//! Everything is divided by the largest remainder method: the parts always sum to the whole, each is within a cent of its exact
//! share, and among equals the first gets the odd cent.

use std::cmp::Reverse;

use super::sale::SoldLine;
use super::word::RefundType;
use crate::money::Cents;

/// Splits `total` into equal parts; the first ones get the odd cents.
#[must_use]
pub fn split(total: Cents, parts: u32) -> Vec<Cents> {
    (1..=parts).map(|number| part(total, parts, number)).collect()
}

/// One of the equal parts, numbered from 1.
fn part(total: Cents, parts: u32, number: u32) -> Cents {
    let (total, parts) = (i128::from(total.get()), i128::from(parts.max(1)));
    Cents::nearest(total / parts + i128::from(i128::from(number) <= total % parts))
}

/// Splits `total` in proportion to the `weights`, which are amounts; equally if all weights are zero.
#[must_use]
pub fn share(total: Cents, weights: &[i128]) -> Vec<Cents> {
    let whole: i128 = weights.iter().sum();
    if whole == 0 {
        return split(total, u32::try_from(weights.len()).unwrap_or(u32::MAX));
    }
    let total = i128::from(total.get());
    let exact = |weight: &i128| (total * weight / whole, total * weight % whole);
    let mut parts: Vec<(i128, i128)> = weights.iter().map(exact).collect();
    let missing = total - parts.iter().map(|(part, _)| part).sum::<i128>();
    let mut by_remainder: Vec<&mut (i128, i128)> = parts.iter_mut().collect();
    by_remainder.sort_by_key(|(_, remainder)| Reverse(*remainder));
    for ((part, _), _) in by_remainder.into_iter().zip(0..missing) {
        *part += 1;
    }
    parts.into_iter().map(|(part, _)| Cents::nearest(part)).collect()
}

/// Spreads a discount on the whole order over its lines, by the price of the units that are not cancelled. `discount` is what the
/// order states; the lines' own discounts are part of it.
pub fn spread_discount(discount: Cents, lines: &mut [SoldLine]) {
    let on_lines: i128 = lines.iter().map(|line| i128::from(line.discount.get())).sum();
    let on_order = Cents::nearest(i128::from(discount.get()) - on_lines);
    let price = |line: &SoldLine| i128::from(line.unit_price.get()) * i128::from(line.ordered());
    let shares = share(on_order, &lines.iter().map(price).collect::<Vec<_>>());
    for (line, share) in lines.iter_mut().zip(shares) {
        line.order_discount = share;
    }
}

/// The amounts paid for one unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitMoney {
    pub product: Cents,
    /// Its part of the discounts on the line and on the order.
    pub discount: Cents,
    pub tax: Cents,
    /// The most that can be refunded: product − discount + tax, at least 0.
    pub estimated: Cents,
}

/// The amounts for the unit with this number, from 1, among the shipped units of a line.
#[must_use]
pub fn unit_money(line: &SoldLine, number: u32) -> Option<UnitMoney> {
    if !(1..=line.shipped).contains(&number) {
        return None;
    }
    let shipped = |amount| part(amount, line.shipped, number);
    let product = line.product.map_or(line.unit_price, shipped);
    let discounts = Cents::nearest(i128::from(line.discount.get()) + i128::from(line.order_discount.get()));
    // A discount covers the units that are still to be shipped too.
    let (discount, tax) = (part(discounts, line.ordered(), number), shipped(line.tax));
    let estimated = i128::from(product.get()) - i128::from(discount.get()) + i128::from(tax.get());
    Some(UnitMoney { product, discount, tax, estimated: Cents::nearest(estimated) })
}

/// The division of a unit's amount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Financials {
    /// The most that can be refunded.
    pub estimated: Cents,
    /// Paid to the service.
    pub service: Cents,
    /// Refunded to the shopper.
    pub shopper: Cents,
    /// Share of the deducted fee.
    pub fee: Cents,
}

/// The financials of a return.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    /// In the order of the units.
    pub units: Vec<Financials>,
    /// The part of the fee that exceeds the refunds and could not be deducted.
    pub undeducted: Cents,
}

/// Divides the amounts of a return's units. `deducted_fee` is deducted from the refunds, in proportion to them.
#[must_use]
pub fn financials(units: &[(UnitMoney, RefundType)], deducted_fee: Cents) -> Shared {
    let refunded = |(money, refund_type): &(UnitMoney, RefundType)| match refund_type {
        RefundType::Refund => i128::from(money.estimated.get()),
        RefundType::EvenExchange | RefundType::UnevenExchange => 0,
    };
    let weights: Vec<i128> = units.iter().map(refunded).collect();
    let most: i128 = weights.iter().sum();
    let deducted = Cents::nearest(most.min(i128::from(deducted_fee.get())));
    let fees = share(deducted, &weights);
    let of = |((money, refund_type), fee): (&(UnitMoney, RefundType), Cents)| {
        let estimated = money.estimated;
        match refund_type {
            RefundType::Refund => Financials { estimated, service: Cents::default(), shopper: less(estimated, fee), fee },
            RefundType::EvenExchange | RefundType::UnevenExchange => {
                Financials { estimated, service: estimated, shopper: Cents::default(), fee: Cents::default() }
            }
        }
    };
    Shared { units: units.iter().zip(fees).map(of).collect(), undeducted: less(deducted_fee, deducted) }
}

/// The financials of a return after some units turned from exchanges into refunds. Units that are already refunded keep their
/// financials; the others share the rest of the fee.
#[must_use]
pub fn share_anew(units: &[(UnitMoney, RefundType, Option<Financials>)], deducted_fee: Cents) -> Vec<Financials> {
    let paid: i128 = units.iter().filter_map(|(_, _, settled)| settled.map(|settled| i128::from(settled.fee.get()))).sum();
    let left = Cents::nearest(i128::from(deducted_fee.get()) - paid);
    let open: Vec<(UnitMoney, RefundType)> =
        units.iter().filter(|(_, _, settled)| settled.is_none()).map(|(money, refund_type, _)| (*money, *refund_type)).collect();
    let mut shared = financials(&open, left).units.into_iter();
    units.iter().map(|(_, _, settled)| settled.or_else(|| shared.next()).unwrap_or_default()).collect()
}

fn less(amount: Cents, taken: Cents) -> Cents {
    Cents::nearest(i128::from(amount.get()) - i128::from(taken.get()))
}

#[cfg(test)]
mod tests;
