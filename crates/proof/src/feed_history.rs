//! What was said and what readers of the feed saw of it, held against each other.

use std::collections::{HashMap, HashSet};

use uuid::Uuid;

/// What the writers know.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    /// Committed.
    pub(crate) committed: Vec<Uuid>,
    /// Undone, and never to be seen.
    pub(crate) undone: Vec<Uuid>,
    /// The connection broke while it was being committed.
    pub(crate) unknown: Vec<Uuid>,
}

/// What one reader saw, in its order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Whether it read from the beginning.
    pub(crate) whole: bool,
    pub(crate) ids: Vec<Uuid>,
}

/// What is wrong; nothing should be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Committed and not seen.
    pub(crate) missed: usize,
    /// Seen more than once by the same reader.
    pub(crate) doubled: usize,
    /// Seen and never committed.
    pub(crate) never_said: usize,
    /// Readers that saw another order than the first one.
    pub(crate) disordered: usize,
}

/// Holds `readers` against what was said. A reader that came later must have seen how the others' lists end.
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
    }
    found
}

/// How many faults [`seed`] puts in.
pub(crate) const SEEDED: usize = 4;

/// Puts a fault of each kind into what a reader saw, and answers how many the check notices.
pub(crate) fn seed(said: &Said, readers: &[Seen]) -> usize {
    let with = |fault: &dyn Fn(&mut Vec<Uuid>)| {
        let mut readers = readers.to_vec();
        if let Some(reader) = readers.iter_mut().rfind(|reader| reader.whole) {
            fault(&mut reader.ids);
        }
        check(said, &readers)
    };
    let undone = said.undone.first().copied().unwrap_or_default();
    let committed = said.committed.first().copied().unwrap_or_default();
    let caught = [
        with(&|ids| ids.retain(|id| *id != committed)).missed > 0,
        with(&|ids| ids.push(committed)).doubled > 0,
        with(&|ids| ids.push(undone)).never_said > 0,
        with(&|ids| ids.reverse()).disordered > 0,
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
        Seen { whole: true, ids: ids(numbers) }
    }

    #[test]
    fn every_kind_of_fault_is_found() {
        let said = Said { committed: ids(&[1, 2, 3]), undone: ids(&[9]), unknown: ids(&[4]) };
        let late = Seen { whole: false, ids: ids(&[3, 4]) };
        let sound = [whole(&[1, 2, 3, 4]), whole(&[1, 2, 3, 4]), late];
        assert_eq!(check(&said, &sound), Found::default());
        assert_eq!(seed(&said, &sound), SEEDED);
        let skipped = Seen { whole: false, ids: ids(&[2, 4]) };
        assert_eq!(check(&said, &[whole(&[1, 2, 3, 4]), skipped]).disordered, 1);
    }
}
