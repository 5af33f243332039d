//! The notices about an endpoint: it fails, it has recovered, it has messages in the failure queue.
//!
//! There are two independent state machines. The transition in brackets sends no notice:
//!
//! ```text
//!              three failures in a row, and five minutes without success or one message given up
//!   healthy ──────────────────────────────────────────────────────────────────────────────────────▶ failing
//!           ◀──────────────────────────────────────────────────────────────────────────────────────
//!                                          the first success
//!
//!              a message is given up
//!   empty   ─────────────────────────▶ open
//!           ◀─────────────────────────
//!             (the queue is emptied)
//! ```
//!
//! A single message that keeps failing while others are delivered does not make the endpoint failing; the notice comes when that
//! message is given up.

use chrono::{DateTime, TimeDelta, Utc};

/// Failures in a row that make an endpoint failing.
const MANY: u32 = 3;
/// Time without a success that makes an endpoint failing.
const LONG: TimeDelta = TimeDelta::minutes(5);

/// The latest attempts at an endpoint, in the order in which they ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Failures since the last success.
    failed: u32,
    /// The first of these failures.
    since: Option<DateTime<Utc>>,
    /// A message was given up since the last success.
    given_up: bool,
    /// There was a success at all.
    succeeded: bool,
}

/// The health of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// The last attempt succeeded.
    Healthy,
    /// Nothing is known yet, or there are too few failures to tell.
    Uncertain,
    Failing {
        since: DateTime<Utc>,
    },
}

impl Run {
    /// Records a success.
    pub fn succeeds(&mut self) {
        *self = Self { succeeded: true, ..Self::default() };
    }

    /// Records a failure at `at`, and whether the message was given up.
    pub fn fails(&mut self, at: DateTime<Utc>, given_up: bool) {
        self.failed = self.failed.saturating_add(1);
        self.since = Some(self.since.map_or(at, |since| since.min(at)));
        self.given_up |= given_up;
    }

    /// Failures since the last success.
    #[must_use]
    pub const fn failed(&self) -> u32 {
        self.failed
    }

    /// The first of these failures.
    #[must_use]
    pub const fn since(&self) -> Option<DateTime<Utc>> {
        self.since
    }

    /// True before the first attempt.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.failed == 0 && !self.succeeded
    }

    /// The health at `now`.
    #[must_use]
    pub fn health(&self, now: DateTime<Utc>) -> Health {
        match (self.since, self.succeeded) {
            (None, true) => Health::Healthy,
            (Some(since), _) if self.failed >= MANY && (self.given_up || now - since >= LONG) => Health::Failing { since },
            (None, false) | (Some(_), _) => Health::Uncertain,
        }
    }

    /// The time at which the endpoint becomes failing unless an attempt succeeds.
    #[must_use]
    pub fn fails_at(&self) -> Option<DateTime<Utc>> {
        self.since.filter(|_| self.failed >= MANY).map(|since| since + LONG)
    }
}

/// The state of an endpoint as last reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportedHealth {
    /// Start of the reported outage.
    pub failing_since: Option<DateTime<Utc>>,
    /// Time of the report that the failure queue has messages of the endpoint.
    pub failures_open_since: Option<DateTime<Utc>>,
}

/// A notice about an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The endpoint fails.
    Failing { since: DateTime<Utc> },
    /// The endpoint has recovered.
    Recovered {
        /// Start of the outage.
        since: DateTime<Utc>,
    },
    /// The failure queue has messages of the endpoint.
    FailuresOpen,
}

impl Notice {
    /// The event name.
    #[must_use]
    pub const fn event(self) -> &'static str {
        match self {
            Self::Failing { .. } => "endpoint.failing",
            Self::Recovered { .. } => "endpoint.recovered",
            Self::FailuresOpen => "endpoint.failures_open",
        }
    }
}

impl ReportedHealth {
    /// The notices due for an endpoint in this `health`, with messages in the failure queue (`open`) or without; and the state
    /// after they are sent.
    #[must_use]
    pub fn next(self, health: Health, open: bool, now: DateTime<Utc>) -> (Self, Vec<Notice>) {
        let (failing_since, first) = match (self.failing_since, health) {
            (None, Health::Failing { since }) => (Some(since), Some(Notice::Failing { since })),
            (Some(since), Health::Healthy) => (None, Some(Notice::Recovered { since })),
            (None, Health::Healthy | Health::Uncertain) => (None, None),
            (Some(since), Health::Failing { .. } | Health::Uncertain) => (Some(since), None),
        };
        let (failures_open_since, second) = match (self.failures_open_since, open) {
            (None, true) => (Some(now), Some(Notice::FailuresOpen)),
            (Some(since), true) => (Some(since), None),
            (Some(_) | None, false) => (None, None),
        };
        (Self { failing_since, failures_open_since }, first.into_iter().chain(second).collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_772_366_400 + seconds, 0).expect("a time")
    }

    fn failing(times: &[i64]) -> Run {
        let mut run = Run::default();
        times.iter().for_each(|seconds| run.fails(at(*seconds), false));
        run
    }

    #[test]
    fn three_failures_in_five_minutes_are_a_failing_endpoint_and_fewer_are_not() {
        let run = failing(&[0, 5, 45]);
        assert_eq!(run.health(at(299)), Health::Uncertain);
        assert_eq!(run.health(at(300)), Health::Failing { since: at(0) });
        assert_eq!(run.fails_at(), Some(at(300)));
        let run = failing(&[0, 5]);
        assert_eq!((run.health(at(100_000)), run.fails_at()), (Health::Uncertain, None));
        assert_eq!(Run::default().health(at(100_000)), Health::Uncertain);
    }

    #[test]
    fn a_message_that_is_given_up_needs_no_five_minutes_and_one_alone_says_nothing() {
        let mut run = failing(&[0, 1]);
        run.fails(at(2), true);
        assert_eq!(run.health(at(2)), Health::Failing { since: at(0) });
        let mut alone = Run::default();
        alone.succeeds();
        alone.fails(at(2), true);
        assert_eq!(alone.health(at(100_000)), Health::Uncertain);
        alone.succeeds();
        assert_eq!(alone.health(at(100_000)), Health::Healthy);
    }

    #[test]
    fn a_run_knows_its_failures_and_when_they_began() {
        let mut run = Run::default();
        assert_eq!((run.is_empty(), run.failed(), run.since()), (true, 0, None));
        run.fails(at(7), false);
        run.fails(at(3), false);
        assert_eq!((run.is_empty(), run.failed(), run.since()), (false, 2, Some(at(3))), "attempts may end out of order");
        run.succeeds();
        assert_eq!((run.is_empty(), run.failed(), run.since()), (false, 0, None));
    }

    #[test]
    fn a_notice_has_the_name_of_its_event() {
        let notices = [Notice::Failing { since: at(0) }, Notice::Recovered { since: at(0) }, Notice::FailuresOpen];
        assert_eq!(notices.map(Notice::event), ["endpoint.failing", "endpoint.recovered", "endpoint.failures_open"]);
    }

    #[test]
    fn an_outage_keeps_its_beginning_until_it_is_over() {
        let failing = ReportedHealth { failing_since: Some(at(1)), failures_open_since: Some(at(2)) };
        assert_eq!(failing.next(Health::Failing { since: at(9) }, true, at(9)), (failing, vec![]));
        assert_eq!(failing.next(Health::Uncertain, true, at(9)), (failing, vec![]));
        let (after, notices) = failing.next(Health::Healthy, false, at(9));
        assert_eq!((after, notices), (ReportedHealth::default(), vec![Notice::Recovered { since: at(1) }]));
        let (after, notices) = after.next(Health::Failing { since: at(10) }, true, at(20));
        assert_eq!(after, ReportedHealth { failing_since: Some(at(10)), failures_open_since: Some(at(20)) });
        assert_eq!(notices, [Notice::Failing { since: at(10) }, Notice::FailuresOpen]);
    }

    proptest! {
        #[test]
        fn each_change_is_told_once_and_again_only_after_the_opposite_one(
            steps in proptest::collection::vec((0_i64..400, 0_u8..4, any::<bool>()), 0..60),
        ) {
            let (mut run, mut told, mut now) = (Run::default(), ReportedHealth::default(), 0);
            let (mut failing, mut open) = (false, false);
            for (wait, step, filled) in steps {
                now += wait;
                match step {
                    0 => run.succeeds(),
                    given_up => run.fails(at(now), given_up == 3),
                }
                let (next, notices) = told.next(run.health(at(now)), filled, at(now));
                for notice in notices {
                    match notice {
                        Notice::Failing { since } => {
                            prop_assert!(!failing && run.failed() >= MANY && since <= at(now));
                            failing = true;
                        }
                        Notice::Recovered { .. } => {
                            prop_assert!(failing && step == 0);
                            failing = false;
                        }
                        Notice::FailuresOpen => prop_assert!(!open && filled),
                    }
                }
                open = filled;
                prop_assert_eq!((next.failing_since.is_some(), next.failures_open_since.is_some()), (failing, open));
                // Asking again yields nothing new.
                prop_assert_eq!(next.next(run.health(at(now)), filled, at(now)), (next, Vec::new()));
                told = next;
            }
        }

        #[test]
        fn a_run_turns_failing_when_it_says(times in proptest::collection::vec(0_i64..1_000, 0..10)) {
            let mut times = times;
            times.sort_unstable();
            let run = failing(&times);
            if let Some(turns) = run.fails_at() {
                prop_assert_eq!(run.health(turns - TimeDelta::milliseconds(1)), Health::Uncertain);
                prop_assert_eq!(run.health(turns), Health::Failing { since: turns - LONG });
            } else {
                prop_assert_eq!(run.health(at(1_000_000)), Health::Uncertain);
            }
        }
    }
}
