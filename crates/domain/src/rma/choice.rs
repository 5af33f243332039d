//! What a shopper wants to send back and what to have for it, held against what can come back and what can be had.

mod exchange;

use std::collections::{BTreeMap, BTreeSet};

pub use self::exchange::{Exchanges, NoExchange, Standing};
use super::eligibility::{LineEligibility, Obstacle, free_numbers, is_gift, offers};
use super::money::{UnitMoney, unit_money};
use super::policy::{Offer, Policy};
use super::sale::{Sale, SoldLine};
use super::{Method, RefundType};
use crate::exchange::variant::Variant;

/// What is wanted.
pub struct Choice<'a> {
    /// How it comes back.
    pub method: Method,
    /// What comes back.
    pub items: Vec<Wanted<'a>>,
    /// Whether it is said who returns a gift.
    pub giftee: bool,
}

/// Units of one line, for one reason.
pub struct Wanted<'a> {
    /// The line of the order.
    pub line: &'a str,
    /// How many units.
    pub quantity: u32,
    /// Why.
    pub reason: &'a str,
    /// What is to be had for them.
    pub instead: Instead<'a>,
}

/// What a shopper wants for units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instead<'a> {
    /// The money.
    Refund,
    /// The variant with this SKU.
    Variant(&'a str),
    /// A gift card.
    GiftCard,
}

/// What was chosen, once it is known to be possible.
pub struct Chosen<'a> {
    /// The way back.
    pub offer: Offer,
    /// Whether it is a gift.
    pub gift: bool,
    /// Every unit.
    pub units: Vec<Picked<'a>>,
}

/// A unit that comes back.
pub struct Picked<'a> {
    /// Its line.
    pub line: &'a SoldLine,
    /// Which of the line's units, from 1.
    pub number: u32,
    /// Why it comes back.
    pub reason: &'a str,
    /// What the shopper gets for it.
    pub getting: Getting<'a>,
    /// What was paid for it.
    pub money: UnitMoney,
}

/// What a shopper gets for a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Getting<'a> {
    /// The money.
    Refund,
    /// This variant.
    Variant(&'a Variant),
    /// A gift card.
    GiftCard,
}

impl Getting<'_> {
    /// Its word in messages.
    #[must_use]
    pub const fn refund_type(self) -> RefundType {
        match self {
            Self::Refund => RefundType::Refund,
            Self::Variant(_) => RefundType::EvenExchange,
            Self::GiftCard => RefundType::UnevenExchange,
        }
    }
}

/// Why a choice cannot be; places are positions in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Impossible {
    /// The merchant does not know the reason.
    Reason {
        /// Position of the item.
        item: usize,
    },
    /// The order has no such line.
    Line {
        /// Position of the item.
        item: usize,
    },
    /// So many units cannot come back.
    Units {
        /// Position of the item.
        item: usize,
        /// How many can.
        free: u32,
        /// What stands against the others.
        held: Vec<(Obstacle, u32)>,
    },
    /// What is wanted instead of the money cannot be had.
    Exchange {
        /// Position of the item.
        item: usize,
        /// Why.
        why: NoExchange,
    },
    /// The way back is not offered for this.
    Method {
        /// Those that are.
        offered: Vec<Method>,
    },
    /// It is a gift, and nobody says who returns it.
    GifteeMissing,
    /// It is said who returns a gift, and it is none.
    NoGift,
}

/// Holds a choice against what can come back: `lines` is what [`super::eligibility::returnable`] says of `sale`, and `used` has
/// the numbers of the units that are in returns already, by line. `exchanges` says what can be had instead of the money.
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
    let mut shelf = exchange::Shelf::new(exchanges, policy, gift);
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
        let getting = match shelf.take(line, wanted) {
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
