//! How the carrier fails: slowly, for a while, or now and then. By chance only in that a seed decides, so that a run can be
//! repeated.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

/// What is wrong with the carrier. By default nothing is.
#[derive(Clone, Debug, PartialEq)]
pub struct Faults {
    /// How long every answer takes. What was asked for is done before.
    pub delay: Duration,
    /// Whether it is down.
    pub outage: Option<Outage>,
    /// The part of the calls that fail, from 0.0 to 1.0.
    pub fails: f64,
    /// The ways in which they fail, each as often as the others; without any, none fails.
    pub ways: Vec<Failure>,
    /// The same seed makes the same calls fail in the same ways, if they come in the same order.
    pub seed: u64,
    /// How long an answer takes that is too slow.
    pub too_slow: Duration,
}

/// How a carrier is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outage {
    /// Its port refuses connections.
    Refuses,
    /// It answers everything with 503.
    Unavailable,
}

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// 500, and nothing was done.
    ErrorBefore,
    /// 500, although it was done.
    ErrorAfter,
    /// It was done, and the connection is reset.
    ResetAfter,
    /// It was done, and the answer comes after [`Faults::too_slow`].
    TooSlow,
}

/// What is asked of a carrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// To make a shipment.
    Create,
    /// To say what a shipment is.
    Find,
    /// To sell a label.
    Buy,
    /// To take a label back.
    Refund,
    /// To follow a tracking number.
    Track,
    /// To hand out a label.
    Label,
}

impl Failure {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::ErrorBefore, Self::ErrorAfter, Self::ResetAfter, Self::TooSlow];
}

impl Default for Faults {
    fn default() -> Self {
        Self { delay: Duration::ZERO, outage: None, fails: 0.0, ways: Failure::ALL.to_vec(), seed: 0, too_slow: Duration::from_mins(1) }
    }
}

/// Decides which calls fail.
pub(super) struct Fortune {
    faults: Faults,
    chance: StdRng,
    queued: HashMap<Operation, VecDeque<Failure>>,
}

impl Fortune {
    pub(super) fn new(faults: Faults) -> Self {
        Self { chance: StdRng::seed_from_u64(faults.seed), faults, queued: HashMap::new() }
    }

    /// From now on, these are the faults; their seed begins again. What is queued stays.
    pub(super) fn turn(&mut self, faults: Faults) {
        *self = Self { queued: std::mem::take(&mut self.queued), ..Self::new(faults) };
    }

    pub(super) fn queue(&mut self, operation: Operation, failures: impl IntoIterator<Item = Failure>) {
        self.queued.entry(operation).or_default().extend(failures);
    }

    pub(super) fn faults(&self) -> &Faults {
        &self.faults
    }

    /// How the next call of this kind fails, if it does; a queued failure is used up.
    pub(super) fn choose(&mut self, operation: Operation) -> Option<Failure> {
        if let Some(queued) = self.queued.get_mut(&operation).and_then(VecDeque::pop_front) {
            return Some(queued);
        }
        // Without ways there is nothing to choose from. What is no number fails as seldom as zero.
        let fails = !self.faults.ways.is_empty() && self.chance.random::<f64>() < self.faults.fails;
        fails.then(|| self.chance.random_range(0..self.faults.ways.len())).and_then(|way| self.faults.ways.get(way).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(faults: Faults) -> Vec<Option<Failure>> {
        let mut fortune = Fortune::new(faults);
        (0..1_000).map(|_| fortune.choose(Operation::Buy)).collect()
    }

    #[test]
    fn the_same_seed_makes_the_same_calls_fail() {
        let faults = Faults { fails: 0.3, seed: 7, ..Faults::default() };
        assert_eq!(choices(faults.clone()), choices(faults.clone()));
        assert_ne!(choices(faults.clone()), choices(Faults { seed: 8, ..faults }));
    }

    #[test]
    fn as_many_calls_fail_as_were_asked_for_and_in_every_way() {
        let failed = choices(Faults { fails: 0.3, ..Faults::default() });
        let count = |way| failed.iter().filter(|failed| **failed == Some(way)).count();
        assert!(Failure::ALL.into_iter().all(|way| (45..=105).contains(&count(way))), "{failed:?}");
        assert!(choices(Faults::default()).iter().all(Option::is_none));
        assert!(choices(Faults { fails: f64::NAN, ..Faults::default() }).iter().all(Option::is_none));
        assert!(choices(Faults { fails: 1.0, ways: Vec::new(), ..Faults::default() }).iter().all(Option::is_none));
        assert!(choices(Faults { fails: 1.0, ..Faults::default() }).iter().all(Option::is_some));
    }

    #[test]
    fn queued_failures_come_first_and_once_and_only_where_they_were_queued() {
        let mut fortune = Fortune::new(Faults::default());
        fortune.queue(Operation::Buy, [Failure::TooSlow, Failure::ErrorAfter]);
        fortune.turn(Faults::default());
        assert_eq!(fortune.choose(Operation::Create), None);
        assert_eq!(fortune.choose(Operation::Buy), Some(Failure::TooSlow));
        assert_eq!(fortune.choose(Operation::Buy), Some(Failure::ErrorAfter));
        assert_eq!(fortune.choose(Operation::Buy), None);
    }
}
