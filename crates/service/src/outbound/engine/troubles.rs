//! What the owner remembers of endpoints in trouble, so that whoever has to know is told. Nothing here waits or calls.
//!
//! An endpoint that takes what it is sent is not in here and costs nothing. One that fails is, until it takes something again.
//! Whatever may have to be told is a candidate; the flow decides, and what was told is in the database. A new owner reviews the
//! endpoints of the buckets that it gained, so that nothing is lost with a process.

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::notice::{Health, Told};
use store::notices::Troubled;
use store::settlements::Hold;

use crate::flow::tell_of_endpoint::Seen;
use crate::outbound::writer::Saw;

/// The endpoints in trouble.
#[derive(Default)]
pub(super) struct Troubles {
    known: HashMap<EndpointId, Trouble>,
    /// When endpoints will be failing, if nothing arrives meanwhile.
    turning: BTreeSet<(DateTime<Utc>, EndpointId)>,
    /// Of which something may have to be told.
    candidates: BTreeSet<EndpointId>,
    /// Whether the flow is at work.
    telling: bool,
    /// How many reviews are under way.
    reviews: usize,
}

/// An endpoint in trouble.
struct Trouble {
    merchant: MerchantId,
    hold: Hold,
    seen: Seen,
    /// Whether it was told to fail.
    told: bool,
}

/// An endpoint of which something may have to be told.
pub(in crate::outbound) struct Candidate {
    pub(in crate::outbound) merchant: MerchantId,
    pub(in crate::outbound) endpoint: EndpointId,
    pub(in crate::outbound) hold: Hold,
    pub(in crate::outbound) seen: Seen,
}

impl Troubles {
    /// An attempt at an endpoint was settled.
    pub(super) fn saw(&mut self, merchant: MerchantId, endpoint: EndpointId, hold: Hold, saw: Saw, now: DateTime<Utc>) {
        let unknown = !self.known.get(&endpoint).is_some_and(|trouble| trouble.hold == hold);
        match saw {
            // While a review is under way it may turn out that the endpoint was told to fail.
            Saw::Success if unknown && self.reviews == 0 => {}
            Saw::Success => {
                let trouble = self.trouble(merchant, endpoint, hold);
                trouble.seen.run.succeeds();
                if trouble.told {
                    self.candidates.insert(endpoint);
                } else if self.reviews == 0 {
                    self.known.remove(&endpoint);
                }
            }
            Saw::Failure { at, given_up, outcome } => {
                let trouble = self.trouble(merchant, endpoint, hold);
                trouble.seen.run.fails(at, given_up);
                trouble.seen.last = Some(outcome);
                self.look(endpoint, now);
                if given_up {
                    self.candidates.insert(endpoint);
                }
            }
        }
    }

    fn trouble(&mut self, merchant: MerchantId, endpoint: EndpointId, hold: Hold) -> &mut Trouble {
        let new = || Trouble { merchant, hold, seen: Seen::default(), told: false };
        let trouble = self.known.entry(endpoint).or_insert_with(new);
        if trouble.hold != hold {
            *trouble = new();
        }
        trouble
    }

    /// Makes an endpoint a candidate if how it fares differs from what was told, or remembers when it will.
    fn look(&mut self, endpoint: EndpointId, now: DateTime<Utc>) {
        let Some(trouble) = self.known.get(&endpoint) else { return };
        match (trouble.seen.run.health(now), trouble.told) {
            (Health::Failing { .. }, false) | (Health::Healthy, true) => _ = self.candidates.insert(endpoint),
            (Health::Uncertain, false) => self.turning.extend(trouble.seen.run.fails_at().map(|at| (at, endpoint))),
            (Health::Healthy, false) | (Health::Uncertain | Health::Failing { .. }, true) => {}
        }
    }

    /// Looks at the endpoints whose time has come.
    pub(super) fn wake(&mut self, now: DateTime<Utc>) {
        while let Some((at, endpoint)) = self.turning.pop_first() {
            if at > now {
                self.turning.insert((at, endpoint));
                break;
            }
            self.look(endpoint, now);
        }
    }

    /// The next candidate, unless the flow is at work; it is, then, until [`Self::told`].
    pub(super) fn next(&mut self) -> Option<Candidate> {
        while !self.telling {
            let endpoint = self.candidates.pop_first()?;
            if let Some(Trouble { merchant, hold, seen, .. }) = self.known.get(&endpoint) {
                self.telling = true;
                return Some(Candidate { merchant: *merchant, endpoint, hold: *hold, seen: seen.clone() });
            }
        }
        None
    }

    /// The flow has ended, and this is told by now: nothing, if the endpoint is none to be told of.
    pub(super) fn told(&mut self, endpoint: EndpointId, hold: Hold, told: Option<Told>, now: DateTime<Utc>) {
        self.telling = false;
        let Some(trouble) = self.known.get_mut(&endpoint).filter(|trouble| trouble.hold == hold) else { return };
        let Some(told) = told else { return };
        trouble.told = told.failing_since.is_some();
        // Something may have happened meanwhile.
        self.look(endpoint, now);
        self.forget_healthy();
    }

    /// The flow could not be done; it is tried again.
    pub(super) fn was_not_told(&mut self, endpoint: EndpointId) {
        self.telling = false;
        self.candidates.insert(endpoint);
    }

    /// A review begins.
    pub(super) fn review(&mut self) {
        self.reviews += 1;
    }

    /// A review found these.
    pub(super) fn reviewed(&mut self, found: Vec<(Troubled, Hold)>, now: DateTime<Utc>) {
        for (Troubled { merchant, endpoint, told, given_up_at, run, last, .. }, hold) in found {
            let trouble = self.trouble(merchant, endpoint, hold);
            trouble.told = told.failing_since.is_some();
            // What was seen since is newer, unless it is only a part of what was read.
            if run.failed() > trouble.seen.run.failed() && trouble.seen.run.health(now) != Health::Healthy || trouble.seen.run.is_empty() {
                trouble.seen = Seen { run, last };
            }
            if given_up_at.is_some() != told.failures_open_since.is_some() {
                self.candidates.insert(endpoint);
            }
            self.look(endpoint, now);
        }
        self.reviews = self.reviews.saturating_sub(1);
        self.forget_healthy();
    }

    fn forget_healthy(&mut self) {
        if self.reviews == 0 {
            let candidates = &self.candidates;
            self.known.retain(|endpoint, trouble| trouble.told || trouble.seen.run.failed() > 0 || candidates.contains(endpoint));
        }
    }

    /// A bucket is not ours any more.
    pub(super) fn drop_bucket(&mut self, bucket: u8) {
        self.known.retain(|_, trouble| trouble.hold.bucket != bucket);
    }

    /// Whether nothing is to be told.
    pub(super) fn is_idle(&self) -> bool {
        self.candidates.is_empty() && !self.telling && self.reviews == 0
    }
}
