//! The counts of one sliding minute: one for each of its 60 seconds, and their sum.
//!
//! The minute ends with the current second and slides by whole seconds. So no minute that starts on a full second holds more
//! requests than the limit, and a request of 60 seconds ago no longer counts.

/// The length of a window.
pub(super) const SECONDS: usize = 60;
/// The size of a serialised window.
pub(super) const BYTES: usize = SECONDS * size_of::<u32>();

/// One sliding minute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Window {
    newest: u64,
    total: u32,
    /// A ring buffer, indexed by the second modulo 60.
    counts: [u32; SECONDS],
}

impl Window {
    /// An empty minute that ends with `second`.
    pub(super) fn new(second: u64) -> Self {
        Self { newest: second, total: 0, counts: [0; SECONDS] }
    }

    /// Reads a window that ended `age` seconds before `second`, without the seconds that have expired since. Invalid bytes give
    /// an empty window.
    pub(super) fn from_bytes(bytes: &[u8], age: usize, second: u64) -> Self {
        let mut window = Self::new(second);
        let (counts, _) = bytes.as_chunks::<4>();
        if bytes.len() == BYTES {
            let still_there = counts.iter().map(|count| u32::from_le_bytes(*count)).skip(age);
            for (ago, count) in (age..SECONDS).rev().zip(still_there) {
                window.put(ago as u64, count);
            }
        }
        window
    }

    /// Serialises the counts, oldest first.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.oldest_first().flat_map(u32::to_le_bytes).collect()
    }

    /// The last second of the window.
    pub(super) fn newest(&self) -> u64 {
        self.newest
    }

    /// The sum of the counts.
    pub(super) fn total(&self) -> u32 {
        self.total
    }

    /// Moves on to `second`. An earlier second changes nothing, as two requests may overtake each other.
    pub(super) fn slide(&mut self, second: u64) {
        let passed = second.saturating_sub(self.newest);
        if passed >= SECONDS as u64 {
            *self = Self::new(second);
            return;
        }
        for next in self.newest + 1..=self.newest + passed {
            if let Some(count) = self.counts.get_mut(slot(next)) {
                self.total = self.total.saturating_sub(*count);
                *count = 0;
            }
        }
        self.newest += passed;
    }

    /// Counts one request in the newest second.
    pub(super) fn count(&mut self) {
        self.put(0, 1);
    }

    /// Adds the counts of another window that ends with the same second.
    pub(super) fn merge(&mut self, other: &Self) {
        for (ago, count) in (0..SECONDS as u64).rev().zip(other.oldest_first()) {
            self.put(ago, count);
        }
    }

    /// The counts, oldest first.
    pub(super) fn oldest_first(&self) -> impl Iterator<Item = u32> {
        let (newer, older) = self.counts.split_at_checked(slot(self.newest + 1)).unwrap_or_default();
        older.iter().chain(newer).copied()
    }

    /// Adds to the count of the second `ago` seconds before the newest.
    fn put(&mut self, ago: u64, many: u32) {
        // Adding a full turn of the ring keeps the first seconds of a clock from underflowing.
        if let Some(count) = self.counts.get_mut(slot(self.newest + SECONDS as u64 - ago)) {
            *count = count.saturating_add(many);
            self.total = self.total.saturating_add(many);
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a remainder of 60 fits everywhere")]
fn slot(second: u64) -> usize {
    (second % SECONDS as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled() -> Window {
        let mut window = Window::new(0);
        for second in 0..90 {
            window.slide(second);
            (0..second).for_each(|_| window.count());
        }
        window
    }

    #[test]
    fn a_minute_slides() {
        let mut window = filled();
        assert_eq!(window.total(), (30..90).sum::<u32>());
        window.slide(100);
        assert_eq!(window.total(), (41..90).sum::<u32>());
        window.slide(99);
        assert_eq!((window.newest(), window.total()), (100, (41..90).sum::<u32>()), "time does not go back");
        window.slide(148);
        assert_eq!(window.total(), 89);
        window.slide(149);
        assert_eq!(window, Window::new(149));
    }

    #[test]
    fn another_node_reads_what_was_written_as_it_looks_by_then() {
        let written = filled().to_bytes();
        assert_eq!(written.len(), BYTES);
        for age in [0, 1, 7, 59, 60, 1_000] {
            let mut aged = filled();
            aged.slide(89 + age as u64);
            // The reader's seconds are its own, and it may have started just now.
            for second in [0, 5, 12_345] {
                let read = Window::from_bytes(&written, age, second);
                assert_eq!(read.oldest_first().collect::<Vec<_>>(), aged.oldest_first().collect::<Vec<_>>());
                assert_eq!((read.newest(), read.total()), (second, aged.total()));
            }
        }
        assert_eq!(Window::from_bytes(&[1; 7], 0, 3), Window::new(3));
    }

    #[test]
    fn windows_of_several_nodes_add_up() {
        let mut window = filled();
        window.merge(&filled());
        assert_eq!(window.total(), 2 * filled().total());
        window.slide(100);
        assert_eq!(window.total(), 2 * (41..90).sum::<u32>());
    }
}
