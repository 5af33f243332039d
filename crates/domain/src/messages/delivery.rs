//! The retry policy of deliveries.
//!
//! [`judge`] is the whole policy: it takes an [`Outcome`], the number of attempts, the [`Schedule`] and the time, and returns a
//! [`Verdict`]. Nothing else decides when a message is retried or given up.

use chrono::{DateTime, TimeDelta, Utc};

/// The outcome of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The peer answered.
    Answered {
        status: u16,
        /// From the header `Retry-After`.
        retry_after: Option<TimeDelta>,
    },
    /// The peer did not answer in time.
    TimedOut,
    /// The connection failed or broke.
    Unreachable(String),
    /// We did not call: the address, the settings or the token did not allow it.
    Refused(String),
}

impl Outcome {
    /// True if the message was delivered: any 2xx.
    #[must_use]
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Answered { status, .. } if is_success(*status))
    }

    /// A short name of the outcome, for people and reports.
    #[must_use]
    pub fn word(&self) -> String {
        match self {
            Self::Answered { status, .. } => status.to_string(),
            Self::TimedOut => "timed out".to_owned(),
            Self::Unreachable(_) => "unreachable".to_owned(),
            Self::Refused(_) => "refused".to_owned(),
        }
    }
}

/// True for a status that means the message was delivered: any 2xx.
#[must_use]
pub const fn is_success(status: u16) -> bool {
    matches!(status, 200..=299)
}

/// The retries of a message: as many for every endpoint.
pub const RETRIES: usize = 5;

/// The waits between attempts. After the last wait the message fails, unless the schedule goes on indefinitely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    waits: [TimeDelta; RETRIES],
    /// The wait after all of these, repeated indefinitely.
    then: Option<TimeDelta>,
}

/// The waits are not a valid [`Schedule`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("every message is retried five times, so a schedule must have exactly five waits, each of 1 second to 7 days")]
pub struct NoSchedule;

/// The contract's waits in seconds: five retries over about six hours, each wait eight times the one before.
const USUAL: [i64; RETRIES] = [5, 40, 320, 2_560, 20_480];
const LONGEST_WAIT: TimeDelta = TimeDelta::days(7);
/// The longest `Retry-After` that is honoured.
const LONGEST_ASKED: TimeDelta = TimeDelta::hours(6);
/// The wait between attempts of a message that is never given up.
const PATIENCE: TimeDelta = TimeDelta::hours(1);
/// Jitter: a wait is up to a tenth longer, so that messages that failed together are not retried together.
const SPREAD: i32 = 10;

impl Schedule {
    /// A schedule of five waits in seconds.
    pub fn of_seconds(waits: &[i64]) -> Result<Self, NoSchedule> {
        let waits: Vec<TimeDelta> = waits.iter().map(|wait| TimeDelta::try_seconds(*wait).ok_or(NoSchedule)).collect::<Result<_, _>>()?;
        let waits = <[TimeDelta; RETRIES]>::try_from(waits).map_err(|_| NoSchedule)?;
        let fit = waits.iter().all(|wait| (TimeDelta::seconds(1)..=LONGEST_WAIT).contains(wait));
        if fit { Ok(Self { waits, then: None }) } else { Err(NoSchedule) }
    }

    /// A stored schedule. Earlier versions stored any number of waits: the usual ones stand in for those that are missing.
    pub fn of_stored(waits: &[i64]) -> Result<Self, NoSchedule> {
        let completed: Vec<i64> = waits.iter().chain(USUAL.iter().skip(waits.len())).take(RETRIES).copied().collect();
        Self::of_seconds(&completed)
    }

    /// The waits before the five retries.
    #[must_use]
    pub const fn waits(&self) -> [TimeDelta; RETRIES] {
        self.waits
    }

    /// The default schedule, then once an hour until the message is cancelled.
    #[must_use]
    pub fn patient() -> Self {
        Self { then: Some(PATIENCE), ..Self::default() }
    }
}

/// The contract's schedule.
impl Default for Schedule {
    fn default() -> Self {
        Self { waits: USUAL.map(TimeDelta::seconds), then: None }
    }
}

/// The decision about a message after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Delivered,
    Retry {
        at: DateTime<Utc>,
    },
    /// All attempts are used up.
    Failed,
}

/// Decides about a message whose `attempt`th counted attempt (from 1) ended in `outcome` at `now`. `chance`, between 0 and 1, sets
/// the jitter.
#[must_use]
pub fn judge(outcome: &Outcome, attempt: u16, schedule: &Schedule, chance: f64, now: DateTime<Utc>) -> Verdict {
    if outcome.is_success() {
        return Verdict::Delivered;
    }
    let wait = usize::from(attempt).checked_sub(1).and_then(|at| schedule.waits.get(at).or(schedule.then.as_ref()));
    let Some(wait) = wait else { return Verdict::Failed };
    let asked = match outcome {
        Outcome::Answered { retry_after: Some(asked), .. } => (*asked).clamp(TimeDelta::zero(), LONGEST_ASKED),
        Outcome::Answered { retry_after: None, .. } | Outcome::TimedOut | Outcome::Unreachable(_) | Outcome::Refused(_) => {
            TimeDelta::zero()
        }
    };
    Verdict::Retry { at: now + spread(*wait, chance).max(asked) }
}

/// Adds jitter to a wait.
fn spread(wait: TimeDelta, chance: f64) -> TimeDelta {
    #[expect(clippy::cast_possible_truncation, reason = "the part is between 0 and 1,000")]
    let part = (chance.clamp(0.0, 1.0) * 1_000.0) as i32;
    wait + wait / SPREAD * part / 1_000
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn noon() -> DateTime<Utc> {
        "2026-03-01T12:00:00Z".parse().expect("a time")
    }

    fn answered(status: u16) -> Outcome {
        Outcome::Answered { status, retry_after: None }
    }

    fn waits(outcome: &Outcome, chance: f64) -> Vec<Option<i64>> {
        let wait = |attempt| match judge(outcome, attempt, &Schedule::default(), chance, noon()) {
            Verdict::Retry { at } => Some((at - noon()).num_milliseconds()),
            Verdict::Failed => None,
            Verdict::Delivered => panic!("it was not delivered"),
        };
        (1..=6).map(wait).collect()
    }

    #[test]
    fn there_are_five_retries_and_each_wait_is_eight_times_the_one_before() {
        let seconds = [5, 40, 5 * 60 + 20, 42 * 60 + 40, 5 * 3600 + 41 * 60 + 20];
        let expected: Vec<_> = seconds.iter().map(|s| Some(s * 1_000)).chain([None]).collect();
        assert_eq!(waits(&answered(500), 0.0), expected);
    }

    #[test]
    fn a_retry_is_up_to_a_tenth_later() {
        let expected: Vec<_> = [5_500, 44_000, 352_000, 2_816_000, 22_528_000].into_iter().map(Some).chain([None]).collect();
        assert_eq!(waits(&answered(500), 1.0), expected);
    }

    #[test]
    fn redirects_time_outs_and_broken_connections_count_like_a_server_error() {
        let reference = waits(&answered(500), 0.3);
        for outcome in [
            answered(301),
            answered(400),
            answered(401),
            answered(404),
            Outcome::TimedOut,
            Outcome::Unreachable("reset".to_owned()),
            Outcome::Refused("private address".to_owned()),
        ] {
            assert_eq!(waits(&outcome, 0.3), reference, "{outcome:?}");
        }
    }

    #[test]
    fn any_2xx_is_success() {
        for status in [200, 201, 202, 204, 299] {
            assert_eq!(judge(&answered(status), 6, &Schedule::default(), 0.0, noon()), Verdict::Delivered);
        }
    }

    #[test]
    fn retry_after_is_honoured_up_to_six_hours_and_never_shortens_a_wait() {
        let at = |asked, attempt| {
            let outcome = Outcome::Answered { status: 429, retry_after: Some(TimeDelta::seconds(asked)) };
            match judge(&outcome, attempt, &Schedule::default(), 0.0, noon()) {
                Verdict::Retry { at } => (at - noon()).num_seconds(),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(at(60, 1), 60);
        assert_eq!(at(1, 1), 5);
        assert_eq!(at(-5, 1), 5);
        assert_eq!(at(7 * 3_600, 1), 6 * 3_600);
        assert_eq!(at(60, 5), 20_480);
    }

    #[test]
    fn a_patient_schedule_goes_on_once_an_hour() {
        let wait = |attempt| match judge(&answered(500), attempt, &Schedule::patient(), 0.0, noon()) {
            Verdict::Retry { at } => (at - noon()).num_seconds(),
            given_up => panic!("{given_up:?}"),
        };
        assert_eq!([1, 2, 3, 4, 5, 6, 7, u16::MAX].map(wait), [5, 40, 320, 2_560, 20_480, 3_600, 3_600, 3_600]);
        assert_eq!(judge(&answered(204), 9, &Schedule::patient(), 0.0, noon()), Verdict::Delivered);
    }

    #[test]
    fn an_outcome_has_a_short_name_for_reports() {
        let outcomes = [answered(418), Outcome::TimedOut, Outcome::Unreachable("reset".to_owned()), Outcome::Refused("private".to_owned())];
        assert_eq!(outcomes.map(|outcome| outcome.word()), ["418", "timed out", "unreachable", "refused"]);
    }

    #[test]
    fn nothing_but_a_2xx_is_success() {
        for (status, success) in [(199, false), (200, true), (299, true), (300, false)] {
            assert_eq!((is_success(status), answered(status).is_success()), (success, success), "{status}");
        }
        assert!(!Outcome::TimedOut.is_success());
    }

    #[test]
    fn a_schedule_has_five_waits_within_bounds() {
        let shortest_and_longest = [1, 604_800, 1, 604_800, 1];
        let schedule = Schedule::of_seconds(&shortest_and_longest).expect("a schedule");
        assert_eq!(schedule.waits, shortest_and_longest.map(TimeDelta::seconds));
        for wrong in [&[][..], &[1; 4], &[1; 6], &[0, 1, 1, 1, 1], &[1, 1, 1, 1, -1], &[604_801, 1, 1, 1, 1], &[1, i64::MAX, 1, 1, 1]] {
            assert_eq!(Schedule::of_seconds(wrong), Err(NoSchedule), "{wrong:?}");
        }
    }

    #[test]
    fn a_stored_schedule_has_five_waits_whatever_was_stored() {
        for (stored, completed) in [
            (&[][..], [5, 40, 320, 2_560, 20_480]),
            (&[10, 20], [10, 20, 320, 2_560, 20_480]),
            (&[1, 2, 3, 4, 5], [1, 2, 3, 4, 5]),
            (&[1; 10], [1; 5]),
        ] {
            assert_eq!(Schedule::of_stored(stored), Schedule::of_seconds(&completed), "{stored:?}");
        }
    }

    proptest! {
        #[test]
        fn a_message_has_exactly_six_attempts_whatever_the_waits(
            waits in prop::array::uniform5(1_i64..604_800), status in 300_u16..600, chance in 0.0_f64..=1.0,
        ) {
            let schedule = Schedule::of_seconds(&waits).expect("a schedule");
            for (attempt, wait) in (1..).zip(waits) {
                let Verdict::Retry { at } = judge(&answered(status), attempt, &schedule, chance, noon()) else { panic!("given up early") };
                let late = (at - noon()) - TimeDelta::seconds(wait);
                prop_assert!(late >= TimeDelta::zero() && late <= TimeDelta::seconds(wait) / 10);
            }
            prop_assert_eq!(judge(&answered(status), 6, &schedule, chance, noon()), Verdict::Failed);
        }
    }
}
