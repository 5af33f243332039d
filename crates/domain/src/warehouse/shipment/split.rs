//! Splitting a shipment into messages.

use std::ops::Range;

/// The most detail lines in a message.
pub const MOST_LINES: u32 = 500;

/// The number of messages for a number of lines.
#[must_use]
pub const fn parts(lines: u32) -> u32 {
    lines.div_ceil(MOST_LINES)
}

/// The lines of each message, in order; all messages but the last are full.
pub fn split(lines: u32) -> impl Iterator<Item = Range<u32>> {
    (0..parts(lines)).map(move |part| {
        let start = part * MOST_LINES;
        start..lines.min(start + MOST_LINES)
    })
}
