//! Which units of which returns a refund of the merchant's settles.

use std::collections::BTreeMap;

/// A return that is not cancelled, as far as a refund can settle it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveReturn {
    /// The positions of its units that no refund covers yet, by line: [`super::Rma::open`].
    pub open: BTreeMap<String, Vec<usize>>,
}

/// Where the units of a refund belong. Every unit is in exactly one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allocation {
    /// Positions of returns, each once, with the positions of the units settled there.
    pub settled: Vec<(usize, Vec<usize>)>,
    /// What no return has: lines with how many units of each.
    pub outside: Vec<(String, u32)>,
}

/// Finds the returns that a refund of the `covered` units settles; `live` has the oldest first.
///
/// The return that the merchant names comes first; without one, the oldest in which everything fits. What does not fit there
/// goes to the others, oldest first, and what is left was refunded outside of any return.
#[must_use]
pub fn allocate(covered: &[(String, u32)], named: Option<usize>, live: &[LiveReturn]) -> Allocation {
    let mut left: BTreeMap<&str, u32> = BTreeMap::new();
    for (line, units) in covered {
        let sum = left.entry(line).or_default();
        *sum = sum.saturating_add(*units);
    }
    let fits = |candidate: &LiveReturn| left.iter().all(|(line, units)| candidate.open.get(*line).map_or(0, Vec::len) >= count(*units));
    let first = named.filter(|at| *at < live.len()).or_else(|| live.iter().position(fits));
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
    let outside = left.into_iter().filter(|(_, units)| *units > 0).map(|(line, units)| (line.to_owned(), units)).collect();
    Allocation { settled, outside }
}

fn count(units: u32) -> usize {
    usize::try_from(units).unwrap_or(usize::MAX)
}
