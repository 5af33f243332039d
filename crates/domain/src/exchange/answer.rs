//! What a merchant's answer to an exchange order says of the order.

use std::ops::Range;

/// The statuses that say that the order was not placed. Of the others, those that are no success say nothing.
pub const REFUSALS: Range<u16> = 400..500;

/// Whether the answer is one that a merchant may have declared to be its last word.
#[must_use]
pub fn may_be_final(status: u16) -> bool {
    matches!(status, 409 | 422)
}
