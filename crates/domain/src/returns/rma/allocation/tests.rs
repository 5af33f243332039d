use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// A return with these open units and no others.
fn open(lines: &[(&str, &[usize])]) -> Candidate {
    Candidate {
        open: lines.iter().map(|(line, units)| ((*line).to_owned(), units.to_vec())).collect(),
        units: lines.iter().map(|(line, units)| ((*line).to_owned(), u32::try_from(units.len()).expect("few"))).collect(),
    }
}

fn units(lines: &[(&str, u32)]) -> BTreeMap<String, u32> {
    lines.iter().map(|(line, units)| ((*line).to_owned(), *units)).collect()
}

/// The allocation without cancelled units.
fn allocated(covered: &[(&str, u32)], live: &[Candidate]) -> Allocation {
    allocate(&units(covered), &BTreeMap::new(), live)
}

#[test]
fn a_refund_settles_the_oldest_return_in_which_all_of_it_fits() {
    let live = [open(&[("a", &[0])]), open(&[("a", &[0, 1]), ("b", &[2])]), open(&[("a", &[0, 1]), ("b", &[2])])];
    let allocation = allocated(&[("b", 1), ("a", 2)], &live);
    assert_eq!(allocation, Allocation { settled: vec![(1, vec![0, 1, 2])], outside: units(&[]) });
    assert_eq!(allocated(&[("a", 1)], &live).settled, [(0, vec![0])]);
}

#[test]
fn what_fits_nowhere_whole_is_spread_and_the_rest_is_outside() {
    let live = [open(&[("a", &[0])]), open(&[("a", &[1]), ("b", &[0])])];
    let allocation = allocated(&[("a", 3), ("b", 1), ("c", 2)], &live);
    assert_eq!(allocation.settled, [(0, vec![0]), (1, vec![0, 1])]);
    assert_eq!(allocation.outside, units(&[("a", 1), ("c", 2)]));
}

#[test]
fn without_a_return_everything_is_outside() {
    assert_eq!(allocated(&[("a", 3)], &[]), Allocation { settled: vec![], outside: units(&[("a", 3)]) });
}

#[test]
fn the_refund_of_a_cancelled_unit_closes_no_return() {
    let live = [open(&[("a", &[0, 1])])];
    let of = |refunded| allocate(&units(&[("a", refunded)]), &units(&[("a", 1)]), &live);
    assert_eq!(of(1), Allocation { settled: vec![], outside: units(&[("a", 1)]) });
    assert_eq!(of(2), Allocation { settled: vec![(0, vec![0])], outside: units(&[("a", 1)]) });
    assert_eq!(of(4), Allocation { settled: vec![(0, vec![0, 1])], outside: units(&[("a", 2)]) });
}

#[test]
fn a_named_return_takes_its_own_units_and_the_others_are_outside() {
    let named = open(&[("a", &[3, 4])]);
    let allocation = allocate_to(&units(&[("a", 3), ("b", 2)]), &named);
    assert_eq!(allocation, NamedAllocation { settled: vec![3, 4], outside: units(&[("a", 1), ("b", 2)]), again: 0 });
}

#[test]
fn a_unit_that_is_refunded_twice_is_in_its_return_both_times() {
    let named = Candidate { open: BTreeMap::from([("a".to_owned(), vec![1])]), units: units(&[("a", 2)]) };
    assert_eq!(allocate_to(&units(&[("a", 1)]), &named), NamedAllocation { settled: vec![1], ..NamedAllocation::default() });
    assert_eq!(allocate_to(&units(&[("a", 2)]), &named), NamedAllocation { settled: vec![1], again: 1, ..NamedAllocation::default() });
}

/// Returns with this many open and this many settled units of each of three lines, numbered through.
fn returns(counts: &[[(usize, u32); 3]]) -> Vec<Candidate> {
    let of = |counts: &[(usize, u32); 3]| {
        let mut next = 0..;
        let mut candidate = Candidate::default();
        for (line, (open, settled)) in ["a", "b", "c"].iter().zip(counts) {
            candidate.open.insert((*line).to_owned(), next.by_ref().take(*open).collect());
            candidate.units.insert((*line).to_owned(), u32::try_from(*open).expect("few") + settled);
        }
        candidate
    };
    counts.iter().map(of).collect()
}

fn any_units() -> impl Strategy<Value = BTreeMap<String, u32>> {
    prop::collection::btree_map(prop::sample::select(vec!["a", "b", "c", "d"]).prop_map(ToOwned::to_owned), 0..6_u32, 0..4)
}

fn any_counts() -> impl Strategy<Value = [(usize, u32); 3]> {
    [(0..4_usize, 0..3_u32), (0..4, 0..3), (0..4, 0..3)]
}

proptest! {
    #[test]
    fn every_unit_is_in_exactly_one_place(counts in prop::collection::vec(any_counts(), 0..5), covered in any_units(), cancelled in any_units()) {
        let live = returns(&counts);
        let allocation = allocate(&covered, &cancelled, &live);
        let returned: BTreeSet<usize> = allocation.settled.iter().map(|(at, _)| *at).collect();
        prop_assert_eq!(returned.len(), allocation.settled.len(), "a return is settled once");
        for line in ["a", "b", "c", "d"] {
            let of = |units: &BTreeMap<String, u32>| count(units.get(line).copied().unwrap_or_default());
            let mut settled = 0;
            for (at, units) in &allocation.settled {
                let distinct: BTreeSet<usize> = units.iter().copied().collect();
                prop_assert_eq!(distinct.len(), units.len(), "a unit is settled once");
                let open = live[*at].open.get(line).cloned().unwrap_or_default();
                settled += units.iter().filter(|unit| open.contains(unit)).count();
            }
            prop_assert_eq!(settled + of(&allocation.outside), of(&covered), "nothing is lost and nothing is added");
            let open: usize = live.iter().map(|live| live.open.get(line).map_or(0, Vec::len)).sum();
            let of_cancelled = of(&cancelled).min(of(&covered));
            prop_assert!(of(&allocation.outside) >= of_cancelled, "cancelled units come first");
            prop_assert!(of(&allocation.outside) == of_cancelled || settled == open, "the rest outside is only what no return has");
        }
    }

    #[test]
    fn a_named_return_takes_no_more_than_it_has(counts in any_counts(), covered in any_units()) {
        let named = returns(&[counts]).remove(0);
        let allocation = allocate_to(&covered, &named);
        let inside: u32 = covered.iter().map(|(line, units)| named.units.get(line).copied().unwrap_or_default().min(*units)).sum();
        prop_assert_eq!(count(inside), allocation.settled.len() + count(allocation.again));
        prop_assert_eq!(inside + allocation.outside.values().sum::<u32>(), covered.values().sum::<u32>());
        for (line, units) in &covered {
            let open = named.open.get(line).cloned().unwrap_or_default();
            let settled = allocation.settled.iter().filter(|unit| open.contains(unit)).count();
            prop_assert_eq!(settled, open.len().min(count(*units)));
        }
    }
}
