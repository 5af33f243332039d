//! The rate limiter of an endpoint.

use std::time::Duration;

/// A token bucket: permits accumulate at the endpoint's rate, up to one second's worth.
#[derive(Default)]
pub(super) struct RateLimiter {
    /// Available permits, in millionths.
    credit: u64,
    /// The time up to which permits have been added.
    counted: Option<Duration>,
}

/// One permit.
const ONE: u64 = 1_000_000;

impl RateLimiter {
    /// Adds the permits that have accumulated by `now` and returns the number of calls that may start.
    pub(super) fn allowed(&mut self, per_second: usize, now: Duration) -> usize {
        let per_second = per_second as u64;
        let most = per_second * ONE;
        self.credit = match self.counted {
            None => most,
            Some(counted) => {
                let passed = u64::try_from(now.saturating_sub(counted).as_micros()).unwrap_or(u64::MAX).min(ONE);
                (self.credit + passed * per_second).min(most)
            }
        };
        self.counted = Some(now);
        usize::try_from(self.credit / ONE).unwrap_or(usize::MAX)
    }

    /// Uses one permit for a call that starts.
    pub(super) fn take(&mut self) {
        self.credit = self.credit.saturating_sub(ONE);
    }

    /// The time until the next permit.
    pub(super) fn wait(&self, per_second: usize) -> Duration {
        let missing = ONE.saturating_sub(self.credit % ONE);
        Duration::from_micros(missing.div_ceil(per_second.max(1) as u64))
    }
}
