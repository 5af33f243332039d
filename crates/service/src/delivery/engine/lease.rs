//! Leases on buckets, as their owner knows them.
//!
//! The lease ends by the database's clock, [`TERM`] after the renewal. The owner counts on its own monotonic clock, from
//! before it sent the renewal, and keeps a distance: after [`START_WITHIN`] it starts nothing more, after [`WORK_WITHIN`] it
//! drops what it has. Whatever a clock does in between, nobody else owns the bucket yet.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use store::messages::settlements::Hold;
use tokio::time::Instant;

/// For how long a bucket is leased.
pub(crate) const TERM: Duration = Duration::from_secs(10);
/// How often leases are renewed.
pub(super) const RENEW_EVERY: Duration = Duration::from_secs(2);
/// How long after a renewal calls may start.
const START_WITHIN: Duration = Duration::from_secs(7);
/// How long after a renewal calls may go on.
const WORK_WITHIN: Duration = Duration::from_secs(9);

/// How many buckets there are.
const BUCKETS: usize = 256;

/// The buckets of this process. Times are of the machine's monotonic clock, whatever the app's clock says.
pub(super) struct Leases {
    held: Mutex<BTreeMap<u8, Lease>>,
    /// When buckets were last given back.
    given_back: Mutex<BTreeMap<u8, Duration>>,
    /// Whether some are being given back.
    leaving: AtomicBool,
    /// How many calls are out: people are told with every renewal.
    pub(super) calls: AtomicI32,
    since: Instant,
}

#[derive(Clone, Copy)]
struct Lease {
    epoch: i64,
    renewed: Duration,
    /// Whether it is being given back: what is in flight is finished, nothing is started.
    leaving: bool,
}

impl Leases {
    /// No leases yet.
    pub(super) fn new() -> Self {
        Self {
            held: Mutex::default(),
            given_back: Mutex::default(),
            leaving: AtomicBool::new(false),
            calls: AtomicI32::new(0),
            since: Instant::now(),
        }
    }

    /// The time by which leases are counted.
    pub(super) fn now(&self) -> Duration {
        self.since.elapsed()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u8, Lease>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over what a renewal that was sent at `sent` said: these are ours, and no others. Answers those that are new and
    /// those that are lost.
    pub(super) fn renewed(&self, holds: &[Hold], sent: Duration) -> (Vec<Hold>, Vec<u8>) {
        let mut leases = self.lock();
        let mut gained = Vec::new();
        let lost: Vec<u8> = leases
            .iter()
            .filter(|(bucket, lease)| !holds.contains(&Hold { bucket: **bucket, epoch: lease.epoch }))
            .map(|(b, _)| *b)
            .collect();
        lost.iter().for_each(|bucket| _ = leases.remove(bucket));
        let given_back = self.given_back.lock().unwrap_or_else(PoisonError::into_inner);
        // A renewal that was on its way while a bucket was given back speaks of what was.
        for hold in holds.iter().filter(|hold| given_back.get(&hold.bucket).is_none_or(|at| *at < sent)) {
            let lease = leases.entry(hold.bucket).or_insert_with(|| {
                gained.push(*hold);
                Lease { epoch: hold.epoch, renewed: sent, leaving: false }
            });
            lease.renewed = sent;
        }
        (gained, lost)
    }

    /// Adds buckets that were taken by a statement sent at `sent`.
    pub(super) fn taken(&self, holds: &[Hold], sent: Duration) {
        let mut leases = self.lock();
        for hold in holds {
            leases.insert(hold.bucket, Lease { epoch: hold.epoch, renewed: sent, leaving: false });
        }
    }

    /// The hold on a bucket under which a call may start now.
    pub(super) fn to_start(&self, bucket: u8, now: Duration) -> Option<Hold> {
        let lease = *self.lock().get(&bucket)?;
        let good = !lease.leaving && now.saturating_sub(lease.renewed) < START_WITHIN;
        good.then_some(Hold { bucket, epoch: lease.epoch })
    }

    /// Whether what was begun under `hold` may still go on.
    pub(super) fn is_good(&self, hold: Hold, now: Duration) -> bool {
        self.lock().get(&hold.bucket).is_some_and(|lease| lease.epoch == hold.epoch && now.saturating_sub(lease.renewed) < WORK_WITHIN)
    }

    /// Forgets the leases that are too old to go on with, and answers which.
    pub(super) fn expire(&self, now: Duration) -> Vec<u8> {
        let mut leases = self.lock();
        let expired: Vec<u8> =
            leases.iter().filter(|(_, lease)| now.saturating_sub(lease.renewed) >= WORK_WITHIN).map(|(bucket, _)| *bucket).collect();
        expired.iter().for_each(|bucket| _ = leases.remove(bucket));
        expired
    }

    /// The buckets in which calls may start.
    pub(super) fn working(&self) -> Vec<u8> {
        self.lock().iter().filter(|(_, lease)| !lease.leaving).map(|(bucket, _)| *bucket).collect()
    }

    /// Whether buckets may be on their way back: a quick look before [`Self::leaving`].
    pub(super) fn is_leaving(&self) -> bool {
        self.leaving.load(Ordering::Relaxed)
    }

    /// The buckets that are being given back.
    pub(super) fn leaving(&self) -> Vec<u8> {
        let leases = self.lock();
        self.leaving.store(leases.values().any(|lease| lease.leaving), Ordering::Relaxed);
        leases.iter().filter(|(_, lease)| lease.leaving).map(|(bucket, _)| *bucket).collect()
    }

    /// Starts to give back `count` buckets.
    pub(super) fn hand_over(&self, count: usize) {
        let mut leases = self.lock();
        leases.values_mut().rev().filter(|lease| !lease.leaving).take(count).for_each(|lease| lease.leaving = true);
        self.leaving.store(true, Ordering::Relaxed);
    }

    /// Forgets buckets that were given back by `now`.
    pub(super) fn released(&self, buckets: &[u8], now: Duration) {
        let mut leases = self.lock();
        let mut given_back = self.given_back.lock().unwrap_or_else(PoisonError::into_inner);
        for bucket in buckets {
            leases.remove(bucket);
            given_back.insert(*bucket, now);
        }
    }
}

/// The most buckets that one of `live` processes should have.
pub(super) fn fair_share(live: i64) -> usize {
    BUCKETS.div_ceil(usize::try_from(live).unwrap_or(1).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hold(bucket: u8, epoch: i64) -> Hold {
        Hold { bucket, epoch }
    }

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn nothing_starts_after_seven_seconds_and_nothing_goes_on_after_nine() {
        let leases = Leases::new();
        leases.taken(&[hold(3, 1)], at(100));
        assert_eq!(leases.to_start(3, at(106)), Some(hold(3, 1)));
        assert_eq!(leases.to_start(3, at(107)), None);
        assert!(leases.is_good(hold(3, 1), at(108)));
        assert!(!leases.is_good(hold(3, 1), at(109)));
        assert!(leases.expire(at(108)).is_empty());
        assert_eq!(leases.expire(at(109)), [3]);
        assert_eq!(leases.working(), Vec::<u8>::new());
    }

    #[test]
    fn a_renewal_says_what_is_gained_and_what_is_lost() {
        let leases = Leases::new();
        leases.taken(&[hold(1, 1), hold(2, 5)], at(0));
        assert_eq!(leases.renewed(&[hold(2, 5), hold(3, 9)], at(2)), (vec![hold(3, 9)], vec![1]));
        // Somebody else had it in between: its former hold is worth nothing.
        assert_eq!(leases.renewed(&[hold(2, 7), hold(3, 9)], at(4)), (vec![hold(2, 7)], vec![2]));
        assert!(!leases.is_good(hold(2, 5), at(4)));
        assert!(leases.is_good(hold(2, 7), at(4)));
    }

    #[test]
    fn what_is_handed_over_is_finished_but_not_started() {
        let leases = Leases::new();
        leases.taken(&[hold(1, 1), hold(2, 1), hold(3, 1)], at(0));
        leases.hand_over(2);
        assert_eq!((leases.working(), leases.leaving()), (vec![1], vec![2, 3]));
        assert_eq!(leases.to_start(3, at(1)), None);
        assert!(leases.is_good(hold(3, 1), at(1)));
        leases.released(&[2, 3], at(5));
        assert!(leases.leaving().is_empty());
        // A renewal that was sent before that is answered now.
        assert_eq!(leases.renewed(&[hold(1, 1), hold(2, 1), hold(3, 1)], at(4)), (vec![], vec![]));
        assert_eq!(leases.working(), [1]);
        assert_eq!(leases.renewed(&[hold(1, 1), hold(2, 3)], at(6)), (vec![hold(2, 3)], vec![]));
    }

    #[test]
    fn shares_are_fair() {
        assert_eq!([1, 2, 3, 256, 300].map(fair_share), [256, 128, 86, 1, 1]);
        assert_eq!(fair_share(0), 256);
    }
}
