//! The money for the units of a return, split to the cent.

use super::super::step::{Line, Snapshot};
use super::super::view::Unit;

/// A unit's part of a line's money; the lower numbers get the odd cents.
pub fn part(whole: i64, units: u32, number: u32) -> i64 {
    let parts = i64::from(units);
    whole / parts + i64::from(i64::from(number) <= whole % parts)
}

/// The refundable amount for a unit.
pub fn estimated(line: &Line, number: u32) -> i64 {
    let shipped = |whole| part(whole, line.shipped, number);
    (shipped(line.product) - part(line.discount, line.ordered(), number) + shipped(line.tax)).max(0)
}

/// The line with its share of the discount on the whole order added to its own.
pub fn with_order_discount(snapshot: &Snapshot, line: usize) -> Line {
    let weights: Vec<i64> = snapshot.lines.iter().map(|line| i64::from(line.ordered())).collect();
    let whole: i64 = weights.iter().sum();
    // All units have the same price. If none is left, the lines count alike.
    let weights = if whole == 0 { vec![1; weights.len()] } else { weights };
    let whole: i64 = weights.iter().sum();
    let mut odd = snapshot.discount - weights.iter().map(|weight| snapshot.discount * weight / whole).sum::<i64>();
    let mut by_remainder: Vec<usize> = (0..weights.len()).collect();
    by_remainder.sort_by_key(|at| -(snapshot.discount * weights[*at] % whole));
    let mut discounted = snapshot.lines[line].clone();
    for at in by_remainder {
        let share = snapshot.discount * weights[at] / whole + i64::from(odd > 0);
        odd -= 1;
        if at == line {
            discounted.discount += share;
        }
    }
    discounted
}

/// Gives each unit its money: exchanged units are paid to the service, refunded units to the shopper. The shopper pays the `fee` in
/// proportion, at most the whole refund.
pub fn share_fee(units: &mut [&mut Unit], fee: i64) {
    for unit in units.iter_mut() {
        let estimated = unit.got.estimated;
        unit.fee = 0;
        (unit.got.service, unit.got.shopper) = if unit.got.is_exchange() { (estimated, 0) } else { (0, estimated) };
    }
    let mut paying: Vec<&mut Unit> = units.iter_mut().map(|unit| &mut **unit).filter(|unit| unit.got.shopper > 0).collect();
    let whole: i128 = paying.iter().map(|unit| i128::from(unit.got.shopper)).sum();
    if whole == 0 {
        return;
    }
    let fee = i128::from(fee).min(whole);
    let exact = |unit: &Unit| fee * i128::from(unit.got.estimated);
    let mut odd = fee - paying.iter().map(|unit| exact(unit) / whole).sum::<i128>();
    paying.sort_by_key(|unit| -(exact(unit) % whole));
    for unit in paying {
        let share = exact(unit) / whole + i128::from(odd > 0);
        odd -= 1;
        unit.fee = i64::try_from(share).unwrap();
        unit.got.shopper -= unit.fee;
    }
}
