//! The source of randomness for ids and secrets, passed in so that tests can seed it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use uuid::Uuid;

/// A cryptographically strong source of random bytes, and of ids.
#[derive(Clone)]
pub struct Entropy(Arc<Mutex<Source>>);

struct Source {
    random: StdRng,
    /// The millisecond of the newest id, and its bits after the time.
    newest: (u64, u128),
    is_seeded: bool,
}

/// The bits of an id after the time, without the first one, so that there is room for later ids of the same millisecond.
const DRAWN_BITS: u32 = 73;
/// The bits that stand after the variant; those before them stand after the version.
const BITS_AFTER_VARIANT: u32 = 62;

impl Entropy {
    /// A source seeded by the operating system.
    #[must_use]
    pub fn system() -> Self {
        Self::new(rand::make_rng(), false)
    }

    /// A source that yields the same bytes every time, for tests.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self::new(StdRng::seed_from_u64(seed), true)
    }

    fn new(random: StdRng, is_seeded: bool) -> Self {
        Self(Arc::new(Mutex::new(Source { random, newest: (0, 0), is_seeded })))
    }

    /// Begins a seeded source anew, so that what a test sees next does not depend on what was drawn before. Does nothing to one that
    /// the operating system seeded.
    pub fn reseed(&self, seed: u64) {
        let mut source = self.lock();
        if source.is_seeded {
            source.random = StdRng::seed_from_u64(seed);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Source> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `N` random bytes.
    #[must_use]
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        self.lock().bytes()
    }

    /// Returns a random number, at least 0 and less than 1.
    #[must_use]
    pub fn part(&self) -> f64 {
        f64::from(u32::from_le_bytes(self.bytes())) / (f64::from(u32::MAX) + 1.0)
    }

    /// Creates an id (UUID version 7) for the time `now`. Those of one millisecond ascend, each by a random step.
    #[must_use]
    pub fn mint(&self, now: DateTime<Utc>) -> Uuid {
        let millis = u64::try_from(now.timestamp_millis()).unwrap_or_default();
        let mut source = self.lock();
        let bits = match source.newest {
            (newest, bits) if newest == millis => bits + 1 + u128::from(u32::from_be_bytes(source.bytes())),
            _ => u128::from_be_bytes(source.bytes()) >> (u128::BITS - DRAWN_BITS),
        };
        if millis >= source.newest.0 {
            source.newest = (millis, bits);
        }
        uuid::Builder::from_unix_timestamp_millis(millis, &after_time(bits)).into_uuid()
    }
}

impl Source {
    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.random.fill_bytes(&mut bytes);
        bytes
    }
}

/// The last ten bytes of an id, with room for the version and the variant.
const fn after_time(bits: u128) -> [u8; 10] {
    let spread = ((bits >> BITS_AFTER_VARIANT) << u64::BITS) | (bits & ((1 << BITS_AFTER_VARIANT) - 1));
    let [_, _, _, _, _, _, bytes @ ..] = spread.to_be_bytes();
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_seeded_source_begins_anew() {
        let drawn = |entropy: &Entropy| {
            entropy.reseed(3);
            entropy.bytes::<16>()
        };
        let (seeded, system) = (Entropy::seeded(7), Entropy::system());
        assert_eq!(drawn(&seeded), drawn(&seeded));
        assert_ne!(drawn(&system), drawn(&system));
    }

    #[test]
    fn ids_of_one_millisecond_ascend_and_those_of_another_time_have_their_place() {
        let entropy = Entropy::seeded(7);
        let now = DateTime::from_timestamp_millis(1_772_366_400_000).unwrap();
        let minted: Vec<Uuid> = (0..10_000).map(|_| entropy.mint(now)).collect();
        assert!(minted.is_sorted_by(|one, next| one < next));
        assert!(minted.iter().all(|id| id.get_version_num() == 7 && id.get_variant() == uuid::Variant::RFC4122));
        let (before, after) =
            (entropy.mint(now - chrono::TimeDelta::milliseconds(1)), entropy.mint(now + chrono::TimeDelta::milliseconds(1)));
        assert!(before < minted[0] && *minted.last().unwrap() < after);
    }
}
