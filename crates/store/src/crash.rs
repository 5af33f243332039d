//! Crash points, at which the proof of delivery kills a process as if its machine had failed.
//!
//! They work only in a development build and in one with the feature `crash-points`, and only on request:
//! `BACKHAUL_CRASH_AT=<point>`, or `<point>:<n>` for the n-th time the point is passed, and `BACKHAUL_CRASH_LOG=<file>` for a
//! file that the process appends the point's name to before it dies. In a release build without the feature a point does nothing.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! points {
    ($($(#[$doc:meta])* $point:ident = $name:literal,)*) => {
        /// A point that a message passes on its way.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Point {
            $($(#[$doc])* $point,)*
        }

        /// All points, in the order in which they are passed.
        pub const POINTS: &[Point] = &[$(Point::$point,)*];

        impl Point {
            /// The name used in `BACKHAUL_CRASH_AT`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$point => $name,)*
                }
            }
        }
    };
}

points! {
    /// A flow has written everything and is about to commit.
    Commit = "commit",
    /// A flow has committed and has notified nobody yet.
    Committed = "committed",
    /// Other processes are about to be notified.
    Notify = "tell",
    /// Other processes have been notified.
    Notified = "told",
    /// The partitions of the coming days have been created.
    PartitionsMade = "partitions-made",
    /// The leases are renewed in the table, but their owner does not know it yet.
    LeasesRenewed = "leases-renewed",
    /// Buckets are taken in the table, but their owner does not know it yet.
    LeasesTaken = "leases-taken",
    /// Another process has signalled work.
    SignalReceived = "signal-heard",
    /// The poller has found due work.
    WorkFound = "work-found",
    /// Due rows have been read but not queued yet.
    WorkRead = "work-read",
    /// A token has been fetched but not cached yet.
    TokenFetched = "token-fetched",
    /// A call is about to be made.
    Call = "call",
    /// The response to a call has arrived.
    Answered = "answered",
    /// The outcome of the message has been decided but not passed on yet.
    Judged = "judged",
    /// The settling transaction is open.
    SettleBegun = "settle-begun",
    /// It holds the rows of its buckets.
    SettleHeld = "settle-held",
    /// It has written to the failure queue.
    SettleFailuresKept = "settle-failures-kept",
    /// It has removed finished deliveries.
    SettleRemoved = "settle-removed",
    /// It has scheduled retries.
    SettlePostponed = "settle-postponed",
    /// It has parked messages that are not the head of their lane.
    SettleParked = "settle-parked",
    /// It has unparked lanes.
    SettleUnparked = "settle-unparked",
    /// It has inserted the attempts but not counted them yet.
    SettleAppended = "settle-appended",
    /// It has counted the attempts but not the deliveries yet.
    SettleCounted = "settle-counted",
    /// It is about to commit.
    SettleCommit = "settle-commit",
    /// It has committed, but the writer does not know it yet.
    SettleCommitted = "settle-committed",
    /// The notices about an endpoint have been decided and written.
    NoticeWritten = "notice-written",
    /// Buckets are about to be released.
    Release = "release",
    /// Buckets have been released.
    Released = "released",
    /// The deliverer is about to sign off.
    Leave = "leave",
    /// The deliverer has signed off.
    Left = "left",
}

/// Passes a crash point.
#[inline]
pub fn point(point: Point) {
    if cfg!(any(feature = "crash-points", debug_assertions)) {
        pass(point);
    }
}

/// The requested crash: the name of the point, the pass at which to abort, and the log file.
struct Requested {
    name: String,
    time: u64,
    log: Option<String>,
}

impl Requested {
    fn read(at: &str, log: Option<String>) -> Self {
        let (name, time) = at.split_once(':').map_or((at, 1), |(name, time)| (name, time.parse().unwrap_or(1)));
        Self { name: name.to_owned(), time, log }
    }

    #[expect(clippy::disallowed_methods, reason = "not a setting of the service: the proof sets it for the processes it starts")]
    fn from_environment() -> Option<Self> {
        let at = std::env::var("BACKHAUL_CRASH_AT").ok()?;
        Some(Self::read(&at, std::env::var("BACKHAUL_CRASH_LOG").ok()))
    }
}

fn pass(point: Point) {
    static REQUESTED: OnceLock<Option<Requested>> = OnceLock::new();
    static PASSED: AtomicU64 = AtomicU64::new(0);
    let requested = REQUESTED.get_or_init(Requested::from_environment);
    let Some(requested) = requested.as_ref().filter(|requested| requested.name == point.name()) else { return };
    if PASSED.fetch_add(1, Ordering::SeqCst) + 1 == requested.time {
        let log = requested.log.as_ref().and_then(|log| OpenOptions::new().create(true).append(true).open(log).ok());
        if let Some(mut log) = log {
            let _ = writeln!(log, "{}", point.name());
        }
        std::process::abort();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_point_has_a_name_of_its_own() {
        let names: BTreeSet<&str> = POINTS.iter().map(|point| point.name()).collect();
        assert_eq!(names.len(), POINTS.len());
    }

    #[test]
    fn a_point_is_named_with_or_without_a_count() {
        let requested = |at| Requested::read(at, None);
        assert_eq!((requested("commit").name.as_str(), requested("commit").time), ("commit", 1));
        assert_eq!((requested("commit:7").name.as_str(), requested("commit:7").time), ("commit", 7));
    }
}
