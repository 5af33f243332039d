//! The checker of the feed: compares the messages written with those that readers saw.

use std::collections::{HashMap, HashSet};

use uuid::Uuid;

/// The messages of all writers, by the outcome of their transaction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    pub(crate) committed: Vec<Uuid>,
    /// Rolled back; no reader may see them.
    pub(crate) undone: Vec<Uuid>,
    /// The connection broke during the commit.
    pub(crate) unknown: Vec<Uuid>,
}

/// The messages one reader saw, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Set for readers that read from the beginning.
    pub(crate) whole: bool,
    pub(crate) ids: Vec<Uuid>,
    /// Their positions.
    pub(crate) positions: Vec<i64>,
}

/// Counts of errors; all should be zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Committed but not seen.
    pub(crate) missed: usize,
    /// Seen more than once by the same reader.
    pub(crate) doubled: usize,
    /// Seen but never committed.
    pub(crate) never_said: usize,
    /// Readers that saw another order than the first reader.
    pub(crate) disordered: usize,
    /// Positions that do not follow the one before. The first of all is 1.
    pub(crate) gaps: usize,
}

/// Compares the readers with the writers. A reader that joined later must have seen the end of the first reader's list.
pub(crate) fn check(said: &Said, readers: &[Seen]) -> Found {
    let mut found = Found::default();
    let possible: HashSet<&Uuid> = said.committed.iter().chain(&said.unknown).collect();
    let first = readers.iter().find(|reader| reader.whole).map_or(&[][..], |reader| &reader.ids);
    for reader in readers {
        let mut times: HashMap<&Uuid, usize> = HashMap::new();
        reader.ids.iter().for_each(|id| *times.entry(id).or_default() += 1);
        found.doubled += times.values().filter(|times| **times > 1).count();
        found.never_said += times.keys().filter(|id| !possible.contains(*id)).count();
        if reader.whole {
            found.missed += said.committed.iter().filter(|id| !times.contains_key(id)).count();
        }
        let same = if reader.whole { first == reader.ids } else { first.ends_with(&reader.ids) };
        found.disordered += usize::from(!same);
        let before =
            reader.positions.iter().take(1).map(|first| if reader.whole { 0 } else { first - 1 }).chain(reader.positions.iter().copied());
        found.gaps += before.zip(&reader.positions).filter(|(before, position)| before + 1 != **position).count();
    }
    found
}

/// The number of faults that [`seed`] adds.
pub(crate) const SEEDED: usize = 5;

/// Adds a fault of each kind to a reader's messages. Returns how many of them the checker finds.
pub(crate) fn seed(said: &Said, readers: &[Seen]) -> usize {
    let with = |fault: &dyn Fn(&mut Seen)| {
        let mut readers = readers.to_vec();
        if let Some(reader) = readers.iter_mut().rfind(|reader| reader.whole) {
            fault(reader);
        }
        check(said, &readers)
    };
    let undone = said.undone.first().copied().unwrap_or_default();
    let committed = said.committed.first().copied().unwrap_or_default();
    let caught = [
        with(&|seen| seen.ids.retain(|id| *id != committed)).missed > 0,
        with(&|seen| seen.ids.push(committed)).doubled > 0,
        with(&|seen| seen.ids.push(undone)).never_said > 0,
        with(&|seen| seen.ids.reverse()).disordered > 0,
        with(&|seen| seen.positions.retain(|position| *position != 2)).gaps > 0,
    ];
    caught.into_iter().filter(|caught| *caught).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(numbers: &[u128]) -> Vec<Uuid> {
        numbers.iter().copied().map(Uuid::from_u128).collect()
    }

    fn whole(numbers: &[u128]) -> Seen {
        Seen { whole: true, ids: ids(numbers), positions: (1..).take(numbers.len()).collect() }
    }

    #[test]
    fn every_kind_of_fault_is_found() {
        let said = Said { committed: ids(&[1, 2, 3]), undone: ids(&[9]), unknown: ids(&[4]) };
        let late = Seen { whole: false, ids: ids(&[3, 4]), positions: vec![3, 4] };
        let sound = [whole(&[1, 2, 3, 4]), whole(&[1, 2, 3, 4]), late];
        assert_eq!(check(&said, &sound), Found::default());
        assert_eq!(seed(&said, &sound), SEEDED);
        let skipped = Seen { whole: false, ids: ids(&[2, 4]), positions: vec![2, 4] };
        let found = check(&said, &[whole(&[1, 2, 3, 4]), skipped]);
        assert_eq!((found.disordered, found.gaps), (1, 1));
    }
}
