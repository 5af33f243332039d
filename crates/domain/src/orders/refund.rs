//! The refunds of an order: each has its effect once, however often and however corrected it is sent.
//!
//! The content of a refund is its total and the set of (line identifier, order line, units). The same content again does nothing. A
//! corrected total, note or time is taken over. Added units take effect when they arrive; units that are taken away stay counted,
//! because a return may have been settled by them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use chrono::{DateTime, Utc};

use crate::money::Cents;

/// A refund, as recorded or as stated in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refund {
    pub total: Cents,
    /// In any order.
    pub lines: Vec<Covered>,
    /// As the merchant reported it.
    pub refunded_at: DateTime<Utc>,
    pub note: Option<Note>,
    /// The return that the merchant says it settles.
    pub rma_identifier: Option<String>,
}

/// A merchant's note. It may be about a person, so `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Note(pub String);

impl fmt::Debug for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Note(…)")
    }
}

/// The units of one order line that a refund covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Covered {
    /// The identifier of the refund line.
    pub identifier: String,
    pub order_line: String,
    pub quantity: u32,
    /// The units of it that were refunded outside of any return.
    pub outside: u32,
}

/// The recorded refunds of one order, by identifier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    pub refunds: BTreeMap<String, Refund>,
}

/// The effect of a stated refund on the ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// The refund was not recorded before.
    pub new: bool,
    /// The record of the refund changed, apart from its lines.
    pub amended: bool,
    /// The refund names its return only now.
    pub named_late: bool,
    /// The units that take effect now, by order line.
    pub added: BTreeMap<String, u32>,
    pub remarks: Vec<Remark>,
}

/// A remark on a stated refund; lines are positions within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remark {
    /// The total differs from the recorded one, which it replaces.
    TotalCorrected,
    /// Units were added to the recorded refund.
    UnitsAdded { line: usize },
    /// Units of the recorded refund are missing; they stay counted.
    UnitsMissing,
    /// The refund names another return than the recorded one, which is kept.
    OtherRma,
    /// The line was counted before, for the same order line under the same identifier.
    CountedBefore { line: usize },
    /// The line's identifier was used for another order line; both count.
    IdentifierReused { line: usize },
}

impl Ledger {
    /// Takes over a stated refund.
    pub fn take(&mut self, identifier: &str, stated: &Refund) -> Taken {
        let mut taken = Taken { new: !self.refunds.contains_key(identifier), ..Taken::default() };
        let counted: Vec<(usize, Covered)> = self.count(identifier, stated, &mut taken.remarks);
        let record = self.refunds.entry(identifier.to_owned()).or_insert_with(|| Refund { lines: Vec::new(), ..stated.clone() });
        taken.amended = record.amend(stated, &mut taken.remarks);
        taken.named_late = !taken.new && record.rma_identifier.is_none() && stated.rma_identifier.is_some();
        if taken.named_late {
            record.rma_identifier.clone_from(&stated.rma_identifier);
            taken.amended = true;
        }
        for (line, covered) in counted {
            let added = record.count(&covered);
            if added > 0 {
                *taken.added.entry(covered.order_line).or_default() += added;
            }
            if added > 0 && !taken.new {
                taken.remarks.push(Remark::UnitsAdded { line });
            }
        }
        taken
    }

    /// The lines of a stated refund that count, with their positions.
    fn count(&self, identifier: &str, stated: &Refund, remarks: &mut Vec<Remark>) -> Vec<(usize, Covered)> {
        let mut counted: Vec<(usize, Covered)> = Vec::new();
        let known = |covered: &Covered| self.refunds.get(identifier).is_some_and(|record| record.line(covered).is_some());
        for (line, covered) in stated.lines.iter().enumerate() {
            let others = self.refunds.iter().filter(|(other, _)| *other != identifier).flat_map(|(_, refund)| &refund.lines);
            let others: Vec<&Covered> =
                others.chain(counted.iter().map(|(_, counted)| counted)).filter(|other| other.identifier == covered.identifier).collect();
            if others.iter().any(|other| other.order_line == covered.order_line) {
                remarks.push(Remark::CountedBefore { line });
                continue;
            }
            if !others.is_empty() && !known(covered) {
                remarks.push(Remark::IdentifierReused { line });
            }
            counted.push((line, covered.clone()));
        }
        counted
    }

    /// The units of an order line that were refunded outside of any return.
    #[must_use]
    pub fn outside(&self, order_line: &str) -> u32 {
        let lines = self.refunds.values().flat_map(|refund| &refund.lines).filter(|line| line.order_line == order_line);
        lines.map(|line| line.outside).fold(0, u32::saturating_add)
    }

    /// The units that all refunds cover, by order line.
    #[must_use]
    pub fn covered(&self) -> BTreeMap<&str, u64> {
        let mut covered: BTreeMap<&str, u64> = BTreeMap::new();
        for line in self.refunds.values().flat_map(|refund| &refund.lines) {
            *covered.entry(&line.order_line).or_default() += u64::from(line.quantity);
        }
        covered
    }
}

impl Refund {
    /// Takes over a corrected total, note and time. Returns whether anything changed.
    fn amend(&mut self, stated: &Self, remarks: &mut Vec<Remark>) -> bool {
        if self.total != stated.total {
            remarks.push(Remark::TotalCorrected);
        }
        if matches!((&self.rma_identifier, &stated.rma_identifier), (Some(old), Some(new)) if old != new) {
            remarks.push(Remark::OtherRma);
        }
        let missing = |line: &Covered| stated.line(line).is_none_or(|stated| stated.quantity < line.quantity);
        if self.lines.iter().any(missing) {
            remarks.push(Remark::UnitsMissing);
        }
        let note = stated.note.clone().or_else(|| self.note.clone());
        let before = (self.total, self.refunded_at, self.note.clone());
        (self.total, self.refunded_at, self.note) = (stated.total, stated.refunded_at, note);
        before != (self.total, self.refunded_at, self.note.clone())
    }

    /// The line of the same identifier and order line.
    fn line(&self, like: &Covered) -> Option<&Covered> {
        self.lines.iter().find(|line| (&line.identifier, &line.order_line) == (&like.identifier, &like.order_line))
    }

    /// Counts a stated line. Returns the units that it adds.
    fn count(&mut self, stated: &Covered) -> u32 {
        let same = |line: &&mut Covered| (&line.identifier, &line.order_line) == (&stated.identifier, &stated.order_line);
        let Some(line) = self.lines.iter_mut().find(same) else {
            self.lines.push(Covered { outside: 0, ..stated.clone() });
            return stated.quantity;
        };
        let added = stated.quantity.saturating_sub(line.quantity);
        line.quantity += added;
        added
    }

    /// Records that `units` of an order line were refunded outside of any return. Together the lines can take no more than they cover.
    pub fn add_outside(&mut self, order_line: &str, units: u32) {
        let mut left = units;
        for line in self.lines.iter_mut().filter(|line| line.order_line == order_line) {
            let taken = left.min(line.quantity.saturating_sub(line.outside));
            line.outside += taken;
            left -= taken;
        }
    }

    /// Records that `units` of an order line, which counted as refunded outside of any return, are in one.
    pub fn remove_outside(&mut self, order_line: &str, units: u32) {
        let mut left = units;
        for line in self.lines.iter_mut().filter(|line| line.order_line == order_line) {
            let taken = left.min(line.outside);
            line.outside -= taken;
            left -= taken;
        }
    }

    /// The units that were refunded outside of any return, by order line.
    #[must_use]
    pub fn outside(&self) -> BTreeMap<String, u32> {
        let mut outside: BTreeMap<String, u32> = BTreeMap::new();
        for line in self.lines.iter().filter(|line| line.outside > 0) {
            *outside.entry(line.order_line.clone()).or_default() += line.outside;
        }
        outside
    }
}

/// The order lines of `touched` that have more units refunded than were `sold`.
pub fn overrefunded<'a>(
    touched: impl Iterator<Item = &'a str>,
    sold: &BTreeMap<&str, u32>,
    covered: &BTreeMap<&str, u64>,
) -> BTreeSet<&'a str> {
    let beyond = |line: &&str| sold.get(line).is_some_and(|sold| covered.get(line).copied().unwrap_or_default() > u64::from(*sold));
    touched.filter(beyond).collect()
}

#[cfg(test)]
mod tests;
