//! Delivery times: the histogram buckets of reports, and percentiles.

/// Upper bounds of the time from writing a message to its delivery, in milliseconds: five in each power of ten, and a day. A time is
/// told as its bound, which is at most 60 % longer. Longer times count as [`LONGER`].
#[rustfmt::skip]
pub const BOUNDS: [i64; 36] = [
    10, 16, 25, 40, 63,
    100, 160, 250, 400, 630,
    1_000, 1_600, 2_500, 4_000, 6_300,
    10_000, 16_000, 25_000, 40_000, 63_000,
    100_000, 160_000, 250_000, 400_000, 630_000,
    1_000_000, 1_600_000, 2_500_000, 4_000_000, 6_300_000,
    10_000_000, 16_000_000, 25_000_000, 40_000_000, 63_000_000,
    86_400_000,
];

/// The bucket of times above every bound.
pub const LONGER: i64 = i64::MAX;

/// The bucket of a time. Clocks may differ, so a negative time counts as zero.
#[must_use]
pub fn within(ms: i64) -> i64 {
    BOUNDS.into_iter().find(|bound| ms <= *bound).unwrap_or(LONGER)
}

/// The bound that covers `percent` of all messages; `None` if there are none. `counts` has the number of messages in each bucket.
#[must_use]
pub fn percentile(counts: &[(i64, u64)], percent: u64) -> Option<i64> {
    let mut counts = counts.to_vec();
    counts.sort_unstable();
    let all: u64 = counts.iter().map(|(_, count)| count).sum();
    let wanted = (all * percent).div_ceil(100).max(1);
    let mut seen = 0;
    counts.into_iter().find_map(|(bound, count)| {
        seen += count;
        (seen >= wanted).then_some(bound)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_counts_within_the_first_bound_that_it_does_not_exceed() {
        assert_eq!([-5, 0, 10, 11, 86_400_000, 86_400_001].map(within), [10, 10, 10, 16, 86_400_000, LONGER]);
        assert!(BOUNDS.is_sorted());
        assert!(BOUNDS.windows(2).all(|pair| matches!(pair, [lower, upper] if upper * 10 <= lower * 16)), "60 % longer at most");
    }

    #[test]
    fn a_percentile_is_the_bound_within_which_so_many_are() {
        let counts = [(100, 9), (10, 90), (LONGER, 1)];
        assert_eq!([50, 90, 91, 99, 100].map(|percent| percentile(&counts, percent)), [10, 10, 100, 100, LONGER].map(Some));
        assert_eq!(percentile(&[(25, 1)], 1), Some(25));
        assert_eq!(percentile(&[], 50), None);
    }
}
