//! A refund is immutable: what a repeated refund may and may not say differently.
//!
//! Its content is its order, its total and the set of (line identifier, order line, units). The same content again
//! does nothing; other content under the same identifier is refused; differences beside the content are taken over
//! or pointed out.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};

use crate::money::Cents;

/// A refund as it was recorded, or as a message states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refund {
    /// The order that it belongs to.
    pub order: String,
    /// What was paid back.
    pub total: Cents,
    /// The units covered, in any order.
    pub lines: Vec<Covered>,
    /// When, by the merchant's account.
    pub refunded_at: DateTime<Utc>,
    /// The merchant's remark.
    pub note: Option<String>,
    /// The return that it settles, where the merchant names one.
    pub rma_identifier: Option<String>,
}

/// Units of one order line that a refund covers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Covered {
    /// The refund line's own identifier.
    pub identifier: String,
    /// The order line.
    pub order_line: String,
    /// How many.
    pub quantity: u32,
}

/// Other content under a known identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// The identifier belongs to a refund of another order.
    AnotherOrder,
    /// Another total.
    AnotherTotal,
    /// Other lines, order lines or units.
    OtherLines,
}

/// What a repeat says beside the recorded content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Additions {
    /// A note that the record does not have, or has differently: taken over.
    pub note: Option<String>,
    /// The return, named late: taken over.
    pub rma_identifier: Option<String>,
    /// Another return than the recorded one is named: the recorded one stands.
    pub other_rma: bool,
    /// Another time: the recorded one stands.
    pub other_time: bool,
}

/// Holds a `stated` refund against the `recorded` one of the same identifier.
pub fn compare(recorded: &Refund, stated: &Refund) -> Result<Additions, Conflict> {
    if recorded.order != stated.order {
        return Err(Conflict::AnotherOrder);
    }
    if recorded.total != stated.total {
        return Err(Conflict::AnotherTotal);
    }
    let known: HashSet<&Covered> = recorded.lines.iter().collect();
    if known.len() != stated.lines.len() || !stated.lines.iter().all(|line| known.contains(line)) {
        return Err(Conflict::OtherLines);
    }
    Ok(Additions {
        note: stated.note.clone().filter(|note| recorded.note.as_ref() != Some(note)),
        rma_identifier: stated.rma_identifier.clone().filter(|_| recorded.rma_identifier.is_none()),
        other_rma: matches!((&recorded.rma_identifier, &stated.rma_identifier), (Some(old), Some(new)) if old != new),
        other_time: recorded.refunded_at != stated.refunded_at,
    })
}

/// The order lines of which more units are refunded than the order has: `refunded` sums all recorded refunds.
pub fn overrefunded<'a>(ordered: &'a HashMap<String, u32>, refunded: &'a HashMap<String, u64>) -> impl Iterator<Item = &'a str> {
    refunded.iter().filter(|(line, units)| **units > ordered.get(*line).copied().map_or(0, u64::from)).map(|(line, _)| line.as_str())
}
