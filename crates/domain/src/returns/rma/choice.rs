//! A shopper's choice of what to return and what to get for it, checked against what is possible.

mod exchange;
mod item;

use std::collections::{BTreeMap, BTreeSet};

pub use self::exchange::{Exchanges, NoExchange};
pub use self::item::{Getting, Instead, RequestedItem};
use super::eligibility::{LineEligibility, Obstacle, free_numbers, is_gift, offers};
use super::money::{UnitMoney, unit_money};
use super::policy::{Offer, Policy};
use super::sale::{Sale, SoldLine};
use super::word::Method;
pub use crate::returns::exchange::standing::Standing;

/// A shopper's choice.
pub struct Choice<'a> {
    pub method: Method,
    pub items: Vec<RequestedItem<'a>>,
    /// A giftee was named.
    pub giftee: bool,
}

/// A choice that is possible.
pub struct Chosen<'a> {
    /// The return method and its fee.
    pub offer: Offer,
    /// The order is a gift.
    pub gift: bool,
    pub units: Vec<Picked<'a>>,
}

/// A unit to be returned.
pub struct Picked<'a> {
    pub line: &'a SoldLine,
    /// Number within the line, from 1.
    pub number: u32,
    pub reason: &'a str,
    pub getting: Getting<'a>,
    pub money: UnitMoney,
}

/// The reasons a choice is not possible. Items are given by position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Impossible {
    /// The reason is not one of the merchant's.
    Reason { item: usize },
    /// The order has no such line.
    Line { item: usize },
    /// Fewer units can be returned than requested.
    Units {
        item: usize,
        /// Units that can be returned.
        free: u32,
        /// The obstacles for the others.
        held: Vec<(Obstacle, u32)>,
    },
    /// The requested exchange is not possible.
    Exchange { item: usize, why: NoExchange },
    /// The return method is not offered for these items.
    Method { offered: Vec<Method> },
    /// The order is a gift, but no giftee was named.
    GifteeMissing,
    /// A giftee was named, but the order is not a gift.
    NoGift,
}

/// Checks a choice against what can be returned. `lines` is the result of [`super::eligibility::returnable`] for `sale`; `used` has
/// the numbers of the units already in returns, by line; `exchanges` has the alternatives to a refund.
pub fn choose<'a>(
    sale: &'a Sale,
    policy: &Policy,
    lines: &[LineEligibility],
    used: &BTreeMap<&str, BTreeSet<u32>>,
    exchanges: &'a Exchanges,
    choice: &Choice<'a>,
) -> Result<Chosen<'a>, Vec<Impossible>> {
    let mut used = used.clone();
    let gift = is_gift(sale, policy);
    let mut stock = exchange::Stock::new(exchanges, policy, gift);
    let (mut units, mut against) = (Vec::new(), Vec::new());
    let mut chosen: BTreeMap<&str, (&SoldLine, u32)> = BTreeMap::new();
    for (item, wanted) in choice.items.iter().enumerate() {
        if !policy.allows_reason(wanted.reason) {
            against.push(Impossible::Reason { item });
        }
        let of_line = |line: &&LineEligibility| sale.lines.get(line.line).is_some_and(|sold| sold.identifier == wanted.line);
        let Some((line, eligible)) = lines.iter().find(of_line).and_then(|line| Some((sale.lines.get(line.line)?, line))) else {
            against.push(Impossible::Line { item });
            continue;
        };
        let (_, before) = chosen.entry(&line.identifier).or_insert((line, 0));
        let free = eligible.units.saturating_sub(*before);
        if wanted.quantity == 0 || wanted.quantity > free {
            against.push(Impossible::Units { item, free, held: eligible.held.clone() });
            continue;
        }
        *before += wanted.quantity;
        let getting = match stock.take(line, wanted) {
            Ok(getting) => getting,
            Err(why) => {
                against.push(Impossible::Exchange { item, why });
                continue;
            }
        };
        let used = used.entry(&line.identifier).or_default();
        for number in free_numbers(line, used, wanted.quantity) {
            used.insert(number);
            let money = unit_money(line, number).unwrap_or_default();
            units.push(Picked { line, number, reason: wanted.reason, getting, money });
        }
    }
    let chosen: Vec<(&SoldLine, u32)> = chosen.into_values().filter(|(_, units)| *units > 0).collect();
    let offered = offers(policy, &chosen);
    let offer = offered.iter().find(|offer| offer.method == choice.method).copied();
    if offer.is_none() {
        against.push(Impossible::Method { offered: offered.iter().map(|offer| offer.method).collect() });
    }
    match (gift, choice.giftee) {
        (true, false) => against.push(Impossible::GifteeMissing),
        (false, true) => against.push(Impossible::NoGift),
        (true, true) | (false, false) => {}
    }
    match offer {
        Some(offer) if against.is_empty() => Ok(Chosen { offer, gift, units }),
        _ => Err(against),
    }
}

#[cfg(test)]
mod tests;
