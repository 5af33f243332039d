//! Fault injection for the carrier: slow answers, outages and random failures. A seed drives the randomness, so a run can be
//! repeated.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

/// The faults to inject; none by default.
#[derive(Clone, Debug, PartialEq)]
pub struct Faults {
    /// Delays every answer. The operation itself is done before.
    pub delay: Duration,
    pub outage: Option<Outage>,
    /// The share of calls that fail, from 0.0 to 1.0.
    pub fails: f64,
    /// The ways to fail, all equally likely; if empty, no call fails.
    pub ways: Vec<Failure>,
    /// With the same seed, the same sequence of calls fails in the same ways.
    pub seed: u64,
    /// The delay of [`Failure::TooSlow`].
    pub too_slow: Duration,
}

/// The kinds of outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outage {
    /// The port refuses connections.
    Refuses,
    /// Every call is answered with 503.
    Unavailable,
}

/// The ways a call can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// 500, without doing the operation.
    ErrorBefore,
    /// 500, although the operation was done.
    ErrorAfter,
    /// The operation is done, then the connection is reset.
    ResetAfter,
    /// The operation is done, and the answer comes after [`Faults::too_slow`].
    TooSlow,
}

/// The operations of the carrier's API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Creates a shipment.
    Create,
    /// Shows a shipment.
    Find,
    /// Buys a label.
    Buy,
    /// Refunds a label.
    Refund,
    /// Asks for a form of a shipment.
    Form,
    /// Creates a tracker.
    Track,
    /// Downloads a label.
    Label,
    /// Downloads a QR code.
    QrCode,
}

impl Failure {
    /// Every way to fail.
    pub const ALL: [Self; 4] = [Self::ErrorBefore, Self::ErrorAfter, Self::ResetAfter, Self::TooSlow];
}

impl Default for Faults {
    fn default() -> Self {
        Self { delay: Duration::ZERO, outage: None, fails: 0.0, ways: Failure::ALL.to_vec(), seed: 0, too_slow: Duration::from_mins(1) }
    }
}

/// Decides which calls fail.
pub(super) struct FaultInjector {
    faults: Faults,
    chance: StdRng,
    queued: HashMap<Operation, VecDeque<Failure>>,
}

impl FaultInjector {
    pub(super) fn new(faults: Faults) -> Self {
        Self { chance: StdRng::seed_from_u64(faults.seed), faults, queued: HashMap::new() }
    }

    /// Replaces the faults and restarts the random sequence. Queued failures stay.
    pub(super) fn set(&mut self, faults: Faults) {
        *self = Self { queued: std::mem::take(&mut self.queued), ..Self::new(faults) };
    }

    pub(super) fn queue(&mut self, operation: Operation, failures: impl IntoIterator<Item = Failure>) {
        self.queued.entry(operation).or_default().extend(failures);
    }

    pub(super) fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Decides whether and how the next call of this kind fails. Takes a queued failure first.
    pub(super) fn choose(&mut self, operation: Operation) -> Option<Failure> {
        if let Some(queued) = self.queued.get_mut(&operation).and_then(VecDeque::pop_front) {
            return Some(queued);
        }
        // NaN compares as false, so it makes no call fail.
        let fails = !self.faults.ways.is_empty() && self.chance.random::<f64>() < self.faults.fails;
        fails.then(|| self.chance.random_range(0..self.faults.ways.len())).and_then(|way| self.faults.ways.get(way).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(faults: Faults) -> Vec<Option<Failure>> {
        let mut injector = FaultInjector::new(faults);
        (0..1_000).map(|_| injector.choose(Operation::Buy)).collect()
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
        let mut injector = FaultInjector::new(Faults::default());
        injector.queue(Operation::Buy, [Failure::TooSlow, Failure::ErrorAfter]);
        injector.set(Faults::default());
        assert_eq!(injector.choose(Operation::Create), None);
        assert_eq!(injector.choose(Operation::Buy), Some(Failure::TooSlow));
        assert_eq!(injector.choose(Operation::Buy), Some(Failure::ErrorAfter));
        assert_eq!(injector.choose(Operation::Buy), None);
    }
}
