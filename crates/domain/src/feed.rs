//! The feed: everything that was said to a merchant, in an order that never changes.

use uuid::Uuid;

/// A place in the feed. Messages stand in the order of these fields, and whoever has read up to a place has read everything
/// before it: nothing is ever added there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Grows when the database moves to another system, whose transactions are numbered anew.
    pub epoch: i32,
    /// The number of the transaction that wrote the message.
    pub transaction: u64,
    /// The message's id, which tells messages of one transaction apart.
    pub message: Uuid,
}

impl Position {
    /// Before everything.
    pub const BEGINNING: Self = Self { epoch: 0, transaction: 0, message: Uuid::nil() };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_counts_more_than_a_transaction_and_that_more_than_an_id() {
        let at = |epoch, transaction, message| Position { epoch, transaction, message: Uuid::from_u128(message) };
        let places = [Position::BEGINNING, at(0, 0, 1), at(0, 9, 7), at(0, 10, 2), at(0, 10, 3), at(1, 3, 1)];
        assert!(places.is_sorted());
    }
}
