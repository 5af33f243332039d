//! Money in minor units.

use std::fmt;
use std::iter::Sum;

/// An amount in the minor unit of its currency, never negative and at most [`Cents::MAX`].
///
/// The bound is small enough that a thousand lines of a thousand units at the highest price still sum within an `i64`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cents(i64);

impl Cents {
    /// The largest accepted amount: ten thousand million of a currency with two decimals.
    pub const MAX: i64 = 1_000_000_000_000;

    /// The amount, if it is in range.
    #[must_use]
    pub const fn new(amount: i64) -> Option<Self> {
        if amount < 0 || amount > Self::MAX { None } else { Some(Self(amount)) }
    }

    /// The nearest amount in range: for parts of amounts, which stay in range, and for small sums, which nearly always do.
    #[must_use]
    pub(crate) fn nearest(amount: i128) -> Self {
        Self(i64::try_from(amount.clamp(0, i128::from(Self::MAX))).unwrap_or(Self::MAX))
    }

    /// The sum, for the few amounts of an order or a return; at most the largest amount.
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        Self::nearest(i128::from(self.0) + i128::from(more.0))
    }

    /// The number, for storage and for arithmetic that may leave the range ([`Balance`]).
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }
}

/// A running sum of amounts, wide enough that no order can overflow it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Balance(i128);

impl Balance {
    /// Adds `amount`.
    #[must_use]
    pub fn plus(self, amount: Cents) -> Self {
        Self(self.0 + i128::from(amount.0))
    }

    /// Subtracts `amount`.
    #[must_use]
    pub fn less(self, amount: Cents) -> Self {
        Self(self.0 - i128::from(amount.0))
    }

    /// The price of `count` units.
    #[must_use]
    pub fn of(price: Cents, count: u32) -> Self {
        Self(i128::from(price.0) * i128::from(count))
    }
}

impl From<Cents> for Balance {
    fn from(amount: Cents) -> Self {
        Self::default().plus(amount)
    }
}

impl Sum<Cents> for Balance {
    fn sum<I: Iterator<Item = Cents>>(amounts: I) -> Self {
        amounts.fold(Self::default(), Self::plus)
    }
}

impl fmt::Display for Balance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An amount in cents as a decimal number, without its currency: `-4.99`.
#[must_use]
pub fn decimal(cents: i64) -> String {
    let sign = if cents < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", cents.unsigned_abs() / 100, cents.unsigned_abs() % 100)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn amounts_have_two_decimals_and_a_sign() {
        assert_eq!([0, 5, 499, -499, 120_000].map(decimal), ["0.00", "0.05", "4.99", "-4.99", "1200.00"]);
        assert_eq!(decimal(Cents::MAX), "10000000000.00");
    }

    #[test]
    fn an_amount_is_never_negative_nor_absurd() {
        assert_eq!(Cents::new(-1), None);
        assert_eq!(Cents::new(Cents::MAX + 1), None);
        assert_eq!(Cents::new(Cents::MAX).map(Cents::get), Some(Cents::MAX));
    }

    #[test]
    fn the_nearest_amount_is_in_range() {
        assert_eq!([-1, 0, 7].map(|amount| Cents::nearest(amount).get()), [0, 0, 7]);
        let most = i128::from(Cents::MAX);
        assert_eq!(
            [most - 1, most, most + 1, i128::MAX].map(|amount| i128::from(Cents::nearest(amount).get())),
            [most - 1, most, most, most]
        );
    }

    #[test]
    fn a_balance_is_written_as_a_number_and_may_be_negative() {
        let five = Cents::new(5).expect("in range");
        assert_eq!((Balance::of(five, 3).to_string(), Balance::default().less(five).to_string()), ("15".to_owned(), "-5".to_owned()));
    }

    proptest! {
        #[test]
        fn what_is_added_and_taken_away_leaves_nothing(amounts in prop::collection::vec(0..=Cents::MAX, 0..50)) {
            let amounts: Vec<Cents> = amounts.into_iter().filter_map(Cents::new).collect();
            let sum: Balance = amounts.iter().copied().sum();
            prop_assert_eq!(amounts.into_iter().fold(sum, Balance::less), Balance::default());
        }
    }
}
