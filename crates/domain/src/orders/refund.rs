//! Refunds are immutable: the rules for a refund that is sent again.
//!
//! The content of a refund is its order, its total and the set of (line identifier, order line, units). A repeat with the same
//! content does nothing; other content under the same identifier is refused. Other differences are either adopted or reported.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use chrono::{DateTime, Utc};

use crate::money::Cents;

/// A refund, as recorded or as stated in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refund {
    pub order: String,
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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Covered {
    /// The identifier of the refund line.
    pub identifier: String,
    pub order_line: String,
    pub quantity: u32,
}

/// The reasons a repeated refund contradicts the recorded one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// The identifier belongs to a refund of another order.
    AnotherOrder,
    AnotherTotal,
    /// Other refund lines, order lines or units.
    OtherLines,
}

/// The differences of a repeat that do not contradict the record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Additions {
    /// A new or changed note; adopted.
    pub note: Option<Note>,
    /// The return, if the record names none; adopted.
    pub rma_identifier: Option<String>,
    /// The repeat names a different return; the recorded one is kept.
    pub other_rma: bool,
    /// The repeat has a different time; the recorded one is kept.
    pub other_time: bool,
}

/// Compares a `stated` refund with the `recorded` one of the same identifier.
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

/// The order lines with more units refunded than ordered; `refunded` sums all recorded refunds.
pub fn overrefunded<'a>(ordered: &'a BTreeMap<&str, u32>, refunded: &'a BTreeMap<String, u64>) -> impl Iterator<Item = &'a str> {
    refunded
        .iter()
        .map(|(line, units)| (line.as_str(), *units))
        .filter(|(line, units)| *units > ordered.get(line).copied().map_or(0, u64::from))
        .map(|(line, _)| line)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn covered(identifier: &str, order_line: &str, quantity: u32) -> Covered {
        Covered { identifier: identifier.to_owned(), order_line: order_line.to_owned(), quantity }
    }

    fn recorded() -> Refund {
        Refund {
            order: "A-1".to_owned(),
            total: Cents::new(500).expect("in range"),
            lines: vec![covered("x", "1", 1), covered("y", "2", 2)],
            refunded_at: DateTime::UNIX_EPOCH,
            note: None,
            rma_identifier: None,
        }
    }

    #[test]
    fn the_same_content_again_is_nothing_new() {
        assert_eq!(compare(&recorded(), &recorded()), Ok(Additions::default()));
        let nothing = Refund { lines: Vec::new(), ..recorded() };
        assert_eq!(compare(&nothing, &nothing), Ok(Additions::default()));
    }

    #[test]
    fn other_content_is_a_conflict() {
        let lines = |lines: &[Covered]| Refund { lines: lines.to_vec(), ..recorded() };
        let (x, y) = (covered("x", "1", 1), covered("y", "2", 2));
        for other in [
            lines(&[]),
            lines(std::slice::from_ref(&x)),
            lines(&[x.clone(), y.clone(), covered("z", "2", 1)]),
            lines(&[x.clone(), covered("y", "2", 1)]),
            lines(&[x.clone(), covered("y", "1", 2)]),
            lines(&[x, covered("z", "2", 2)]),
        ] {
            assert_eq!(compare(&recorded(), &other), Err(Conflict::OtherLines), "{other:?}");
        }
        let other = Refund { total: Cents::new(501).expect("in range"), ..recorded() };
        assert_eq!(compare(&recorded(), &other), Err(Conflict::AnotherTotal));
        let other = Refund { order: "A-2".to_owned(), ..other };
        assert_eq!(compare(&recorded(), &other), Err(Conflict::AnotherOrder));
    }

    #[test]
    fn a_note_is_taken_over_whenever_it_says_something_new() {
        let with = |note: Option<&str>| Refund { note: note.map(|note| Note(note.to_owned())), ..recorded() };
        let taken = |old, new| compare(&with(old), &with(new)).map(|additions| additions.note);
        assert_eq!(taken(None, Some("torn")), Ok(Some(Note("torn".to_owned()))));
        assert_eq!(taken(Some("torn"), Some("too small")), Ok(Some(Note("too small".to_owned()))));
        assert_eq!(taken(Some("torn"), Some("torn")), Ok(None));
        assert_eq!(taken(Some("torn"), None), Ok(None));
    }

    #[test]
    fn a_return_can_be_named_late_but_not_changed() {
        let with = |rma: Option<&str>| Refund { rma_identifier: rma.map(ToOwned::to_owned), ..recorded() };
        let taken = |old, new| compare(&with(old), &with(new)).map(|additions| (additions.rma_identifier, additions.other_rma));
        assert_eq!(taken(None, Some("R-1")), Ok((Some("R-1".to_owned()), false)));
        assert_eq!(taken(Some("R-1"), Some("R-1")), Ok((None, false)));
        assert_eq!(taken(Some("R-1"), Some("R-2")), Ok((None, true)));
        assert_eq!(taken(Some("R-1"), None), Ok((None, false)));
    }

    #[test]
    fn another_time_is_pointed_out() {
        let later = Refund { refunded_at: DateTime::UNIX_EPOCH + chrono::TimeDelta::microseconds(1), ..recorded() };
        assert_eq!(compare(&recorded(), &later), Ok(Additions { other_time: true, ..Additions::default() }));
    }

    #[test]
    fn a_line_is_overrefunded_beyond_its_quantity_or_when_it_is_gone() {
        let ordered = BTreeMap::from([("full", 2), ("over", 2), ("untouched", 2), ("empty", 0)]);
        let refunded = [("full", 2), ("over", 3), ("gone", 1), ("gone but for nothing", 0), ("empty", 0), ("huge", u64::MAX)];
        let refunded: BTreeMap<String, u64> = refunded.into_iter().map(|(line, units)| (line.to_owned(), units)).collect();
        let found: Vec<&str> = overrefunded(&ordered, &refunded).collect();
        assert_eq!(found, ["gone", "huge", "over"]);
    }

    proptest! {
        #[test]
        fn the_order_of_the_lines_does_not_matter(quantities in prop::collection::vec(0..1_000_u32, 0..20), turn in 0..20_usize) {
            let lines: Vec<Covered> = quantities.iter().zip(0..).map(|(units, at)| covered(&at.to_string(), "1", *units)).collect();
            let mut turned = lines.clone();
            turned.rotate_left(turn.min(lines.len()));
            let (old, new) = (Refund { lines, ..recorded() }, Refund { lines: turned, ..recorded() });
            prop_assert_eq!(compare(&old, &new), Ok(Additions::default()));
        }

        #[test]
        fn one_unit_more_is_a_conflict(quantities in prop::collection::vec(0..1_000_u32, 1..20), at in any::<prop::sample::Index>()) {
            let lines: Vec<Covered> = quantities.iter().zip(0..).map(|(units, at)| covered(&at.to_string(), "1", *units)).collect();
            let mut changed = lines.clone();
            at.get_mut(&mut changed).quantity += 1;
            let (old, new) = (Refund { lines, ..recorded() }, Refund { lines: changed, ..recorded() });
            prop_assert_eq!(compare(&old, &new), Err(Conflict::OtherLines));
        }
    }
}
