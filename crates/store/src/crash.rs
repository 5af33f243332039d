//! Points at which a process can be made to end as if its machine had: where the proof of delivery cuts it off.
//!
//! Only a program that is built with the feature `crash-points` does so, and only when it is told to:
//! `BACKHAUL_CRASH_AT=<point>`, or `<point>:<n>` for the n-th time that it is passed, and `BACKHAUL_CRASH_LOG=<file>` for the
//! file in which it says so at its end. In every other program a point is nothing.

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

        /// All of them, in the order in which they are passed.
        pub const POINTS: &[Point] = &[$(Point::$point,)*];

        impl Point {
            /// How it is called.
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
    /// A flow has committed, and told nobody yet.
    Committed = "committed",
    /// Other processes are about to be told.
    Tell = "tell",
    /// Other processes were told.
    Told = "told",
    /// The partitions of the days to come are made.
    PartitionsMade = "partitions-made",
    /// The leases are renewed in the table, and their owner does not know it yet.
    LeasesRenewed = "leases-renewed",
    /// Buckets are taken in the table, and their owner does not know it yet.
    LeasesTaken = "leases-taken",
    /// Another process told of work.
    SignalHeard = "signal-heard",
    /// The backstop found what is due.
    WorkFound = "work-found",
    /// Due rows are read, and nothing is in hand yet.
    WorkRead = "work-read",
    /// A token was fetched and is not kept yet.
    TokenFetched = "token-fetched",
    /// A call is about to be made.
    Call = "call",
    /// A call was answered.
    Answered = "answered",
    /// It is decided what becomes of the message, and nobody is told yet.
    Judged = "judged",
    /// The settling transaction is open.
    SettleBegun = "settle-begun",
    /// It holds the rows of its buckets.
    SettleHeld = "settle-held",
    /// It has written to the failure queue.
    SettleFailuresKept = "settle-failures-kept",
    /// It has removed what is over.
    SettleRemoved = "settle-removed",
    /// It has given retries their times.
    SettlePostponed = "settle-postponed",
    /// It has parked what is not its lane's head.
    SettleParked = "settle-parked",
    /// It has let lanes go on.
    SettleUnparked = "settle-unparked",
    /// It has appended the attempts, and not counted them yet.
    SettleAppended = "settle-appended",
    /// It has counted the attempts, and not the deliveries yet.
    SettleCounted = "settle-counted",
    /// It is about to commit.
    SettleCommit = "settle-commit",
    /// It has committed, and the writer does not know it yet.
    SettleCommitted = "settle-committed",
    /// It is decided what is to be told of an endpoint, and all of it is written.
    NoticeWritten = "notice-written",
    /// Buckets are about to be given back.
    Release = "release",
    /// Buckets are given back.
    Released = "released",
    /// The deliverer is about to say that it is gone.
    Leave = "leave",
    /// It has said so.
    Left = "left",
}

/// Passes a point.
#[inline]
pub fn point(point: Point) {
    if cfg!(feature = "crash-points") {
        pass(point);
    }
}

/// Where this process ends: the point's name, for the how manieth time, and the file that says so.
struct Told {
    name: String,
    time: u64,
    log: Option<String>,
}

impl Told {
    fn read(at: &str, log: Option<String>) -> Self {
        let (name, time) = at.split_once(':').map_or((at, 1), |(name, time)| (name, time.parse().unwrap_or(1)));
        Self { name: name.to_owned(), time, log }
    }

    #[expect(clippy::disallowed_methods, reason = "this is no setting: whoever runs the proof tells the process that it starts")]
    fn by_environment() -> Option<Self> {
        let at = std::env::var("BACKHAUL_CRASH_AT").ok()?;
        Some(Self::read(&at, std::env::var("BACKHAUL_CRASH_LOG").ok()))
    }
}

fn pass(point: Point) {
    static TOLD: OnceLock<Option<Told>> = OnceLock::new();
    static PASSED: AtomicU64 = AtomicU64::new(0);
    let told = TOLD.get_or_init(Told::by_environment);
    let Some(told) = told.as_ref().filter(|told| told.name == point.name()) else { return };
    if PASSED.fetch_add(1, Ordering::SeqCst) + 1 == told.time {
        let log = told.log.as_ref().and_then(|log| OpenOptions::new().create(true).append(true).open(log).ok());
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
        let told = |at| Told::read(at, None);
        assert_eq!((told("commit").name.as_str(), told("commit").time), ("commit", 1));
        assert_eq!((told("commit:7").name.as_str(), told("commit:7").time), ("commit", 7));
    }
}
