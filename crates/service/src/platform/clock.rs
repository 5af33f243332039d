//! The clock, passed in so that tests can control it.
//!
//! It has three times. [`Clock::now`] is the time that the app uses; in a sandbox it can be moved ahead. [`Clock::wall`] is the real
//! time, for timestamps that others compare with their own clocks. [`Clock::uptime`] only measures durations.

mod span;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

pub use self::span::{NoSpan, Span};

/// The app's clock. Clones share the same time.
#[derive(Clone)]
pub struct Clock {
    source: Source,
    ahead: Arc<Ahead>,
}

#[derive(Clone)]
enum Source {
    System {
        /// For [`Clock::uptime`].
        started: Instant,
        /// In microseconds; zero except in tests.
        wrong_by: Arc<AtomicI64>,
    },
    /// For tests: microseconds since 1970, moved by hand.
    Fixed(Arc<AtomicI64>),
}

/// The time by which a sandbox's clock was moved ahead.
#[derive(Default)]
struct Ahead {
    micros: AtomicI64,
    moved: Notify,
}

impl Clock {
    /// The machine's clock.
    #[must_use]
    pub fn system() -> Self {
        Self::system_wrong_by(TimeDelta::zero())
    }

    /// The machine's clock with an error of `wrong_by`.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the machine's clock")]
    pub fn system_wrong_by(wrong_by: TimeDelta) -> Self {
        let clock = Self { source: Source::System { started: Instant::now(), wrong_by: Arc::default() }, ahead: Arc::default() };
        clock.go_wrong_by(wrong_by);
        clock
    }

    /// Changes the error of the machine's clock. Does nothing to a fixed one.
    pub fn go_wrong_by(&self, by: TimeDelta) {
        if let Source::System { wrong_by, .. } = &self.source {
            wrong_by.store(by.num_microseconds().unwrap_or(i64::MAX), Ordering::SeqCst);
        }
    }

    /// A clock that stands at `time` until it is advanced.
    #[must_use]
    pub fn fixed(time: DateTime<Utc>) -> Self {
        Self { source: Source::Fixed(Arc::new(AtomicI64::new(time.timestamp_micros()))), ahead: Arc::default() }
    }

    /// The time that the app uses: the real time, or a later one in a sandbox whose clock was moved.
    #[must_use]
    pub fn now(&self) -> DateTime<Utc> {
        self.wall() + self.ahead()
    }

    /// The real time, even if the sandbox's clock was moved.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the machine's clock")]
    pub fn wall(&self) -> DateTime<Utc> {
        let micros = match &self.source {
            // To the microsecond, the resolution of the database.
            Source::System { wrong_by, .. } => Utc::now().timestamp_micros().saturating_add(wrong_by.load(Ordering::SeqCst)),
            Source::Fixed(micros) => micros.load(Ordering::SeqCst),
        };
        DateTime::from_timestamp_micros(micros).unwrap_or_default()
    }

    /// A monotonic time for deadlines and caches, from an arbitrary start.
    #[must_use]
    pub fn uptime(&self) -> Duration {
        match &self.source {
            Source::System { started, .. } => started.elapsed(),
            Source::Fixed(micros) => Duration::from_micros(u64::try_from(micros.load(Ordering::SeqCst)).unwrap_or_default()),
        }
    }

    /// Returns `true` for the machine's clock, which can be wrong.
    #[must_use]
    pub fn is_the_machines(&self) -> bool {
        matches!(self.source, Source::System { .. })
    }

    /// Advances a fixed clock. Does nothing to the machine's clock.
    pub fn advance(&self, by: Duration) {
        if let Source::Fixed(micros) = &self.source {
            micros.fetch_add(i64::try_from(by.as_micros()).unwrap_or(i64::MAX), Ordering::SeqCst);
        }
    }

    /// Sets a fixed clock. Does nothing to the machine's clock.
    pub fn set(&self, time: DateTime<Utc>) {
        if let Source::Fixed(micros) = &self.source {
            micros.store(time.timestamp_micros(), Ordering::SeqCst);
        }
    }

    /// The time by which it is ahead of real time.
    #[must_use]
    pub fn ahead(&self) -> TimeDelta {
        TimeDelta::microseconds(self.ahead.micros.load(Ordering::SeqCst))
    }

    /// Moves it until it is `ahead` of real time. It never goes back.
    pub fn move_ahead(&self, ahead: TimeDelta) {
        let Some(micros) = ahead.num_microseconds() else { return };
        if self.ahead.micros.fetch_max(micros, Ordering::SeqCst) < micros {
            tracing::info!(ahead = %Span::of(ahead), "the sandbox's clock was moved");
            self.ahead.moved.notify_waiters();
        }
    }

    /// Waits until it is moved. Moves count from this call on, not from the first poll.
    pub fn moved(&self) -> Notified<'_> {
        self.ahead.moved.notified()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_moved_jumps_for_the_app_and_for_nothing_else() {
        let beginning: DateTime<Utc> = "2026-03-01T12:00:00Z".parse().unwrap();
        let clock = Clock::fixed(beginning);
        let (other, uptime) = (clock.clone(), clock.uptime());
        clock.move_ahead(TimeDelta::hours(6));
        assert_eq!((other.now(), other.wall()), (beginning + TimeDelta::hours(6), beginning));
        assert_eq!(other.uptime(), uptime);
        clock.advance(Duration::from_secs(1));
        assert_eq!(other.now(), beginning + TimeDelta::hours(6) + TimeDelta::seconds(1));
    }

    #[test]
    fn a_clock_never_goes_back() {
        let clock = Clock::system();
        clock.move_ahead(TimeDelta::hours(2));
        clock.move_ahead(TimeDelta::hours(1));
        clock.move_ahead(TimeDelta::hours(-1));
        clock.move_ahead(TimeDelta::MAX);
        assert_eq!(clock.ahead(), TimeDelta::hours(2));
    }

    #[tokio::test]
    async fn whoever_waits_for_a_move_hears_of_it_even_if_it_came_before_the_wait() {
        let clock = Clock::system();
        let moved = clock.moved();
        clock.move_ahead(TimeDelta::hours(1));
        moved.await;
    }
}
