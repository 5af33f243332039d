//! How a shipment is split into messages.

use std::ops::Range;

/// How many detail lines a message has at most.
pub const MOST_LINES: u32 = 500;

/// Into how many messages so many lines are split.
#[must_use]
pub const fn parts(lines: u32) -> u32 {
    lines.div_ceil(MOST_LINES)
}

/// Which lines each message has, in order: all are full but the last.
pub fn split(lines: u32) -> impl Iterator<Item = Range<u32>> {
    (0..parts(lines)).map(move |part| {
        let start = part * MOST_LINES;
        start..lines.min(start + MOST_LINES)
    })
}
