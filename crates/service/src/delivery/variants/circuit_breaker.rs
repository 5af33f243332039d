//! The circuit breaker of an endpoint: after several failures in a row it stops the calls for a while, so that shoppers do not wait
//! for an answer that will not come.

use std::time::Duration;

/// The number of failures in a row that opens it.
const FAILURES: u32 = 5;
/// The time for which it is open. Then one call is let through as a probe.
const OPEN_FOR: Duration = Duration::from_secs(30);

/// Closed while calls are allowed, open while they are not. Times are on the clock's uptime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CircuitBreaker {
    Closed {
        /// Failures since the last success.
        failures: u32,
    },
    Open {
        until: Duration,
    },
}

/// The permission for one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ticket {
    /// A call through a closed breaker.
    Usual,
    /// The call that finds out whether the endpoint has recovered.
    Probe,
}

/// A change of the breaker, to be logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Changed {
    Open,
    Closed,
}

impl Default for CircuitBreaker {
    fn default() -> Self {
        Self::Closed { failures: 0 }
    }
}

impl CircuitBreaker {
    /// True if no call is allowed.
    pub(super) fn is_open(self, now: Duration) -> bool {
        match self {
            Self::Closed { .. } => false,
            Self::Open { until } => now < until,
        }
    }

    /// Admits a call, if one is allowed. When the open time is over, that is one probe; the next follows when its result is known, or
    /// after another open time if it never is.
    pub(super) fn admit(&mut self, now: Duration) -> Option<Ticket> {
        match *self {
            Self::Closed { .. } => Some(Ticket::Usual),
            Self::Open { until } if now < until => None,
            Self::Open { .. } => {
                *self = Self::Open { until: now + OPEN_FOR };
                Some(Ticket::Probe)
            }
        }
    }

    /// Takes note of the result of a call. A call that was admitted before the breaker opened no longer matters.
    pub(super) fn report(&mut self, ticket: Ticket, succeeded: bool, now: Duration) -> Option<Changed> {
        match (*self, ticket, succeeded) {
            (Self::Closed { .. }, _, true) => *self = Self::default(),
            (Self::Closed { failures }, _, false) if failures + 1 < FAILURES => *self = Self::Closed { failures: failures + 1 },
            (Self::Closed { .. }, _, false) => {
                *self = Self::Open { until: now + OPEN_FOR };
                return Some(Changed::Open);
            }
            (Self::Open { .. }, Ticket::Probe, true) => {
                *self = Self::default();
                return Some(Changed::Closed);
            }
            (Self::Open { .. }, Ticket::Probe, false) => *self = Self::Open { until: now + OPEN_FOR },
            (Self::Open { .. }, Ticket::Usual, true | false) => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn opened(now: Duration) -> CircuitBreaker {
        let mut breaker = CircuitBreaker::default();
        for _ in 1..FAILURES {
            assert_eq!(breaker.report(Ticket::Usual, false, now), None);
        }
        assert_eq!(breaker.report(Ticket::Usual, false, now), Some(Changed::Open));
        breaker
    }

    #[test]
    fn failures_in_a_row_open_it_and_others_do_not() {
        let now = Duration::from_secs(1);
        assert!(opened(now).is_open(now));
        let mut breaker = CircuitBreaker::default();
        for at in 0..20 {
            assert_eq!(breaker.report(Ticket::Usual, at % 5 == 4, now), None);
        }
        assert!(!breaker.is_open(now));
    }

    #[test]
    fn after_the_open_time_one_call_probes() {
        let now = Duration::from_secs(1);
        let mut breaker = opened(now);
        let probe_at = now + OPEN_FOR;
        assert_eq!(breaker.admit(now + OPEN_FOR / 2), None);
        assert_eq!(breaker.admit(probe_at), Some(Ticket::Probe));
        assert_eq!(breaker.admit(probe_at), None, "one is enough");
        assert_eq!(breaker.report(Ticket::Usual, true, probe_at), None, "an earlier call does not matter");
        assert_eq!(breaker.report(Ticket::Probe, false, probe_at), None);
        assert_eq!(breaker.admit(probe_at), None);
        let probe_at = probe_at + OPEN_FOR;
        assert_eq!(breaker.admit(probe_at), Some(Ticket::Probe));
        assert_eq!(breaker.report(Ticket::Probe, true, probe_at), Some(Changed::Closed));
        assert_eq!(breaker.admit(probe_at), Some(Ticket::Usual));
    }

    #[test]
    fn a_call_that_never_ends_does_not_keep_it_open() {
        let now = Duration::from_secs(1);
        let mut breaker = opened(now);
        assert_eq!(breaker.admit(now + OPEN_FOR), Some(Ticket::Probe));
        assert_eq!(breaker.admit(now + 2 * OPEN_FOR), Some(Ticket::Probe));
    }

    proptest! {
        /// In any history, calls are admitted again after the open time, and there is at most one probe per open time.
        #[test]
        fn it_never_stays_open_and_never_admits_two_probes(steps in prop::collection::vec((0..40_u64, 0..4_u8), 0..200)) {
            let (mut breaker, mut now, mut probed) = (CircuitBreaker::default(), Duration::ZERO, None::<Duration>);
            for (seconds, step) in steps {
                now += Duration::from_secs(seconds);
                match step {
                    0 | 1 => { breaker.report(Ticket::Usual, step == 0, now); }
                    _ => match breaker.admit(now) {
                        Some(Ticket::Probe) => {
                            prop_assert!(probed.is_none_or(|before| now >= before + OPEN_FOR));
                            probed = Some(now);
                            if step == 3 {
                                breaker.report(Ticket::Probe, true, now);
                                probed = None;
                            }
                        }
                        Some(Ticket::Usual) => prop_assert!(!breaker.is_open(now)),
                        None => prop_assert!(breaker.is_open(now)),
                    },
                }
                let mut later = breaker;
                prop_assert!(later.admit(now + OPEN_FOR).is_some());
            }
        }
    }
}
