//! How a line's money falls on its units, and what the shopper gets for each.
//!
//! Everything is divided by largest remainder: the parts always sum to the whole, each is within a cent of its exact share, and
//! of equals the first gets the odd cent.

use std::cmp::Reverse;

use super::RefundType;
use super::sale::SoldLine;
use crate::money::Cents;

/// `total` in `parts` equal parts; the first ones have a cent more where it does not divide.
#[must_use]
pub fn split(total: Cents, parts: u32) -> Vec<Cents> {
    (1..=parts).map(|number| part(total, parts, number)).collect()
}

/// The part with this number, from 1, of `total` in equal parts.
fn part(total: Cents, parts: u32, number: u32) -> Cents {
    let (total, parts) = (i128::from(total.get()), i128::from(parts.max(1)));
    Cents::nearest(total / parts + i128::from(i128::from(number) <= total % parts))
}

/// `total` in proportion to the `weights`; in equal parts if none of them weighs anything.
#[must_use]
pub fn share(total: Cents, weights: &[Cents]) -> Vec<Cents> {
    let whole: i128 = weights.iter().map(|weight| i128::from(weight.get())).sum();
    if whole == 0 {
        return split(total, u32::try_from(weights.len()).unwrap_or(u32::MAX));
    }
    let total = i128::from(total.get());
    let exact = |weight: &Cents| (total * i128::from(weight.get()) / whole, total * i128::from(weight.get()) % whole);
    let mut parts: Vec<(i128, i128)> = weights.iter().map(exact).collect();
    let missing = total - parts.iter().map(|(part, _)| part).sum::<i128>();
    let mut by_remainder: Vec<&mut (i128, i128)> = parts.iter_mut().collect();
    by_remainder.sort_by_key(|(_, remainder)| Reverse(*remainder));
    for ((part, _), _) in by_remainder.into_iter().zip(0..missing) {
        *part += 1;
    }
    parts.into_iter().map(|(part, _)| Cents::nearest(part)).collect()
}

/// What was paid for one unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitMoney {
    /// The goods.
    pub product: Cents,
    /// What was taken off.
    pub discount: Cents,
    /// Tax.
    pub tax: Cents,
    /// All that can be refunded for it: product − discount + tax, and never below nothing.
    pub estimated: Cents,
}

/// What was paid for the unit with this number, from 1, of the shipped units of a line; none if there is no such unit.
#[must_use]
pub fn unit_money(line: &SoldLine, number: u32) -> Option<UnitMoney> {
    if !(1..=line.shipped).contains(&number) {
        return None;
    }
    let part = |amount| part(amount, line.shipped, number);
    let product = line.product.map_or(line.unit_price, part);
    let (discount, tax) = (part(line.discount), part(line.tax));
    let estimated = i128::from(product.get()) - i128::from(discount.get()) + i128::from(tax.get());
    Some(UnitMoney { product, discount, tax, estimated: Cents::nearest(estimated) })
}

/// Who gets what for a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Financials {
    /// All that can be refunded for it.
    pub estimated: Cents,
    /// What the service is paid.
    pub service: Cents,
    /// What the shopper is refunded.
    pub shopper: Cents,
    /// The unit's share of the fee that is taken off.
    pub fee: Cents,
}

/// The financials of all units of a return.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    /// Of each unit, in their order.
    pub units: Vec<Financials>,
    /// What of the fee could not be taken off, because the refunds do not come to that much.
    pub undeducted: Cents,
}

/// The financials of the units of a return whose `deducted_fee` is taken off the refunds, in proportion to them.
#[must_use]
pub fn financials(units: &[(UnitMoney, RefundType)], deducted_fee: Cents) -> Shared {
    let refunded = |(money, refund_type): &(UnitMoney, RefundType)| match refund_type {
        RefundType::Refund => money.estimated,
        RefundType::EvenExchange | RefundType::UnevenExchange => Cents::default(),
    };
    let weights: Vec<Cents> = units.iter().map(refunded).collect();
    let most: i128 = weights.iter().map(|weight| i128::from(weight.get())).sum();
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

/// The financials of a return of which some units have become refunds: what was refunded already (with its financials) stays as
/// it was, and the others share what is left of the fee.
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
