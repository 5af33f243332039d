//! Whether an endpoint is called at all: after some failures in a row it is left in peace for a while, so that shoppers need
//! not wait for what will not come.

use std::time::Duration;

/// So many failures in a row open it.
const FAILURES: u32 = 5;
/// For so long; then one call is let through, and says whether it goes on.
const RESTS_FOR: Duration = Duration::from_secs(30);

/// Closed while calls may be made, open while they may not. Times are on the clock's uptime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Breaker {
    Closed {
        /// Failures since the last call that went well.
        failures: u32,
    },
    Open {
        until: Duration,
    },
}

/// What a call was let through as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ticket {
    /// One of many.
    Usual,
    /// The one that finds out whether an endpoint is well again.
    Probe,
}

/// That a breaker has changed, to be told to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turned {
    Open,
    Closed,
}

impl Default for Breaker {
    fn default() -> Self {
        Self::Closed { failures: 0 }
    }
}

impl Breaker {
    /// Whether no call may be made.
    pub(super) fn is_open(self, now: Duration) -> bool {
        match self {
            Self::Closed { .. } => false,
            Self::Open { until } => now < until,
        }
    }

    /// Lets a call through, if one may be made. After a rest that is one; until its end is known, or for as long again if that
    /// never is, there is no other.
    pub(super) fn admit(&mut self, now: Duration) -> Option<Ticket> {
        match *self {
            Self::Closed { .. } => Some(Ticket::Usual),
            Self::Open { until } if now < until => None,
            Self::Open { .. } => {
                *self = Self::Open { until: now + RESTS_FOR };
                Some(Ticket::Probe)
            }
        }
    }

    /// A call has ended. One that was let through before the breaker opened says nothing any more.
    pub(super) fn report(&mut self, ticket: Ticket, went_well: bool, now: Duration) -> Option<Turned> {
        match (*self, ticket, went_well) {
            (Self::Closed { .. }, _, true) => *self = Self::default(),
            (Self::Closed { failures }, _, false) if failures + 1 < FAILURES => *self = Self::Closed { failures: failures + 1 },
            (Self::Closed { .. }, _, false) => {
                *self = Self::Open { until: now + RESTS_FOR };
                return Some(Turned::Open);
            }
            (Self::Open { .. }, Ticket::Probe, true) => {
                *self = Self::default();
                return Some(Turned::Closed);
            }
            (Self::Open { .. }, Ticket::Probe, false) => *self = Self::Open { until: now + RESTS_FOR },
            (Self::Open { .. }, Ticket::Usual, true | false) => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn opened(now: Duration) -> Breaker {
        let mut breaker = Breaker::default();
        for _ in 1..FAILURES {
            assert_eq!(breaker.report(Ticket::Usual, false, now), None);
        }
        assert_eq!(breaker.report(Ticket::Usual, false, now), Some(Turned::Open));
        breaker
    }

    #[test]
    fn failures_in_a_row_open_it_and_others_do_not() {
        let now = Duration::from_secs(1);
        assert!(opened(now).is_open(now));
        let mut breaker = Breaker::default();
        for at in 0..20 {
            assert_eq!(breaker.report(Ticket::Usual, at % 5 == 4, now), None);
        }
        assert!(!breaker.is_open(now));
    }

    #[test]
    fn after_a_rest_one_call_finds_out() {
        let now = Duration::from_secs(1);
        let mut breaker = opened(now);
        let rested = now + RESTS_FOR;
        assert_eq!(breaker.admit(now + RESTS_FOR / 2), None);
        assert_eq!(breaker.admit(rested), Some(Ticket::Probe));
        assert_eq!(breaker.admit(rested), None, "one is enough");
        assert_eq!(breaker.report(Ticket::Usual, true, rested), None, "an early one says nothing");
        assert_eq!(breaker.report(Ticket::Probe, false, rested), None);
        assert_eq!(breaker.admit(rested), None);
        let rested = rested + RESTS_FOR;
        assert_eq!(breaker.admit(rested), Some(Ticket::Probe));
        assert_eq!(breaker.report(Ticket::Probe, true, rested), Some(Turned::Closed));
        assert_eq!(breaker.admit(rested), Some(Ticket::Usual));
    }

    #[test]
    fn a_call_that_never_ends_does_not_keep_it_open() {
        let now = Duration::from_secs(1);
        let mut breaker = opened(now);
        assert_eq!(breaker.admit(now + RESTS_FOR), Some(Ticket::Probe));
        assert_eq!(breaker.admit(now + 2 * RESTS_FOR), Some(Ticket::Probe));
    }

    proptest! {
        /// Whatever happens: calls are let through again after a rest, and there is one probe a rest at most.
        #[test]
        fn it_never_stays_open_and_never_lets_two_find_out(steps in prop::collection::vec((0..40_u64, 0..4_u8), 0..200)) {
            let (mut breaker, mut now, mut probed) = (Breaker::default(), Duration::ZERO, None::<Duration>);
            for (seconds, step) in steps {
                now += Duration::from_secs(seconds);
                match step {
                    0 | 1 => { breaker.report(Ticket::Usual, step == 0, now); }
                    _ => match breaker.admit(now) {
                        Some(Ticket::Probe) => {
                            prop_assert!(probed.is_none_or(|before| now >= before + RESTS_FOR));
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
                prop_assert!(later.admit(now + RESTS_FOR).is_some());
            }
        }
    }
}
