//! Allocating a merchant's refund to the units of returns.

use std::collections::BTreeMap;

/// The part of a return that a refund can settle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveReturn {
    /// The positions of units that no refund covers yet, by line: [`super::Rma::open`].
    pub open: BTreeMap<String, Vec<usize>>,
}

/// The allocation of a refund. Every unit is in exactly one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allocation {
    /// Positions of returns, each once, with the positions of the units settled.
    pub settled: Vec<(usize, Vec<usize>)>,
    /// Units that are in no return, by line.
    pub outside: Vec<(String, u32)>,
}

/// Finds the returns that a refund of the `covered` units settles. `live` has the oldest return first; returns that are settled
/// except for exchanged units, which the merchant may still settle with the service, come last.
///
/// The return that the merchant names comes first; without one, the oldest that fits the whole refund. Units that do not fit there
/// go to the others, oldest first. The rest was refunded outside of any return.
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn open(lines: &[(&str, &[usize])]) -> LiveReturn {
        LiveReturn { open: lines.iter().map(|(line, units)| ((*line).to_owned(), units.to_vec())).collect() }
    }

    fn covered(lines: &[(&str, u32)]) -> Vec<(String, u32)> {
        lines.iter().map(|(line, units)| ((*line).to_owned(), *units)).collect()
    }

    #[test]
    fn a_refund_settles_the_oldest_return_in_which_all_of_it_fits() {
        let live = [open(&[("a", &[0])]), open(&[("a", &[0, 1]), ("b", &[2])]), open(&[("a", &[0, 1]), ("b", &[2])])];
        let allocation = allocate(&covered(&[("b", 1), ("a", 2)]), None, &live);
        assert_eq!(allocation, Allocation { settled: vec![(1, vec![0, 1, 2])], outside: vec![] });
        assert_eq!(allocate(&covered(&[("a", 1)]), None, &live).settled, [(0, vec![0])]);
    }

    #[test]
    fn the_return_that_the_merchant_names_goes_first() {
        let live = [open(&[("a", &[0, 1])]), open(&[("a", &[3])])];
        assert_eq!(allocate(&covered(&[("a", 1)]), Some(1), &live).settled, [(1, vec![3])]);
        assert_eq!(allocate(&covered(&[("a", 2)]), Some(1), &live).settled, [(1, vec![3]), (0, vec![0])]);
    }

    #[test]
    fn a_named_return_that_is_not_there_is_treated_as_none() {
        assert_eq!(allocate(&covered(&[("a", 1)]), Some(7), &[open(&[("a", &[0])])]).settled, [(0, vec![0])]);
    }

    #[test]
    fn what_fits_nowhere_whole_is_spread_and_the_rest_is_outside() {
        let live = [open(&[("a", &[0])]), open(&[("a", &[1]), ("b", &[0])])];
        let allocation = allocate(&covered(&[("a", 3), ("b", 1), ("c", 2)]), None, &live);
        assert_eq!(allocation.settled, [(0, vec![0]), (1, vec![0, 1])]);
        assert_eq!(allocation.outside, covered(&[("a", 1), ("c", 2)]));
    }

    #[test]
    fn without_a_return_everything_is_outside() {
        assert_eq!(allocate(&covered(&[("a", 1), ("a", 2)]), None, &[]), Allocation { settled: vec![], outside: covered(&[("a", 3)]) });
    }

    /// Returns with this many open units of each of three lines, numbered through.
    fn returns(counts: &[[usize; 3]]) -> Vec<LiveReturn> {
        let of = |counts: &[usize; 3]| {
            let mut next = 0..;
            let lines = ["a", "b", "c"].iter().zip(counts);
            LiveReturn { open: lines.map(|(line, count)| ((*line).to_owned(), next.by_ref().take(*count).collect())).collect() }
        };
        counts.iter().map(of).collect()
    }

    proptest! {
        #[test]
        fn every_unit_is_in_exactly_one_place(
            counts in prop::collection::vec([0..4_usize, 0..4, 0..4], 0..5),
            lines in prop::collection::vec((prop::sample::select(vec!["a", "b", "c", "d"]), 0..6_u32), 0..6),
            named in prop::option::of(0..6_usize),
        ) {
            let live = returns(&counts);
            let covered = covered(&lines);
            let allocation = allocate(&covered, named, &live);
            let returned: BTreeSet<usize> = allocation.settled.iter().map(|(at, _)| *at).collect();
            prop_assert_eq!(returned.len(), allocation.settled.len(), "a return is settled once");
            for line in ["a", "b", "c", "d"] {
                let of_line = |units: &[(String, u32)]| units.iter().filter(|(of, _)| of == line).map(|(_, units)| count(*units)).sum::<usize>();
                let mut settled = 0;
                for (at, units) in &allocation.settled {
                    let distinct: BTreeSet<usize> = units.iter().copied().collect();
                    prop_assert_eq!(distinct.len(), units.len(), "a unit is settled once");
                    let open = live[*at].open.get(line).cloned().unwrap_or_default();
                    settled += units.iter().filter(|unit| open.contains(unit)).count();
                }
                prop_assert_eq!(settled + of_line(&allocation.outside), of_line(&covered), "nothing is lost and nothing is added");
                let open: usize = live.iter().map(|live| live.open.get(line).map_or(0, Vec::len)).sum();
                prop_assert!(of_line(&allocation.outside) == 0 || settled == open, "outside is only what no return has");
            }
        }
    }
}
