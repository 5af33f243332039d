//! How fast calls of an endpoint may follow each other.

use std::time::Duration;

/// The rate of an endpoint: calls gather the right to start, up to a second's worth.
#[derive(Default)]
pub(super) struct Pace {
    /// Starts that are allowed, in millionths.
    credit: u64,
    counted: Option<Duration>,
}

/// The right to start one call.
const ONE: u64 = 1_000_000;

impl Pace {
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

    pub(super) fn start(&mut self) {
        self.credit = self.credit.saturating_sub(ONE);
    }

    /// After how long one more may start.
    pub(super) fn next(&self, per_second: usize, _now: Duration) -> Duration {
        let missing = ONE.saturating_sub(self.credit % ONE);
        Duration::from_micros(missing.div_ceil(per_second.max(1) as u64))
    }
}
