//! The units of an order that can be returned, and the obstacles for the others.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};

use super::policy::{Offer, Policy, TagRule};
use super::sale::{Sale, SoldLine, Weight};
use super::word::Method;
pub use super::word::Obstacle;
use crate::orders::order;

/// Units of a line that are already in a return or refunded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnavailableUnits {
    /// In a return that is not cancelled, and not refunded.
    pub live: u32,
    /// Refunded in a return; not counted in `live`.
    pub settled: u32,
    /// Refunded outside of any return. Cancelled units are refunded first, and the rest were shipped.
    pub outside: u32,
}

/// The returnable units of a line. `units` and those in `held` add up to the line's quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineEligibility {
    /// Position in the order.
    pub line: usize,
    /// Units that can be returned.
    pub units: u32,
    /// End of the return window. `None` if units cannot be returned for another reason, or if the window never ends.
    pub until: Option<DateTime<Utc>>,
    /// The obstacles for the other units, with the number of units each.
    pub held: Vec<(Obstacle, u32)>,
}

/// The returnable units of every line of a sale; `taken` is by line identifier.
#[must_use]
pub fn returnable(sale: &Sale, policy: &Policy, taken: &BTreeMap<String, UnavailableUnits>, now: DateTime<Utc>) -> Vec<LineEligibility> {
    let line = |(at, line): (usize, &SoldLine)| {
        let taken = taken.get(&line.identifier).copied().unwrap_or_default();
        of_line(sale, at, line, policy, taken, now)
    };
    sale.lines.iter().enumerate().map(line).collect()
}

fn of_line(sale: &Sale, at: usize, line: &SoldLine, policy: &Policy, taken: UnavailableUnits, now: DateTime<Utc>) -> LineEligibility {
    let mut left = line.quantity;
    let mut held = Vec::new();
    let mut keep_back = |obstacle, units: u32| {
        let units = units.min(left);
        if units > 0 {
            left -= units;
            held.push((obstacle, units));
        }
    };
    let cancelled = match sale.status {
        order::Status::Cancelled => true,
        order::Status::Created | order::Status::Shipped => false,
    };
    let barred = barred(sale, line, policy);
    let until = window_end(sale, line, policy).filter(|_| !cancelled && line.shipped > 0 && barred.is_none());
    if cancelled {
        keep_back(Obstacle::OrderCancelled, line.quantity);
    }
    keep_back(Obstacle::Cancelled, line.cancelled);
    keep_back(Obstacle::NotShipped, line.quantity.saturating_sub(line.cancelled).saturating_sub(line.shipped));
    keep_back(Obstacle::Refunded, taken.settled.saturating_add(taken.outside.saturating_sub(line.cancelled)));
    keep_back(Obstacle::InReturn, taken.live);
    if let Some(obstacle) = barred {
        keep_back(obstacle, line.quantity);
    }
    if until.is_some_and(|until| now > until) {
        keep_back(Obstacle::WindowOver, line.quantity);
    }
    LineEligibility { line: at, units: left, until, held }
}

/// Gives back units that only the merchant's own rules hold: a consumer who withdrew from the contract may return them after the window,
/// and although they are on final sale. `withdrawn` are units by line identifier.
pub fn release_withdrawn(lines: &mut [LineEligibility], sale: &Sale, withdrawn: &BTreeMap<String, u32>) {
    for line in lines {
        let identifier = sale.lines.get(line.line).map(|sold| &sold.identifier);
        let wanted = identifier.and_then(|identifier| withdrawn.get(identifier)).copied().unwrap_or_default();
        for (obstacle, held) in &mut line.held {
            if matches!(obstacle, Obstacle::FinalSale | Obstacle::WindowOver) {
                let released = wanted.saturating_sub(line.units).min(*held);
                (line.units, *held) = (line.units + released, *held - released);
            }
        }
        line.held.retain(|(_, held)| *held > 0);
        // What is withdrawn from has no window.
        line.until = line.until.filter(|_| wanted == 0);
    }
}

/// The obstacle that a tag of the line, or of the whole order, puts up.
fn barred(sale: &Sale, line: &SoldLine, policy: &Policy) -> Option<Obstacle> {
    line.tags.iter().chain(&sale.tags).filter_map(|tag| policy.rule(tag)).find_map(|rule| match rule {
        TagRule::FinalSale => Some(Obstacle::FinalSale),
        TagRule::GiftCard => Some(Obstacle::GiftCard),
        TagRule::PickupInStore => Some(Obstacle::PickupInStore),
        TagRule::ThirdParty => Some(Obstacle::ThirdParty),
        TagRule::Gift | TagRule::Allowed => None,
    })
}

/// The end of the return window; `None` if it is beyond the range of dates.
fn window_end(sale: &Sale, line: &SoldLine, policy: &Policy) -> Option<DateTime<Utc>> {
    line.shipped_at.unwrap_or(sale.placed_at).checked_add_signed(TimeDelta::days(i64::from(policy.window_days)))
}

/// True if the order was bought as a gift.
#[must_use]
pub fn is_gift(sale: &Sale, policy: &Policy) -> bool {
    sale.tags.iter().any(|tag| policy.rule(tag) == Some(TagRule::Gift))
}

/// The return methods for some units of some lines. Express is offered only if the weight is known and within the limit.
#[must_use]
pub fn offers(policy: &Policy, chosen: &[(&SoldLine, u32)]) -> Vec<Offer> {
    let weigh = |(line, units): &(&SoldLine, u32)| line.weight.map(|Weight(weight)| u128::from(weight) * u128::from(*units));
    let weight: Option<u128> = chosen.iter().map(weigh).sum();
    let light = weight.is_some_and(|weight| weight <= u128::from(policy.express_limit.0));
    let offered = |offer: &Offer| match offer.method {
        Method::ExpressReturns => light,
        Method::MailBack | Method::CustomerKeep => true,
    };
    policy.offers.iter().copied().filter(offered).collect()
}

/// The lowest unused numbers for `wanted` units of a line; fewer if there are not enough.
#[must_use]
pub fn free_numbers(line: &SoldLine, used: &BTreeSet<u32>, wanted: u32) -> Vec<u32> {
    (1..=line.shipped).filter(|number| !used.contains(number)).zip(0..wanted).map(|(number, _)| number).collect()
}

#[cfg(test)]
mod tests;
