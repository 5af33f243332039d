//! A number on a page that may have been counted up to a bound only.

use std::fmt;

/// The numbers of Today, and those in the headings of the lists behind them, are counted up to here.
pub(super) const MOST_COUNTED: i64 = 100;

/// A count, and the bound at which counting stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) count: i64,
    pub(super) bound: i64,
}

impl Count {
    /// A count that stops at [`MOST_COUNTED`].
    pub(super) const fn of(count: i64) -> Self {
        Self { count, bound: MOST_COUNTED }
    }

    /// The sum of counts that stop at [`MOST_COUNTED`].
    pub(super) fn sum(counts: impl IntoIterator<Item = i64>) -> Self {
        counts.into_iter().map(Self::of).reduce(Self::and).unwrap_or(Self::of(0))
    }

    /// Both counts together. Counting stopped if it stopped for one of them.
    pub(super) const fn and(self, other: Self) -> Self {
        let count = self.count + other.count;
        let stopped = self.count >= self.bound || other.count >= other.bound;
        Self { count, bound: if stopped { count } else { self.bound.saturating_add(other.bound) } }
    }

    pub(super) const fn is_none(self) -> bool {
        self.count == 0
    }

    pub(super) const fn is_one(self) -> bool {
        self.count == 1
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&grouped(self.count))?;
        if self.count >= self.bound { f.write_str(" or more") } else { Ok(()) }
    }
}

/// A number with its digits in groups of three, such as `1,204`.
pub(super) fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    if number < 0 {
        grouped.push('−');
    }
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_a_bound_is_told() {
        assert_eq!(
            ["0", "999", "1,204", "1,000,000", "−12,345"],
            [0, 999, 1204, 1_000_000, -12_345].map(grouped).each_ref().map(String::as_str)
        );
        assert_eq!(Count { count: 99, bound: 100 }.to_string(), "99");
        assert_eq!(Count { count: 10_000, bound: 10_000 }.to_string(), "10,000 or more");
    }

    #[test]
    fn a_sum_of_counts_is_exact_unless_one_of_them_stopped() {
        let told = |counts: &[i64]| Count::sum(counts.iter().copied()).to_string();
        assert_eq!([told(&[]), told(&[7]), told(&[60, 70])], ["0", "7", "130"]);
        assert_eq!([told(&[100]), told(&[100, 3]), told(&[60, 0, 100])], ["100 or more", "103 or more", "160 or more"]);
    }
}
