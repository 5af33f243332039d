//! The meaning of a merchant's answer to an exchange order.

use std::ops::Range;

/// The statuses that mean the order was not placed. Any other failure leaves it open.
pub const REFUSALS: Range<u16> = 400..500;

/// True for the statuses that a merchant may declare to be a final refusal.
#[must_use]
pub fn may_be_final(status: u16) -> bool {
    matches!(status, 409 | 422)
}
