//! The time, passed in.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};

/// Where the app's time comes from.
#[derive(Clone)]
pub enum Clock {
    /// The machine.
    System {
        /// When the process started, for [`Clock::uptime`].
        started: Instant,
        /// By how much it is put wrong: by nothing, but in a test.
        wrong_by: TimeDelta,
    },
    /// A test: microseconds since 1970, moved by hand.
    Fixed(Arc<AtomicI64>),
}

impl Clock {
    /// The machine's clock.
    #[must_use]
    pub fn system() -> Self {
        Self::system_wrong_by(TimeDelta::zero())
    }

    /// The machine's clock if it were wrong by so much.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks the machine")]
    pub fn system_wrong_by(wrong_by: TimeDelta) -> Self {
        Self::System { started: Instant::now(), wrong_by }
    }

    /// A clock that stands at `time` until it is advanced.
    #[must_use]
    pub fn fixed(time: DateTime<Utc>) -> Self {
        Self::Fixed(Arc::new(AtomicI64::new(time.timestamp_micros())))
    }

    /// The time.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks the machine")]
    pub fn now(&self) -> DateTime<Utc> {
        match self {
            // To the microsecond, which is what the database keeps.
            Self::System { wrong_by, .. } => {
                DateTime::from_timestamp_micros((Utc::now() + *wrong_by).timestamp_micros()).unwrap_or_default()
            }
            Self::Fixed(micros) => DateTime::from_timestamp_micros(micros.load(Ordering::SeqCst)).unwrap_or_default(),
        }
    }

    /// Time since some moment in the past, which never goes back: for deadlines and caches.
    #[must_use]
    pub fn uptime(&self) -> Duration {
        match self {
            Self::System { started, .. } => started.elapsed(),
            Self::Fixed(micros) => Duration::from_micros(u64::try_from(micros.load(Ordering::SeqCst)).unwrap_or_default()),
        }
    }

    /// Moves a fixed clock on; the machine's clock moves by itself.
    pub fn advance(&self, by: Duration) {
        if let Self::Fixed(micros) = self {
            micros.fetch_add(i64::try_from(by.as_micros()).unwrap_or(i64::MAX), Ordering::SeqCst);
        }
    }
}
