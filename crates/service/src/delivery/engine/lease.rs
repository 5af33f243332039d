//! Leases on buckets, as their owner knows them.
//!
//! A lease expires by the database's clock, [`TERM`] after its renewal. The owner measures on its own monotonic clock, starting
//! before it sent the renewal, and keeps a safety margin: after [`START_WITHIN`] it starts no calls, after [`WORK_WITHIN`] it
//! aborts those in flight. So even if the clocks disagree a little, it stops before anyone else can own the bucket.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use store::messages::settlements::Hold;
use tokio::time::Instant;
use uuid::Uuid;

/// The term of a lease.
pub(crate) const TERM: Duration = Duration::from_secs(10);
/// The interval between two renewals.
pub(super) const RENEW_EVERY: Duration = Duration::from_secs(2);
/// The time after a renewal in which calls may start.
const START_WITHIN: Duration = Duration::from_secs(7);
/// The time after a renewal in which calls may continue.
const WORK_WITHIN: Duration = Duration::from_secs(9);

const BUCKETS: usize = 256;

/// The leases of this process. Times are on the machine's monotonic clock, which a sandbox cannot move.
pub(super) struct Leases {
    /// The deliverer that holds them.
    owner: Uuid,
    held: Mutex<BTreeMap<u8, Lease>>,
    /// The times at which buckets were last released.
    released_at: Mutex<BTreeMap<u8, Duration>>,
    /// True while some buckets may be on their way back.
    releasing: AtomicBool,
    /// The number of calls in flight, published with every renewal.
    pub(super) calls: AtomicI32,
    since: Instant,
}

#[derive(Clone, Copy)]
struct Lease {
    epoch: i64,
    renewed: Duration,
    /// True while it is being given back: calls in flight end, and none start.
    releasing: bool,
}

impl Leases {
    /// The deliverer that these leases belong to.
    pub(super) fn owner(&self) -> Uuid {
        self.owner
    }

    pub(super) fn new(owner: Uuid) -> Self {
        Self {
            owner,
            held: Mutex::default(),
            released_at: Mutex::default(),
            releasing: AtomicBool::new(false),
            calls: AtomicI32::new(0),
            since: Instant::now(),
        }
    }

    fn hold(&self, bucket: u8, lease: &Lease) -> Hold {
        Hold { bucket, epoch: lease.epoch, owner: self.owner }
    }

    /// The current time on the clock of the leases.
    pub(super) fn now(&self) -> Duration {
        self.since.elapsed()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u8, Lease>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies the answer to a renewal sent at `sent`: exactly these buckets are ours. Returns the buckets that are new and those
    /// that are lost.
    pub(super) fn renew(&self, holds: &[Hold], sent: Duration) -> (Vec<Hold>, Vec<u8>) {
        let mut leases = self.lock();
        let mut gained = Vec::new();
        let lost: Vec<u8> = leases.iter().filter(|(bucket, lease)| !holds.contains(&self.hold(**bucket, lease))).map(|(b, _)| *b).collect();
        lost.iter().for_each(|bucket| _ = leases.remove(bucket));
        let released_at = self.released_at.lock().unwrap_or_else(PoisonError::into_inner);
        // Ignore a bucket that was released after the renewal was sent: the answer is out of date.
        for hold in holds.iter().filter(|hold| released_at.get(&hold.bucket).is_none_or(|at| *at < sent)) {
            let lease = leases.entry(hold.bucket).or_insert_with(|| {
                gained.push(*hold);
                Lease { epoch: hold.epoch, renewed: sent, releasing: false }
            });
            lease.renewed = sent;
        }
        (gained, lost)
    }

    /// Adds buckets that were taken by a statement sent at `sent`.
    pub(super) fn add(&self, holds: &[Hold], sent: Duration) {
        let mut leases = self.lock();
        for hold in holds {
            leases.insert(hold.bucket, Lease { epoch: hold.epoch, renewed: sent, releasing: false });
        }
    }

    /// The hold on a bucket, if a call may start under it now.
    pub(super) fn hold_to_start(&self, bucket: u8, now: Duration) -> Option<Hold> {
        let lease = *self.lock().get(&bucket)?;
        let may_start = !lease.releasing && now.saturating_sub(lease.renewed) < START_WITHIN;
        may_start.then(|| self.hold(bucket, &lease))
    }

    /// True if work begun under `hold` may continue.
    pub(super) fn is_valid(&self, hold: Hold, now: Duration) -> bool {
        let lease = self.lock().get(&hold.bucket).copied();
        lease.is_some_and(|lease| self.hold(hold.bucket, &lease) == hold && now.saturating_sub(lease.renewed) < WORK_WITHIN)
    }

    /// Removes the leases that are too old to continue under, and returns their buckets.
    pub(super) fn expire(&self, now: Duration) -> Vec<u8> {
        let mut leases = self.lock();
        let expired: Vec<u8> =
            leases.iter().filter(|(_, lease)| now.saturating_sub(lease.renewed) >= WORK_WITHIN).map(|(bucket, _)| *bucket).collect();
        expired.iter().for_each(|bucket| _ = leases.remove(bucket));
        expired
    }

    /// The buckets that are not being given back.
    pub(super) fn active(&self) -> Vec<u8> {
        self.lock().iter().filter(|(_, lease)| !lease.releasing).map(|(bucket, _)| *bucket).collect()
    }

    /// False if no bucket is being given back; a cheap check before [`Self::releasing`].
    pub(super) fn is_releasing(&self) -> bool {
        self.releasing.load(Ordering::Relaxed)
    }

    /// The buckets that are being given back.
    pub(super) fn releasing(&self) -> Vec<u8> {
        let leases = self.lock();
        self.releasing.store(leases.values().any(|lease| lease.releasing), Ordering::Relaxed);
        leases.iter().filter(|(_, lease)| lease.releasing).map(|(bucket, _)| *bucket).collect()
    }

    /// Starts to give back `count` more buckets.
    pub(super) fn start_releasing(&self, count: usize) {
        let mut leases = self.lock();
        leases.values_mut().rev().filter(|lease| !lease.releasing).take(count).for_each(|lease| lease.releasing = true);
        self.releasing.store(true, Ordering::Relaxed);
    }

    /// Removes buckets that were given back at `now`.
    pub(super) fn remove(&self, buckets: &[u8], now: Duration) {
        let mut leases = self.lock();
        let mut released_at = self.released_at.lock().unwrap_or_else(PoisonError::into_inner);
        for bucket in buckets {
            leases.remove(bucket);
            released_at.insert(*bucket, now);
        }
    }
}

/// The maximum number of buckets for each of `live` processes.
pub(super) fn fair_share(live: i64) -> usize {
    BUCKETS.div_ceil(usize::try_from(live).unwrap_or(1).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hold(bucket: u8, epoch: i64) -> Hold {
        Hold { bucket, epoch, owner: Uuid::nil() }
    }

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn nothing_starts_after_seven_seconds_and_nothing_continues_after_nine() {
        let leases = Leases::new(Uuid::nil());
        leases.add(&[hold(3, 1)], at(100));
        assert_eq!(leases.hold_to_start(3, at(106)), Some(hold(3, 1)));
        assert_eq!(leases.hold_to_start(3, at(107)), None);
        assert!(leases.is_valid(hold(3, 1), at(108)));
        assert!(!leases.is_valid(hold(3, 1), at(109)));
        assert!(leases.expire(at(108)).is_empty());
        assert_eq!(leases.expire(at(109)), [3]);
        assert_eq!(leases.active(), Vec::<u8>::new());
    }

    #[test]
    fn a_renewal_says_what_is_gained_and_what_is_lost() {
        let leases = Leases::new(Uuid::nil());
        leases.add(&[hold(1, 1), hold(2, 5)], at(0));
        assert_eq!(leases.renew(&[hold(2, 5), hold(3, 9)], at(2)), (vec![hold(3, 9)], vec![1]));
        // Someone else has had the bucket in between, so the old hold is no longer valid.
        assert_eq!(leases.renew(&[hold(2, 7), hold(3, 9)], at(4)), (vec![hold(2, 7)], vec![2]));
        assert!(!leases.is_valid(hold(2, 5), at(4)));
        assert!(leases.is_valid(hold(2, 7), at(4)));
    }

    #[test]
    fn in_a_released_bucket_calls_end_but_none_start() {
        let leases = Leases::new(Uuid::nil());
        leases.add(&[hold(1, 1), hold(2, 1), hold(3, 1)], at(0));
        leases.start_releasing(2);
        assert_eq!((leases.active(), leases.releasing()), (vec![1], vec![2, 3]));
        assert_eq!(leases.hold_to_start(3, at(1)), None);
        assert!(leases.is_valid(hold(3, 1), at(1)));
        leases.remove(&[2, 3], at(5));
        assert!(leases.releasing().is_empty());
        // The answer to a renewal that was sent before the release.
        assert_eq!(leases.renew(&[hold(1, 1), hold(2, 1), hold(3, 1)], at(4)), (vec![], vec![]));
        assert_eq!(leases.active(), [1]);
        assert_eq!(leases.renew(&[hold(1, 1), hold(2, 3)], at(6)), (vec![hold(2, 3)], vec![]));
    }

    #[test]
    fn shares_are_fair() {
        assert_eq!([1, 2, 3, 256, 300].map(fair_share), [256, 128, 86, 1, 1]);
        assert_eq!(fair_share(0), 256);
    }
}
