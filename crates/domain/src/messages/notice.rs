//! The notices about an endpoint: it fails, it has recovered, it has messages in the failure queue.
//!
//! There are two independent state machines. The transition in brackets sends no notice:
//!
//! ```text
//!              three failures in a row, and five minutes without success or one message given up
//!   healthy ──────────────────────────────────────────────────────────────────────────────────────▶ failing
//!           ◀──────────────────────────────────────────────────────────────────────────────────────
//!                   messages arrive for 15 minutes (after a relapse, for 6 hours) without
//!                                     three failures in a row
//!
//!              a message is given up, at most every 8 hours
//!   empty   ──────────────────────────────────────────────────▶ open
//!           ◀──────────────────────────────────────────────────
//!                          (the queue is emptied)
//! ```
//!
//! So an endpoint that fails now and then all day is reported as failing once or twice, and not once per success.
//!
//! A single message that keeps failing while others are delivered does not make the endpoint failing; the notice comes when that
//! message is given up.

use chrono::{DateTime, TimeDelta, Utc};

/// Failures in a row that make an endpoint failing.
const MANY: u32 = 3;
/// Time without a success that makes an endpoint failing.
const LONG: TimeDelta = TimeDelta::minutes(5);
/// Time without another run of failures that makes an endpoint recovered.
const STEADY: TimeDelta = TimeDelta::minutes(15);
/// The same for an endpoint that relapsed: it was reported as recovered less than [`RELAPSE`] before it failed again.
const STEADY_AFTER_RELAPSE: TimeDelta = TimeDelta::hours(6);
const RELAPSE: TimeDelta = TimeDelta::days(1);
/// The shortest time between two notices about the failure queue.
const OPEN_EVERY: TimeDelta = TimeDelta::hours(8);

/// The latest attempts at an endpoint, in the order in which they ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Failures since the last success.
    failed: u32,
    /// The first of these failures.
    since: Option<DateTime<Utc>>,
    /// A message was given up since the last success.
    given_up: bool,
    /// The first success since there were last [`MANY`] failures in a row.
    steady_since: Option<DateTime<Utc>>,
}

/// The health of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// The last attempt succeeded.
    Healthy {
        /// The first success since there were last three failures in a row.
        since: DateTime<Utc>,
    },
    /// Nothing is known yet, or there are too few failures to tell.
    Uncertain,
    Failing {
        since: DateTime<Utc>,
    },
}

impl Run {
    /// Records a success at `at`.
    pub fn succeeds(&mut self, at: DateTime<Utc>) {
        *self = Self { steady_since: self.steady_since.or(Some(at)), ..Self::default() };
    }

    /// Records a failure at `at`, and whether the message was given up.
    pub fn fails(&mut self, at: DateTime<Utc>, given_up: bool) {
        self.failed = self.failed.saturating_add(1);
        self.since = Some(self.since.map_or(at, |since| since.min(at)));
        self.given_up |= given_up;
        self.steady_since = self.steady_since.filter(|_| self.failed < MANY);
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
        self.failed == 0 && self.steady_since.is_none()
    }

    /// The health at `now`.
    #[must_use]
    pub fn health(&self, now: DateTime<Utc>) -> Health {
        match (self.since, self.steady_since) {
            (None, Some(since)) => Health::Healthy { since },
            (Some(since), _) if self.failed >= MANY && (self.given_up || now - since >= LONG) => Health::Failing { since },
            (None, None) | (Some(_), _) => Health::Uncertain,
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
    /// Time of the report that the failure queue has messages of the endpoint. None once the queue has none.
    pub failures_open_since: Option<DateTime<Utc>>,
    /// Time of the last report that the endpoint has recovered.
    pub recovered_at: Option<DateTime<Utc>>,
    /// Time of the last report that the failure queue has messages, whether it still has any or not.
    pub failures_told_at: Option<DateTime<Utc>>,
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
        let (mut next, mut notices) = (self, Vec::new());
        match (self.failing_since, health) {
            (None, Health::Failing { since }) => {
                next.failing_since = Some(since);
                notices.push(Notice::Failing { since });
            }
            (Some(since), Health::Healthy { .. }) if self.recovers_at(health).is_some_and(|at| at <= now) => {
                (next.failing_since, next.recovered_at) = (None, Some(now));
                notices.push(Notice::Recovered { since });
            }
            (None | Some(_), Health::Healthy { .. } | Health::Uncertain) | (Some(_), Health::Failing { .. }) => {}
        }
        match (self.failures_open_since, open) {
            (None, true) if self.tells_again_at().is_none_or(|at| at <= now) => {
                (next.failures_open_since, next.failures_told_at) = (Some(now), Some(now));
                notices.push(Notice::FailuresOpen);
            }
            (None | Some(_), true) => {}
            (None | Some(_), false) => next.failures_open_since = None,
        }
        (next, notices)
    }

    /// The time at which an endpoint in this `health` counts as recovered, if it was reported as failing.
    #[must_use]
    pub fn recovers_at(self, health: Health) -> Option<DateTime<Utc>> {
        let Health::Healthy { since } = health else { return None };
        let failing_since = self.failing_since?;
        let relapsed = self.recovered_at.is_some_and(|recovered_at| failing_since < recovered_at + RELAPSE);
        Some(since + if relapsed { STEADY_AFTER_RELAPSE } else { STEADY })
    }

    /// The time from which the next message in the failure queue may be reported.
    #[must_use]
    pub fn tells_again_at(self) -> Option<DateTime<Utc>> {
        self.failures_told_at.filter(|_| self.failures_open_since.is_none()).map(|at| at + OPEN_EVERY)
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
        alone.succeeds(at(1));
        alone.fails(at(2), true);
        assert_eq!(alone.health(at(100_000)), Health::Uncertain);
        alone.succeeds(at(3));
        assert_eq!(alone.health(at(100_000)), Health::Healthy { since: at(1) });
    }

    #[test]
    fn three_failures_in_a_row_end_a_steady_time_and_fewer_do_not() {
        let mut run = Run::default();
        run.succeeds(at(0));
        for second in [10, 11] {
            run.fails(at(second), false);
        }
        run.succeeds(at(20));
        assert_eq!(run.health(at(20)), Health::Healthy { since: at(0) });
        for second in [30, 31, 32] {
            run.fails(at(second), false);
        }
        run.succeeds(at(40));
        run.succeeds(at(50));
        assert_eq!(run.health(at(50)), Health::Healthy { since: at(40) });
    }

    #[test]
    fn a_recovery_is_told_after_15_minutes_and_after_a_relapse_within_a_day_after_6_hours() {
        let (minute, hour) = (60, 3_600);
        let told = ReportedHealth { failing_since: Some(at(0)), ..ReportedHealth::default() };
        let steady = Health::Healthy { since: at(100) };
        assert_eq!(told.next(steady, false, at(100 + 15 * minute - 1)), (told, Vec::new()));
        let (recovered, notices) = told.next(steady, false, at(100 + 15 * minute));
        assert_eq!(notices, [Notice::Recovered { since: at(0) }]);
        for (relapse, needed) in [(20 * hour, 6 * hour), (30 * hour, 15 * minute)] {
            let (failing, _) = recovered.next(Health::Failing { since: at(relapse) }, false, at(relapse + 300));
            let steady = Health::Healthy { since: at(relapse + 400) };
            assert_eq!(failing.recovers_at(steady), Some(at(relapse + 400 + needed)), "{relapse}");
        }
    }

    #[test]
    fn a_failure_queue_that_fills_again_is_told_of_after_8_hours_if_it_still_has_messages() {
        let (hour, healthy) = (3_600, Health::Healthy { since: at(0) });
        let (open, notices) = ReportedHealth::default().next(healthy, true, at(0));
        assert_eq!(notices, [Notice::FailuresOpen]);
        let (emptied, _) = open.next(healthy, false, at(60));
        assert_eq!(emptied.next(healthy, true, at(120)), (emptied, Vec::new()));
        assert_eq!(emptied.tells_again_at(), Some(at(8 * hour)));
        assert_eq!(emptied.next(healthy, true, at(8 * hour)).1, [Notice::FailuresOpen]);
        assert_eq!(emptied.next(healthy, false, at(8 * hour)).1, []);
    }

    #[test]
    fn a_run_knows_its_failures_and_when_they_began() {
        let mut run = Run::default();
        assert_eq!((run.is_empty(), run.failed(), run.since()), (true, 0, None));
        run.fails(at(7), false);
        run.fails(at(3), false);
        assert_eq!((run.is_empty(), run.failed(), run.since()), (false, 2, Some(at(3))), "attempts may end out of order");
        run.succeeds(at(8));
        assert_eq!((run.is_empty(), run.failed(), run.since()), (false, 0, None));
    }

    #[test]
    fn a_notice_has_the_name_of_its_event() {
        let notices = [Notice::Failing { since: at(0) }, Notice::Recovered { since: at(0) }, Notice::FailuresOpen];
        assert_eq!(notices.map(Notice::event), ["endpoint.failing", "endpoint.recovered", "endpoint.failures_open"]);
    }

    #[test]
    fn an_outage_keeps_its_beginning_until_it_is_over() {
        let failing = ReportedHealth { failing_since: Some(at(1)), failures_open_since: Some(at(2)), ..ReportedHealth::default() };
        assert_eq!(failing.next(Health::Failing { since: at(9) }, true, at(9)), (failing, vec![]));
        assert_eq!(failing.next(Health::Uncertain, true, at(9)), (failing, vec![]));
        assert_eq!(failing.next(Health::Healthy { since: at(9) }, true, at(908)), (failing, vec![]), "not steady yet");
        let (after, notices) = failing.next(Health::Healthy { since: at(9) }, false, at(909));
        let recovered = ReportedHealth { recovered_at: Some(at(909)), ..ReportedHealth::default() };
        assert_eq!((after, notices), (recovered, vec![Notice::Recovered { since: at(1) }]));
        let (after, notices) = after.next(Health::Failing { since: at(1_000) }, true, at(2_000));
        assert_eq!((after.failing_since, after.failures_open_since), (Some(at(1_000)), Some(at(2_000))));
        assert_eq!(notices, [Notice::Failing { since: at(1_000) }, Notice::FailuresOpen]);
    }

    proptest! {
        #[test]
        fn each_change_is_told_once_and_again_only_after_the_opposite_one(
            steps in proptest::collection::vec((0_i64..4_000, 0_u8..6, any::<bool>()), 0..80),
        ) {
            let (mut run, mut told, mut now) = (Run::default(), ReportedHealth::default(), 0);
            let (mut failing, mut open_told) = (false, None::<i64>);
            for (wait, step, filled) in steps {
                now += wait;
                match step {
                    0..=2 => run.succeeds(at(now)),
                    given_up => run.fails(at(now), given_up == 5),
                }
                let (next, notices) = told.next(run.health(at(now)), filled, at(now));
                for notice in notices {
                    match notice {
                        Notice::Failing { since } => {
                            prop_assert!(!failing && run.failed() >= MANY && since <= at(now));
                            failing = true;
                        }
                        Notice::Recovered { .. } => {
                            prop_assert!(failing && step <= 2);
                            failing = false;
                        }
                        Notice::FailuresOpen => {
                            prop_assert!(filled && told.failures_open_since.is_none());
                            prop_assert!(open_told.is_none_or(|before| now - before >= OPEN_EVERY.num_seconds()));
                            open_told = Some(now);
                        }
                    }
                }
                prop_assert_eq!(next.failing_since.is_some(), failing);
                prop_assert!(filled || next.failures_open_since.is_none());
                // Asking again yields nothing new.
                prop_assert_eq!(next.next(run.health(at(now)), filled, at(now)), (next, Vec::new()));
                told = next;
            }
        }

        #[test]
        fn an_endpoint_that_fails_most_of_a_day_is_told_of_three_times_at_most(
            attempts in proptest::collection::vec((1_i64..2_000, 0_u8..10), 200),
        ) {
            let (mut run, mut told, mut now, mut count) = (Run::default(), ReportedHealth::default(), 0, 0);
            for (wait, one_in_ten) in attempts {
                now += wait;
                // The owner looks whenever something may have changed.
                for second in (now - wait..now).step_by(60) {
                    let (next, notices) = told.next(run.health(at(second)), false, at(second));
                    (told, count) = (next, count + notices.len());
                }
                if now >= 86_400 {
                    break;
                }
                if one_in_ten == 0 { run.succeeds(at(now)) } else { run.fails(at(now), false) }
            }
            // A success that nothing follows for 15 minutes ends the first outage; the second lasts.
            prop_assert!(count <= 3, "{count}");
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
