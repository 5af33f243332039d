//! The feed: all messages to a merchant, numbered 1, 2, 3 … without a gap, in the order in which they were committed.

use uuid::Uuid;

/// A position in a merchant's feed. Nothing is ever inserted at or before a position that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Counts the merchant's messages from 1.
    pub number: i64,
    /// The message there. A database that was restored to an earlier moment gives the number to another one.
    pub message: Uuid,
}

impl Position {
    /// The position before the first message of all.
    pub const START: Self = Self { number: 0, message: Uuid::nil() };
}

/// A position as the version before named it. Messages were ordered by these fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormerPosition {
    /// Increases when the database moves to another system, where transaction numbers start again.
    pub epoch: i32,
    /// The transaction that wrote the message.
    pub transaction: u64,
    /// Orders messages of one transaction. Nil where there was no message.
    pub message: Uuid,
}

/// The place up to which a reader has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cursor {
    At(Position),
    /// Of the version before.
    Former(FormerPosition),
}

/// The reasons that a reader cannot read on from its cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The cursor names a message that is not in the feed: the database was restored to an earlier moment.
    Restored,
    /// Retention has removed messages that follow the cursor.
    Removed,
    /// The cursor is of the version before, and its place has no equal in the order of the positions.
    Reordered,
}

/// The part of a feed that is there: what follows `floor`, up to `last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The newest position that retention has removed.
    pub floor: Position,
    pub last: Position,
}

impl Extent {
    /// A feed without messages.
    pub const EMPTY: Self = Self { floor: Position::START, last: Position::START };

    /// The reason that nobody can read on after `at`, whose message was not found there. `None` if it is where the feed begins or ends.
    #[must_use]
    pub fn refuses(&self, at: Position) -> Option<Refused> {
        if at.number < self.floor.number {
            Some(Refused::Removed)
        } else if at == self.floor || at == self.last {
            None
        } else {
            // The position was never given, or another message has it.
            Some(Refused::Restored)
        }
    }
}

/// Translates the place of a cursor of the version before.
///
/// `found` is the last message at or before that place in the former order, and its number, if it has one. `live` says if all messages
/// are numbered, and `former` up to which number they are in the former order. `Ok(None)` means that the message has yet to be numbered.
pub fn translate(found: Option<(Uuid, Option<i64>)>, live: bool, former: i64, floor: Position) -> Result<Option<Position>, Refused> {
    match found {
        None if floor == Position::START => Ok(Some(Position::START)),
        None => Err(Refused::Removed),
        Some((_, None)) => Ok(None),
        Some((message, Some(number))) if !live || number <= former => Ok(Some(Position { number, message })),
        Some((_, Some(_))) => Err(Refused::Reordered),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(number: i64, message: u128) -> Position {
        Position { number, message: Uuid::from_u128(message) }
    }

    #[test]
    fn a_place_outside_of_the_feed_is_refused_with_the_reason() {
        let feed = Extent { floor: at(10, 110), last: at(20, 120) };
        for (place, expected) in [
            (at(10, 110), None),
            (at(20, 120), None),
            (at(21, 121), Some(Refused::Restored)),
            (at(9, 109), Some(Refused::Removed)),
            (Position::START, Some(Refused::Removed)),
            // Another message than the one that was read.
            (at(10, 7), Some(Refused::Restored)),
            (at(20, 7), Some(Refused::Restored)),
            // Its message was looked for and not found.
            (at(15, 115), Some(Refused::Restored)),
        ] {
            assert_eq!(feed.refuses(place), expected, "{place:?}");
        }
        assert_eq!(Extent::EMPTY.refuses(Position::START), None);
        assert_eq!(Extent::EMPTY.refuses(at(1, 1)), Some(Refused::Restored));
    }

    #[test]
    fn a_former_place_is_translated_as_long_as_the_order_is_the_same() {
        let id = Uuid::from_u128(7);
        let found = |number| Some((id, number));
        let position = |number| Ok(Some(Position { number, message: id }));
        let start = Position::START;
        assert_eq!(translate(found(Some(5)), false, 0, start), position(5));
        assert_eq!(translate(found(None), false, 0, start), Ok(None));
        assert_eq!(translate(found(Some(5)), true, 5, start), position(5));
        assert_eq!(translate(found(Some(6)), true, 5, start), Err(Refused::Reordered));
        assert_eq!(translate(found(None), true, 5, start), Ok(None), "written by the version before, and numbered soon");
        assert_eq!(translate(None, true, 5, start), Ok(Some(start)), "nothing was written before, and nothing was removed");
        assert_eq!(translate(None, true, 5, at(3, 3)), Err(Refused::Removed));
    }
}
