//! What the owner remembers of endpoints in trouble, so that whoever has to know is told. Nothing here waits or calls.
//!
//! An endpoint that takes what it is sent is not in here and costs nothing. One that fails is, until it takes something again.
//! Whatever may have to be told is a candidate; the flow decides, and what was told is in the database. A new owner reviews the
//! endpoints of the buckets that it gained, so that nothing is lost with a process.

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::messages::notice::{Health, ReportedHealth};
use store::messages::notices::Troubled;
use store::messages::settlements::Hold;

use super::notices::Seen;
use super::result::Saw;

/// The endpoints in trouble.
#[derive(Default)]
pub(super) struct Incidents {
    known: HashMap<EndpointId, Incident>,
    /// When endpoints will be failing, if nothing arrives meanwhile.
    turning: BTreeSet<(DateTime<Utc>, EndpointId)>,
    /// Of which something may have to be told.
    candidates: BTreeSet<EndpointId>,
    /// For which the flow is at work.
    telling: Option<EndpointId>,
    /// How many reviews are under way.
    reviews: usize,
}

/// An endpoint in trouble.
struct Incident {
    merchant: MerchantId,
    hold: Hold,
    seen: Seen,
    /// Whether it was told to fail.
    told: bool,
}

/// An endpoint of which something may have to be told.
pub(super) struct Candidate {
    pub(super) merchant: MerchantId,
    pub(super) endpoint: EndpointId,
    pub(super) hold: Hold,
    pub(super) seen: Seen,
}

impl Incidents {
    /// An attempt at an endpoint was settled.
    pub(super) fn saw(&mut self, merchant: MerchantId, endpoint: EndpointId, hold: Hold, saw: Saw, now: DateTime<Utc>) {
        let unknown = self.known.get(&endpoint).is_none_or(|trouble| trouble.hold != hold);
        match saw {
            // While a review is under way it may turn out that the endpoint was told to fail.
            Saw::Success if unknown && self.reviews == 0 => {}
            Saw::Success => {
                let trouble = self.trouble(merchant, endpoint, hold);
                trouble.seen.run.succeeds();
                self.look(endpoint, now);
                self.forget(endpoint);
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

    fn trouble(&mut self, merchant: MerchantId, endpoint: EndpointId, hold: Hold) -> &mut Incident {
        let new = || Incident { merchant, hold, seen: Seen::default(), told: false };
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
        while self.telling.is_none() {
            let endpoint = self.candidates.pop_first()?;
            if let Some(Incident { merchant, hold, seen, .. }) = self.known.get(&endpoint) {
                self.telling = Some(endpoint);
                return Some(Candidate { merchant: *merchant, endpoint, hold: *hold, seen: seen.clone() });
            }
        }
        None
    }

    /// The flow has ended, and this is told by now: nothing, if the endpoint is none to be told of.
    pub(super) fn told(&mut self, endpoint: EndpointId, hold: Hold, told: Option<ReportedHealth>, now: DateTime<Utc>) {
        self.telling = None;
        let Some(trouble) = self.known.get_mut(&endpoint).filter(|trouble| trouble.hold == hold) else { return };
        let Some(told) = told else { return };
        trouble.told = told.failing_since.is_some();
        // Something may have happened meanwhile.
        self.look(endpoint, now);
        self.forget(endpoint);
    }

    /// The flow could not be done; it is tried again.
    pub(super) fn was_not_told(&mut self, endpoint: EndpointId) {
        self.telling = None;
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
        let known: Vec<EndpointId> = self.known.keys().copied().collect();
        known.into_iter().for_each(|endpoint| self.forget(endpoint));
    }

    /// Forgets an endpoint of which there is nothing to tell: not while the flow is at work for it, which may tell that it fails,
    /// nor during a review, by which it may turn out that this was told.
    fn forget(&mut self, endpoint: EndpointId) {
        let kept = self.reviews > 0 || self.telling == Some(endpoint) || self.candidates.contains(&endpoint);
        if !kept && self.known.get(&endpoint).is_some_and(|trouble| !trouble.told && trouble.seen.run.failed() == 0) {
            self.known.remove(&endpoint);
        }
    }

    /// A bucket is not ours any more.
    pub(super) fn drop_bucket(&mut self, bucket: u8) {
        self.known.retain(|_, trouble| trouble.hold.bucket != bucket);
    }

    /// Whether nothing is to be told.
    pub(super) fn is_idle(&self) -> bool {
        self.candidates.is_empty() && self.telling.is_none() && self.reviews == 0
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const HOLD: Hold = Hold { bucket: 3, epoch: 1 };
    const MERCHANT: MerchantId = MerchantId(Uuid::nil());
    const ENDPOINT: EndpointId = EndpointId(Uuid::max());

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(seconds, 0).unwrap()
    }

    fn fails(incidents: &mut Incidents, seconds: i64, given_up: bool) {
        let saw = Saw::Failure { at: at(seconds), given_up, outcome: "503".to_owned() };
        incidents.saw(MERCHANT, ENDPOINT, HOLD, saw, at(seconds));
    }

    fn arrives(incidents: &mut Incidents, seconds: i64) {
        incidents.saw(MERCHANT, ENDPOINT, HOLD, Saw::Success, at(seconds));
    }

    fn failing(since: i64) -> ReportedHealth {
        ReportedHealth { failing_since: Some(at(since)), failures_open_since: None }
    }

    fn found(told: ReportedHealth, failed: i64) -> (Troubled, Hold) {
        let mut seen = Seen::default();
        (0..failed).for_each(|second| seen.run.fails(at(second), false));
        let troubled =
            Troubled { merchant: MERCHANT, endpoint: ENDPOINT, bucket: HOLD.bucket, told, given_up_at: None, run: seen.run, last: None };
        (troubled, HOLD)
    }

    #[test]
    fn an_endpoint_that_takes_what_it_is_sent_costs_nothing() {
        let mut incidents = Incidents::default();
        arrives(&mut incidents, 0);
        assert!(incidents.known.is_empty());
        fails(&mut incidents, 1, false);
        assert_eq!(incidents.known.len(), 1);
        arrives(&mut incidents, 2);
        assert!(incidents.known.is_empty() && incidents.is_idle());
    }

    #[test]
    fn one_that_fails_becomes_a_candidate_when_its_time_has_come_and_then_is_one_no_more() {
        let mut incidents = Incidents::default();
        [0, 5, 45].into_iter().for_each(|second| fails(&mut incidents, second, false));
        incidents.wake(at(299));
        assert!(incidents.next().is_none());
        incidents.wake(at(300));
        let candidate = incidents.next().unwrap();
        assert_eq!((candidate.endpoint, candidate.seen.run.failed(), candidate.seen.last.as_deref()), (ENDPOINT, 3, Some("503")));
        assert!(!incidents.is_idle() && incidents.next().is_none(), "one at a time");
        incidents.told(ENDPOINT, HOLD, Some(failing(0)), at(300));
        fails(&mut incidents, 365, false);
        assert!(incidents.is_idle(), "it is told");
        arrives(&mut incidents, 400);
        assert!(incidents.next().is_some(), "it has recovered");
        incidents.told(ENDPOINT, HOLD, Some(ReportedHealth::default()), at(400));
        assert!(incidents.known.is_empty() && incidents.is_idle());
    }

    #[test]
    fn what_happens_while_it_is_told_is_told_next() {
        let mut incidents = Incidents::default();
        (0..3).for_each(|second| fails(&mut incidents, second, second == 2));
        assert!(incidents.next().is_some());
        arrives(&mut incidents, 3);
        assert!(incidents.next().is_none());
        incidents.told(ENDPOINT, HOLD, Some(failing(0)), at(3));
        assert_eq!(incidents.next().unwrap().seen.run.health(at(3)), Health::Healthy);
    }

    #[test]
    fn what_could_not_be_told_is_tried_again() {
        let mut incidents = Incidents::default();
        fails(&mut incidents, 0, true);
        assert!(incidents.next().is_some());
        incidents.was_not_told(ENDPOINT);
        assert!(incidents.next().is_some());
    }

    #[test]
    fn a_success_during_the_review_of_an_endpoint_that_was_told_to_fail_is_a_recovery() {
        let mut incidents = Incidents::default();
        incidents.review();
        arrives(&mut incidents, 10);
        assert!(!incidents.is_idle());
        incidents.reviewed(vec![found(failing(0), 5)], at(10));
        let candidate = incidents.next().unwrap();
        assert_eq!(candidate.seen.run.health(at(10)), Health::Healthy);
    }

    #[test]
    fn a_new_owner_goes_on_with_what_it_finds() {
        let mut incidents = Incidents::default();
        incidents.review();
        fails(&mut incidents, 10, false);
        incidents.reviewed(vec![found(ReportedHealth::default(), 4)], at(10));
        assert!(incidents.next().is_none());
        incidents.wake(at(300));
        assert_eq!(incidents.next().unwrap().seen.run.failed(), 4);
        incidents.drop_bucket(HOLD.bucket);
        assert!(incidents.known.is_empty());
    }
}
