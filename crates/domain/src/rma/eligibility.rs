//! Which units of an order can come back, and what stands against the others.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};

use super::Method;
use super::policy::{Offer, Policy, TagRule};
use super::sale::{Sale, SoldLine, Weight};
pub use super::word::Obstacle;
use crate::order;

/// Units of a line that are spoken for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// In a return that is not cancelled, and not refunded.
    pub live: u32,
    /// Refunded, inside of a return or outside; a unit that was refunded inside of one counts here alone.
    pub refunded: u32,
}

/// What can come back of one line. `units` and what is held are together the line's quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineEligibility {
    /// Position of the line.
    pub line: usize,
    /// How many units can come back.
    pub units: u32,
    /// Until when the line's units can or could come back, if only time stands against it; absent where it never ends or
    /// never began.
    pub until: Option<DateTime<Utc>>,
    /// What stands against the others, each obstacle with how many units it holds.
    pub held: Vec<(Obstacle, u32)>,
}

/// What can come back of every line of a sale; `taken` is by line identifier.
#[must_use]
pub fn returnable(sale: &Sale, policy: &Policy, taken: &BTreeMap<String, Taken>, now: DateTime<Utc>) -> Vec<LineEligibility> {
    let line = |(at, line): (usize, &SoldLine)| {
        let taken = taken.get(&line.identifier).copied().unwrap_or_default();
        of_line(sale, at, line, policy, taken, now)
    };
    sale.lines.iter().enumerate().map(line).collect()
}

fn of_line(sale: &Sale, at: usize, line: &SoldLine, policy: &Policy, taken: Taken, now: DateTime<Utc>) -> LineEligibility {
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
    keep_back(Obstacle::Refunded, taken.refunded);
    keep_back(Obstacle::InReturn, taken.live);
    if let Some(obstacle) = barred {
        keep_back(obstacle, line.quantity);
    }
    if until.is_some_and(|until| now > until) {
        keep_back(Obstacle::WindowOver, line.quantity);
    }
    LineEligibility { line: at, units: left, until, held }
}

/// What the tags of the line, or of the whole order, have against a return.
fn barred(sale: &Sale, line: &SoldLine, policy: &Policy) -> Option<Obstacle> {
    line.tags.iter().chain(&sale.tags).filter_map(|tag| policy.rule(tag)).find_map(|rule| match rule {
        TagRule::FinalSale => Some(Obstacle::FinalSale),
        TagRule::GiftCard => Some(Obstacle::GiftCard),
        TagRule::PickupInStore => Some(Obstacle::PickupInStore),
        TagRule::ThirdParty => Some(Obstacle::ThirdParty),
        TagRule::Gift | TagRule::Allowed => None,
    })
}

/// The last moment at which the line can come back; none if it lies beyond all dates.
fn window_end(sale: &Sale, line: &SoldLine, policy: &Policy) -> Option<DateTime<Utc>> {
    line.shipped_at.unwrap_or(sale.placed_at).checked_add_signed(TimeDelta::days(i64::from(policy.window_days)))
}

/// Whether the order was bought as a gift.
#[must_use]
pub fn is_gift(sale: &Sale, policy: &Policy) -> bool {
    sale.tags.iter().any(|tag| policy.rule(tag) == Some(TagRule::Gift))
}

/// The ways back for a choice of lines with how many units of each. By express only what is known to be light enough.
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

/// The numbers of `wanted` units of a line: the lowest that no return uses which is not cancelled. Fewer, if there are no more.
#[must_use]
pub fn free_numbers(line: &SoldLine, used: &BTreeSet<u32>, wanted: u32) -> Vec<u32> {
    (1..=line.shipped).filter(|number| !used.contains(number)).zip(0..wanted).map(|(number, _)| number).collect()
}

#[cfg(test)]
mod tests;
