use proptest::prelude::*;

use super::*;

fn covered(identifier: &str, order_line: &str, quantity: u32) -> Covered {
    Covered { identifier: identifier.to_owned(), order_line: order_line.to_owned(), quantity, outside: 0 }
}

fn refund(lines: &[Covered]) -> Refund {
    Refund {
        total: Cents::new(500).expect("in range"),
        lines: lines.to_vec(),
        refunded_at: DateTime::UNIX_EPOCH,
        note: None,
        rma_identifier: None,
    }
}

fn two_lines() -> Refund {
    refund(&[covered("x", "1", 1), covered("y", "2", 2)])
}

/// A ledger with the refund "F" in it.
fn recorded(refund: &Refund) -> Ledger {
    let mut ledger = Ledger::default();
    assert!(ledger.take("F", refund).new);
    ledger
}

fn added(units: &[(&str, u32)]) -> BTreeMap<String, u32> {
    units.iter().map(|(line, units)| ((*line).to_owned(), *units)).collect()
}

#[test]
fn a_new_refund_takes_effect_with_all_its_units() {
    let mut ledger = Ledger::default();
    let taken = ledger.take("F", &two_lines());
    assert_eq!(taken, Taken { new: true, added: added(&[("1", 1), ("2", 2)]), ..Taken::default() });
    assert_eq!(ledger.refunds["F"], two_lines());
}

#[test]
fn the_same_content_again_does_nothing() {
    for refund in [two_lines(), refund(&[]), refund(&[covered("y", "2", 2), covered("x", "1", 1)])] {
        let mut ledger = recorded(&refund);
        assert_eq!(ledger.take("F", &refund), Taken::default());
        assert_eq!(ledger, recorded(&refund));
    }
}

#[test]
fn a_corrected_total_is_taken_over_with_a_remark() {
    let mut ledger = recorded(&two_lines());
    let corrected = Refund { total: Cents::new(501).expect("in range"), ..two_lines() };
    let taken = ledger.take("F", &corrected);
    assert_eq!(taken, Taken { amended: true, remarks: vec![Remark::TotalCorrected], ..Taken::default() });
    assert_eq!(ledger.take("F", &corrected), Taken::default());
}

#[test]
fn a_note_and_a_time_are_taken_over_silently_and_a_missing_note_stays() {
    let with = |note: Option<&str>, second| Refund {
        note: note.map(|note| Note(note.to_owned())),
        refunded_at: DateTime::from_timestamp(second, 0).expect("in range"),
        ..two_lines()
    };
    let mut ledger = recorded(&with(None, 0));
    for (stated, amended, note) in [
        (with(Some("torn"), 0), true, Some("torn")),
        (with(Some("torn"), 0), false, Some("torn")),
        (with(None, 0), false, Some("torn")),
        (with(Some("too small"), 0), true, Some("too small")),
        (with(None, 9), true, Some("too small")),
    ] {
        assert_eq!(ledger.take("F", &stated), Taken { amended, ..Taken::default() }, "{note:?}");
        assert_eq!(ledger.refunds["F"].note, note.map(|note| Note(note.to_owned())));
        assert_eq!(ledger.refunds["F"].refunded_at, stated.refunded_at);
    }
}

#[test]
fn added_units_take_effect_now_and_removed_ones_stay_counted() {
    let mut ledger = recorded(&two_lines());
    let more = refund(&[covered("x", "1", 1), covered("y", "2", 5), covered("z", "3", 1)]);
    let taken = ledger.take("F", &more);
    assert_eq!(taken.added, added(&[("2", 3), ("3", 1)]));
    assert_eq!(taken.remarks, [Remark::UnitsAdded { line: 1 }, Remark::UnitsAdded { line: 2 }]);
    for less in [refund(&[]), two_lines()] {
        assert_eq!(ledger.take("F", &less), Taken { remarks: vec![Remark::UnitsMissing], ..Taken::default() });
    }
    assert_eq!(ledger.covered(), BTreeMap::from([("1", 1), ("2", 5), ("3", 1)]));
    assert_eq!(ledger.take("F", &more), Taken::default(), "they were counted before");
}

#[test]
fn a_return_can_be_named_late_but_not_changed() {
    let with = |rma: Option<&str>| Refund { rma_identifier: rma.map(ToOwned::to_owned), ..two_lines() };
    let mut ledger = recorded(&with(None));
    let late = Taken { amended: true, named_late: true, ..Taken::default() };
    for (named, taken) in [
        (Some("R-1"), late),
        (Some("R-1"), Taken::default()),
        (None, Taken::default()),
        (Some("R-2"), Taken { remarks: vec![Remark::OtherRma], ..Taken::default() }),
    ] {
        assert_eq!(ledger.take("F", &with(named)), taken, "{named:?}");
        assert_eq!(ledger.refunds["F"].rma_identifier.as_deref(), Some("R-1"));
    }
}

#[test]
fn a_line_that_comes_back_under_another_refund_counts_once_for_the_same_order_line() {
    let mut ledger = recorded(&two_lines());
    let again = refund(&[covered("x", "1", 1), covered("y", "9", 2), covered("z", "9", 1), covered("z", "9", 1)]);
    let taken = ledger.take("G", &again);
    assert_eq!(taken.added, added(&[("9", 3)]));
    let remarks = [Remark::CountedBefore { line: 0 }, Remark::IdentifierReused { line: 1 }, Remark::CountedBefore { line: 3 }];
    assert_eq!(taken.remarks, remarks);
    let remarks = vec![Remark::CountedBefore { line: 0 }, Remark::CountedBefore { line: 3 }];
    assert_eq!(ledger.take("G", &again), Taken { remarks, ..Taken::default() });
    assert_eq!(ledger.take("F", &two_lines()), Taken::default());
}

#[test]
fn units_outside_of_returns_are_kept_by_line() {
    let mut ledger = recorded(&refund(&[covered("x", "1", 1), covered("y", "1", 2), covered("z", "2", 1)]));
    let recorded = ledger.refunds.get_mut("F").expect("recorded");
    assert_eq!(recorded.outside(), added(&[]));
    recorded.add_outside("1", 2);
    recorded.add_outside("2", 9);
    assert_eq!(recorded.outside(), added(&[("1", 2), ("2", 1)]), "no more than it covers");
    recorded.remove_outside("1", 1);
    assert_eq!((ledger.outside("1"), ledger.outside("2"), ledger.outside("3")), (1, 1, 0));
}

#[test]
fn no_unit_of_a_stated_refund_counts_as_outside_before_it_is_allocated() {
    let stated = refund(&[Covered { outside: 1, ..covered("x", "1", 1) }]);
    assert_eq!(recorded(&stated).outside("1"), 0);
}

#[test]
fn a_line_is_overrefunded_beyond_what_was_sold() {
    let sold = BTreeMap::from([("full", 2), ("over", 2), ("empty", 0)]);
    let covered = BTreeMap::from([("full", 2), ("over", 3), ("gone", 1)]);
    let all = ["full", "over", "empty", "gone"];
    assert_eq!(overrefunded(all.into_iter(), &sold, &covered), BTreeSet::from(["over"]));
    assert_eq!(overrefunded(["full"].into_iter(), &sold, &covered), BTreeSet::new());
}

#[test]
fn a_note_is_not_printed() {
    assert_eq!(format!("{:?}", Note("private".to_owned())), "Note(…)");
}

proptest! {
    #[test]
    fn however_a_refund_is_corrected_a_line_counts_the_most_that_was_ever_stated(
        corrections in prop::collection::vec(prop::collection::vec(0..5_u32, 3), 1..8),
    ) {
        let mut ledger = Ledger::default();
        let mut effect: BTreeMap<String, u32> = BTreeMap::new();
        for quantities in &corrections {
            let lines: Vec<Covered> = quantities.iter().enumerate().map(|(at, units)| covered(&format!("x{at}"), &at.to_string(), *units)).collect();
            for (line, units) in ledger.take("F", &refund(&lines)).added {
                *effect.entry(line).or_default() += units;
            }
        }
        for at in 0..3_usize {
            let most = corrections.iter().map(|quantities| quantities[at]).max().unwrap_or_default();
            prop_assert_eq!(effect.get(&at.to_string()).copied().unwrap_or_default(), most);
            prop_assert_eq!(ledger.covered()[at.to_string().as_str()], u64::from(most));
        }
    }
}
