//! The source of randomness for ids and secrets, passed in so that tests can seed it.

use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use uuid::Uuid;

/// A cryptographically strong source of random bytes.
#[derive(Clone)]
pub struct Entropy(Arc<Mutex<StdRng>>);

impl Entropy {
    /// A source seeded by the operating system.
    #[must_use]
    pub fn system() -> Self {
        Self(Arc::new(Mutex::new(rand::make_rng())))
    }

    /// A source that yields the same bytes every time, for tests.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(StdRng::seed_from_u64(seed))))
    }

    /// Returns `N` random bytes.
    #[must_use]
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fill_bytes(&mut bytes);
        bytes
    }

    /// Returns a random number, at least 0 and less than 1.
    #[must_use]
    pub fn part(&self) -> f64 {
        f64::from(u32::from_le_bytes(self.bytes())) / (f64::from(u32::MAX) + 1.0)
    }

    /// Creates an id (UUID version 7) for the time `now`.
    #[must_use]
    pub fn mint(&self, now: DateTime<Utc>) -> Uuid {
        let millis = u64::try_from(now.timestamp_millis()).unwrap_or_default();
        uuid::Builder::from_unix_timestamp_millis(millis, &self.bytes()).into_uuid()
    }
}
