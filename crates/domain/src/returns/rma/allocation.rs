//! Allocating a merchant's refund to the units of returns.
//!
//! A refund that names its return stays with it. One that names none goes to cancelled units first, then to returns, and what is
//! left was refunded outside of any return.

use std::collections::BTreeMap;

use super::Rma;

/// A return as a refund sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidate {
    /// The positions of units that no refund covers yet, by line: [`Rma::open`].
    pub open: BTreeMap<String, Vec<usize>>,
    /// All units, by line.
    pub units: BTreeMap<String, u32>,
}

impl Candidate {
    /// The return as a refund sees it.
    #[must_use]
    pub fn new(rma: &Rma) -> Self {
        let mut units: BTreeMap<String, u32> = BTreeMap::new();
        for unit in &rma.units {
            *units.entry(unit.line.clone()).or_default() += 1;
        }
        Self { open: rma.open(), units }
    }
}

/// The allocation of a refund that names no return. Every unit is in exactly one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allocation {
    /// Positions of returns, each once, with the positions of the units settled.
    pub settled: Vec<(usize, Vec<usize>)>,
    /// Units that are in no return, by line: cancelled units, and shipped ones.
    pub outside: BTreeMap<String, u32>,
}

/// Finds what a refund of the `covered` units is for, if it names no return. `cancelled` has the cancelled units that no refund
/// covers yet, by line. `live` has the oldest return first; returns that are settled except for exchanged units, which the merchant
/// may still settle with the service, come last.
///
/// Cancelled units come first, because they are owed a refund and cannot be returned. Then the oldest return that fits all that is
/// left; if none does, the returns one after the other.
#[must_use]
pub fn allocate(covered: &BTreeMap<String, u32>, cancelled: &BTreeMap<String, u32>, live: &[Candidate]) -> Allocation {
    let mut outside: BTreeMap<String, u32> = BTreeMap::new();
    let mut left: BTreeMap<&str, u32> = BTreeMap::new();
    for (line, units) in covered {
        let of_cancelled = cancelled.get(line).copied().unwrap_or_default().min(*units);
        outside.insert(line.clone(), of_cancelled);
        left.insert(line, units - of_cancelled);
    }
    let fits = |candidate: &Candidate| left.iter().all(|(line, units)| candidate.open.get(*line).map_or(0, Vec::len) >= count(*units));
    let first = live.iter().position(fits);
    let others = (0..live.len()).filter(|at| Some(*at) != first);
    let mut settled = Vec::new();
    for (at, candidate) in first.into_iter().chain(others).filter_map(|at| live.get(at).map(|candidate| (at, candidate))) {
        let mut units = Vec::new();
        for (line, left) in &mut left {
            for unit in candidate.open.get(*line).into_iter().flatten().take(count(*left)) {
                units.push(*unit);
                *left -= 1;
            }
        }
        if !units.is_empty() {
            units.sort_unstable();
            settled.push((at, units));
        }
    }
    for (line, units) in left {
        *outside.entry(line.to_owned()).or_default() += units;
    }
    outside.retain(|_, units| *units > 0);
    Allocation { settled, outside }
}

/// The allocation of a refund that names its return.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedAllocation {
    /// The positions of the units settled.
    pub settled: Vec<usize>,
    /// Units that are not in the return, by line.
    pub outside: BTreeMap<String, u32>,
    /// Units of the return that a refund covered before.
    pub again: u32,
}

/// Finds what a refund of the `covered` units is for, if it names the return `named`. It touches no other return: units that are not
/// in this one were refunded outside of any return.
#[must_use]
pub fn allocate_to(covered: &BTreeMap<String, u32>, named: &Candidate) -> NamedAllocation {
    let mut allocation = NamedAllocation::default();
    for (line, units) in covered {
        let inside = named.units.get(line).copied().unwrap_or_default().min(*units);
        if inside < *units {
            allocation.outside.insert(line.clone(), units - inside);
        }
        let open = named.open.get(line).map_or(&[][..], Vec::as_slice);
        let settled = open.iter().copied().take(count(inside));
        allocation.settled.extend(settled);
        allocation.again += inside.saturating_sub(u32::try_from(open.len()).unwrap_or(u32::MAX));
    }
    allocation.settled.sort_unstable();
    allocation
}

fn count(units: u32) -> usize {
    usize::try_from(units).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
