//! The faults of a run: every kind at every site comes up before any of them is repeated.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use sandbox::fault_proxy::{Direction, Fault};

/// The place where the network fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Site {
    /// Between the service and PostgreSQL.
    Database,
    /// Between the service and the merchants' systems.
    Merchants,
}

const SITES: [Site; 2] = [Site::Database, Site::Merchants];

const FAULTS: [Fault; 7] = [
    Fault::BlackHole,
    Fault::HalfOpen(Direction::ToUpstream),
    Fault::HalfOpen(Direction::ToClient),
    Fault::Partition,
    Fault::Reset,
    Fault::Trickle,
    Fault::Delay(Duration::from_millis(300)),
];

/// One failure of the network.
pub(super) struct Blow {
    pub(super) site: Site,
    pub(super) fault: Fault,
    pub(super) lasting: Duration,
}

impl fmt::Display for Blow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at {:?} for {:.1} s", self.fault, self.site, self.lasting.as_secs_f64())
    }
}

/// The faults in random order.
pub(super) struct Deck {
    rng: StdRng,
    lengths: RangeInclusive<Duration>,
    left: Vec<(Site, Fault)>,
}

impl Deck {
    pub(super) fn new(seed: u64, lengths: RangeInclusive<Duration>) -> Self {
        Self { rng: StdRng::seed_from_u64(seed), lengths, left: Vec::new() }
    }

    pub(super) fn draw(&mut self) -> Blow {
        if self.left.is_empty() {
            self.left = SITES.iter().flat_map(|site| FAULTS.iter().map(|fault| (*site, *fault))).collect();
            self.left.shuffle(&mut self.rng);
        }
        let (site, fault) = self.left.pop().unwrap_or((Site::Database, Fault::BlackHole));
        let lasting = self.rng.random_range(self.lengths.clone());
        Blow { site, fault, lasting }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_comes_up_at_every_site_and_a_seed_repeats_a_run() {
        let draw = |seed| {
            let mut deck = Deck::new(seed, Duration::from_secs(1)..=Duration::from_secs(8));
            (0..SITES.len() * FAULTS.len()).map(|_| deck.draw().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
        for fault in FAULTS {
            for site in SITES {
                let named = format!("{fault:?} at {site:?} ");
                assert_eq!(draw(3).iter().filter(|blow| blow.starts_with(&named)).count(), 1, "{named}");
            }
        }
    }
}
