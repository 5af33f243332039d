//! The size of a batch.

use store::orders::snapshots::Snapshot;

/// The size of messages in the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    messages: usize,
    orders: usize,
    bytes: usize,
}

impl Size {
    /// The most that a batch holds. A larger message is a batch of its own.
    ///
    /// A commit costs the disk the same however many orders it holds, so messages with many orders share one too. The number of messages
    /// bounds the work if the batch fails, because each is then written alone. The bytes bound the memory of the statement.
    const MOST: Self = Self { messages: 64, orders: 256, bytes: 512 * 1024 };

    /// The size of one message.
    pub(super) fn of(orders: &[Snapshot<'_>]) -> Self {
        Self { messages: 1, orders: orders.len(), bytes: orders.iter().map(|order| order.text.size()).sum() }
    }

    /// This and `other` together.
    pub(super) const fn plus(self, other: Self) -> Self {
        Self { messages: self.messages + other.messages, orders: self.orders + other.orders, bytes: self.bytes + other.bytes }
    }

    /// This without `part`.
    pub(super) const fn less(self, part: Self) -> Self {
        Self { messages: self.messages - part.messages, orders: self.orders - part.orders, bytes: self.bytes - part.bytes }
    }

    /// True if one batch can hold it.
    pub(super) const fn fits_a_batch(self) -> bool {
        self.messages <= Self::MOST.messages && self.orders <= Self::MOST.orders && self.bytes <= Self::MOST.bytes
    }

    /// True if it is enough for a whole batch.
    pub(super) const fn fills_a_batch(self) -> bool {
        self.messages >= Self::MOST.messages || self.orders >= Self::MOST.orders || self.bytes >= Self::MOST.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: Size = Size { messages: 1, orders: 50, bytes: 115_000 };

    #[test]
    fn a_batch_is_full_by_its_messages_its_orders_or_its_bytes() {
        for (size, fits, fills) in [
            (Size { messages: 64, orders: 64, bytes: 64 }, true, true),
            (Size { messages: 65, orders: 65, bytes: 65 }, false, true),
            (Size { messages: 2, orders: 200, bytes: 200 }, true, false),
            (Size { messages: 3, orders: 300, bytes: 300 }, false, true),
            (Size { messages: 2, orders: 2, bytes: 512 * 1024 }, true, true),
            (Size { messages: 2, orders: 2, bytes: 512 * 1024 + 1 }, false, true),
        ] {
            assert_eq!((size.fits_a_batch(), size.fills_a_batch()), (fits, fills), "{size:?}");
        }
    }

    #[test]
    fn what_was_added_can_be_taken_away() {
        let four = LARGE.plus(LARGE).plus(LARGE).plus(LARGE);
        assert!(four.fits_a_batch() && !four.plus(LARGE).fits_a_batch());
        assert_eq!(four.less(LARGE.plus(LARGE)), LARGE.plus(LARGE));
        assert_eq!(four.less(four), Size::default());
    }
}
