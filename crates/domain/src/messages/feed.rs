//! The feed: all messages to a merchant, in an order that never changes.

use uuid::Uuid;

/// A position in the feed. Messages are ordered by these fields. Nothing is ever inserted before a position that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Increases when the database moves to another system, where transaction numbers start again.
    pub epoch: i32,
    /// The transaction that wrote the message.
    pub transaction: u64,
    /// Orders messages of one transaction.
    pub message: Uuid,
}

impl Position {
    /// The position before the first message.
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
