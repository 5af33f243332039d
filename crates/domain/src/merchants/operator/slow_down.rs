//! The slow-down after wrong passwords and codes: each further try waits longer, up to a minute. Nobody is locked out.

use chrono::{DateTime, TimeDelta, Utc};

/// The failed tries that cost nothing, so that a slip of the finger does not.
pub const FREE: i32 = 5;
/// The longest wait before the next try.
const LONGEST: TimeDelta = TimeDelta::minutes(1);
/// The time without a failed try after which the count begins anew.
pub const FORGOTTEN_AFTER: TimeDelta = TimeDelta::days(1);

/// The failed tries of an address, an account or a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trouble {
    pub failures: i32,
    /// The time of the next try.
    pub open_at: DateTime<Utc>,
}

/// The wait after this many failed tries in a row: 1 second after the fifth, then twice as long each time.
#[must_use]
pub fn wait_after(failures: i32) -> TimeDelta {
    let doublings = failures - FREE;
    match u32::try_from(doublings) {
        Err(_) => TimeDelta::zero(),
        Ok(doublings) => TimeDelta::seconds(1_i64.checked_shl(doublings.min(6)).unwrap_or(i64::MAX)).min(LONGEST),
    }
}

impl Trouble {
    /// Takes a try at `now`, which counts as failed until it has succeeded. An error is the time of the next try.
    pub fn try_at(self, now: DateTime<Utc>) -> Result<Self, DateTime<Utc>> {
        if self.open_at > now {
            return Err(self.open_at);
        }
        let failures = if now - self.open_at >= FORGOTTEN_AFTER { 1 } else { self.failures.saturating_add(1) };
        Ok(Self { failures, open_at: now + wait_after(failures) })
    }

    /// Gives a try back that was right, so that it does not count.
    #[must_use]
    pub fn give_back(self, now: DateTime<Utc>) -> Self {
        Self { failures: (self.failures - 1).max(0), open_at: self.open_at.min(now) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_try_after_the_fifth_waits_longer_up_to_a_minute() {
        let waits: Vec<i64> = (0..15).map(|failures| wait_after(failures).num_seconds()).collect();
        assert_eq!(waits, [0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60]);
        assert_eq!(wait_after(i32::MAX), LONGEST);
    }

    #[test]
    fn a_try_ahead_of_time_is_refused_and_not_counted() {
        let now = DateTime::<Utc>::default();
        let trouble = Trouble { failures: 6, open_at: now + TimeDelta::seconds(2) };
        assert_eq!(trouble.try_at(now), Err(now + TimeDelta::seconds(2)));
        let later = now + TimeDelta::seconds(2);
        assert_eq!(trouble.try_at(later), Ok(Trouble { failures: 7, open_at: later + TimeDelta::seconds(4) }));
    }

    #[test]
    fn a_try_that_was_right_does_not_count() {
        let now = DateTime::<Utc>::default();
        for failures in [0, 4, 5, 20] {
            let before = Trouble { failures, open_at: now };
            assert_eq!(before.try_at(now).map(|tried| tried.give_back(now)), Ok(before));
        }
        assert_eq!(Trouble { failures: 0, open_at: now }.give_back(now).failures, 0);
    }

    #[test]
    fn a_day_without_a_failed_try_is_a_new_beginning() {
        let now = DateTime::<Utc>::default();
        let trouble = Trouble { failures: 20, open_at: now };
        let almost = now + FORGOTTEN_AFTER - TimeDelta::seconds(1);
        assert_eq!(trouble.try_at(almost).map(|trouble| trouble.failures), Ok(21));
        assert_eq!(trouble.try_at(now + FORGOTTEN_AFTER).map(|trouble| trouble.failures), Ok(1));
    }
}
