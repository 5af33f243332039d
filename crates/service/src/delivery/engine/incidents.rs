//! Incidents: the owner's memory of endpoints in trouble, from which notices are sent. Nothing here waits or calls.
//!
//! A healthy endpoint has no entry and costs nothing. A failing one has an entry until it has recovered. When there may be something
//! to report, the endpoint becomes a candidate; `notices` then decides and records in the database what it reported.
//! A new owner reviews the endpoints of the buckets it gained, so nothing is lost when a process dies.

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::messages::notice::{Health, ReportedHealth};
use store::messages::notices::TroubledEndpoint;
use store::messages::settlements::Hold;

use super::notices::{AttemptHistory, Reported};
use super::ready::Ready;
use super::result::Observation;

/// The incidents of all endpoints of this process.
#[derive(Default)]
pub(super) struct Incidents {
    known: HashMap<EndpointId, Incident>,
    /// The times at which endpoints start to count as failing or as recovered, or have to be looked at again.
    timers: BTreeSet<(DateTime<Utc>, EndpointId)>,
    /// Endpoints with something to report, perhaps.
    candidates: Ready,
    /// The endpoint that is being reported.
    reporting: Option<EndpointId>,
    /// The number of reviews in progress.
    reviews: usize,
}

/// An endpoint in trouble.
struct Incident {
    merchant: MerchantId,
    hold: Hold,
    history: AttemptHistory,
    /// The health as last reported.
    reported: ReportedHealth,
    /// The time at which its failure queue has to be looked at again.
    look_again_at: Option<DateTime<Utc>>,
}

/// An endpoint about which there may be something to report.
pub(super) struct Candidate {
    pub(super) merchant: MerchantId,
    pub(super) endpoint: EndpointId,
    pub(super) hold: Hold,
    pub(super) history: AttemptHistory,
}

impl Incidents {
    /// Takes note of an attempt that was settled.
    pub(super) fn observe(&mut self, merchant: MerchantId, endpoint: EndpointId, hold: Hold, observed: Observation, now: DateTime<Utc>) {
        let unknown = self.known.get(&endpoint).is_none_or(|incident| incident.hold != hold);
        match observed {
            // During a review, the endpoint may turn out to have been reported as failing.
            Observation::Success if unknown && self.reviews == 0 => {}
            Observation::Success => {
                let incident = self.incident(merchant, endpoint, hold);
                incident.history.run.succeeds(now);
                self.evaluate(endpoint, now);
                self.forget_if_healthy(endpoint);
            }
            Observation::Failure { at, given_up, outcome } => {
                let incident = self.incident(merchant, endpoint, hold);
                incident.history.run.fails(at, given_up);
                incident.history.last_failure = Some(outcome);
                self.evaluate(endpoint, now);
                if given_up {
                    self.candidates.insert(endpoint);
                }
            }
        }
    }

    fn incident(&mut self, merchant: MerchantId, endpoint: EndpointId, hold: Hold) -> &mut Incident {
        let reported = ReportedHealth::default();
        let new = || Incident { merchant, hold, history: AttemptHistory::default(), reported, look_again_at: None };
        let incident = self.known.entry(endpoint).or_insert_with(new);
        if incident.hold != hold {
            *incident = new();
        }
        incident
    }

    /// Makes an endpoint a candidate if its health differs from what was reported, or notes when that will be the case.
    fn evaluate(&mut self, endpoint: EndpointId, now: DateTime<Utc>) {
        let Some(incident) = self.known.get(&endpoint) else { return };
        let (run, health, reported) = (&incident.history.run, incident.history.run.health(now), incident.reported);
        let changes_at = match (health, reported.failing_since) {
            (Health::Failing { .. }, None) => Some(now),
            (Health::Healthy { .. }, Some(_)) => reported.recovers_at(health),
            (Health::Uncertain, None) => run.fails_at(),
            (Health::Healthy { .. }, None) | (Health::Uncertain | Health::Failing { .. }, Some(_)) => None,
        };
        for at in [changes_at, incident.look_again_at].into_iter().flatten() {
            if at <= now {
                self.candidates.insert(endpoint);
            } else {
                self.timers.insert((at, endpoint));
            }
        }
    }

    /// Evaluates the endpoints whose time has come.
    pub(super) fn handle_timers(&mut self, now: DateTime<Utc>) {
        while let Some((at, endpoint)) = self.timers.pop_first() {
            if at > now {
                self.timers.insert((at, endpoint));
                break;
            }
            self.evaluate(endpoint, now);
        }
    }

    /// The next candidate. There is one at a time, until [`Self::reported`] or [`Self::report_failed`].
    pub(super) fn next(&mut self) -> Option<Candidate> {
        while self.reporting.is_none() {
            let endpoint = self.candidates.take(1).pop()?;
            if let Some(Incident { merchant, hold, history, .. }) = self.known.get(&endpoint) {
                self.reporting = Some(endpoint);
                return Some(Candidate { merchant: *merchant, endpoint, hold: *hold, history: history.clone() });
            }
        }
        None
    }

    /// Ends the report of an endpoint. `reported` is `None` if there is nothing to report about it.
    pub(super) fn reported(&mut self, endpoint: EndpointId, hold: Hold, reported: Option<Reported>, now: DateTime<Utc>) {
        self.reporting = None;
        let Some(incident) = self.known.get_mut(&endpoint).filter(|incident| incident.hold == hold) else { return };
        let Some(Reported { health, look_again_at }) = reported else { return };
        (incident.reported, incident.look_again_at) = (health, look_again_at);
        // Its health may have changed in the meantime.
        self.evaluate(endpoint, now);
        self.forget_if_healthy(endpoint);
    }

    /// Ends a report that failed. The endpoint stays a candidate, after the others.
    pub(super) fn report_failed(&mut self, endpoint: EndpointId) {
        self.reporting = None;
        self.candidates.insert(endpoint);
    }

    pub(super) fn begin_review(&mut self) {
        self.reviews += 1;
    }

    /// Ends a review that found these endpoints.
    pub(super) fn end_review(&mut self, found: Vec<(TroubledEndpoint, Hold)>, now: DateTime<Utc>) {
        for (TroubledEndpoint { merchant, endpoint, reported, given_up_at, run, last_failure, .. }, hold) in found {
            let incident = self.incident(merchant, endpoint, hold);
            incident.reported = reported;
            // Our own observations are newer, unless they are only a part of what the review has read.
            if run.failed() > incident.history.run.failed() && !matches!(incident.history.run.health(now), Health::Healthy { .. })
                || incident.history.run.is_empty()
            {
                incident.history = AttemptHistory { run, last_failure };
            }
            if given_up_at.is_some() != reported.failures_open_since.is_some() {
                self.candidates.insert(endpoint);
            }
            self.evaluate(endpoint, now);
        }
        self.reviews = self.reviews.saturating_sub(1);
        let known: Vec<EndpointId> = self.known.keys().copied().collect();
        known.into_iter().for_each(|endpoint| self.forget_if_healthy(endpoint));
    }

    /// Removes an endpoint with nothing to report. It stays during its own report and during a review, because either may find that
    /// it has been reported as failing.
    fn forget_if_healthy(&mut self, endpoint: EndpointId) {
        let kept = self.reviews > 0 || self.reporting == Some(endpoint) || self.candidates.contains(endpoint);
        let is_over = |incident: &Incident| {
            incident.reported.failing_since.is_none() && incident.look_again_at.is_none() && incident.history.run.failed() == 0
        };
        if !kept && self.known.get(&endpoint).is_some_and(is_over) {
            self.known.remove(&endpoint);
        }
    }

    /// Forgets the endpoints of a bucket that is no longer ours.
    pub(super) fn drop_bucket(&mut self, bucket: u8) {
        self.known.retain(|_, incident| incident.hold.bucket != bucket);
    }

    /// True if there is nothing to report or review.
    pub(super) fn is_idle(&self) -> bool {
        self.candidates.is_empty() && self.reporting.is_none() && self.reviews == 0
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const HOLD: Hold = Hold { bucket: 3, epoch: 1, owner: Uuid::nil() };
    const MERCHANT: MerchantId = MerchantId(Uuid::nil());
    const ENDPOINT: EndpointId = EndpointId(Uuid::max());

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(seconds, 0).unwrap()
    }

    fn fails(incidents: &mut Incidents, seconds: i64, given_up: bool) {
        let observed = Observation::Failure { at: at(seconds), given_up, outcome: "503".to_owned() };
        incidents.observe(MERCHANT, ENDPOINT, HOLD, observed, at(seconds));
    }

    fn arrives(incidents: &mut Incidents, seconds: i64) {
        incidents.observe(MERCHANT, ENDPOINT, HOLD, Observation::Success, at(seconds));
    }

    fn failing(since: i64) -> ReportedHealth {
        ReportedHealth { failing_since: Some(at(since)), ..ReportedHealth::default() }
    }

    fn told(health: ReportedHealth) -> Reported {
        Reported { health, look_again_at: None }
    }

    fn found(reported: ReportedHealth, failed: i64) -> (TroubledEndpoint, Hold) {
        let mut history = AttemptHistory::default();
        (0..failed).for_each(|second| history.run.fails(at(second), false));
        let troubled = TroubledEndpoint {
            merchant: MERCHANT,
            endpoint: ENDPOINT,
            bucket: HOLD.bucket,
            reported,
            given_up_at: None,
            run: history.run,
            last_failure: None,
        };
        (troubled, HOLD)
    }

    #[test]
    fn a_healthy_endpoint_costs_nothing() {
        let mut incidents = Incidents::default();
        arrives(&mut incidents, 0);
        assert!(incidents.known.is_empty());
        fails(&mut incidents, 1, false);
        assert_eq!(incidents.known.len(), 1);
        arrives(&mut incidents, 2);
        assert!(incidents.known.is_empty() && incidents.is_idle());
    }

    #[test]
    fn a_failing_endpoint_is_reported_once_and_again_when_it_recovers() {
        let mut incidents = Incidents::default();
        [0, 5, 45].into_iter().for_each(|second| fails(&mut incidents, second, false));
        incidents.handle_timers(at(299));
        assert!(incidents.next().is_none());
        incidents.handle_timers(at(300));
        let candidate = incidents.next().unwrap();
        assert_eq!(
            (candidate.endpoint, candidate.history.run.failed(), candidate.history.last_failure.as_deref()),
            (ENDPOINT, 3, Some("503"))
        );
        assert!(!incidents.is_idle() && incidents.next().is_none(), "one at a time");
        incidents.reported(ENDPOINT, HOLD, Some(told(failing(0))), at(300));
        fails(&mut incidents, 365, false);
        assert!(incidents.is_idle(), "it has been reported");
        arrives(&mut incidents, 400);
        incidents.handle_timers(at(1_299));
        assert!(incidents.is_idle(), "it may fail again");
        incidents.handle_timers(at(1_300));
        assert!(incidents.next().is_some(), "it has recovered");
        incidents.reported(ENDPOINT, HOLD, Some(told(ReportedHealth::default())), at(1_300));
        assert!(incidents.known.is_empty() && incidents.is_idle());
    }

    #[test]
    fn a_change_during_a_report_is_reported_next() {
        let mut incidents = Incidents::default();
        (0..3).for_each(|second| fails(&mut incidents, second, second == 2));
        assert!(incidents.next().is_some());
        arrives(&mut incidents, 3);
        assert!(incidents.next().is_none());
        incidents.reported(ENDPOINT, HOLD, Some(told(failing(0))), at(3));
        incidents.handle_timers(at(903));
        assert_eq!(incidents.next().unwrap().history.run.health(at(903)), Health::Healthy { since: at(3) });
    }

    #[test]
    fn a_failure_queue_that_is_too_early_to_report_is_looked_at_again() {
        let mut incidents = Incidents::default();
        fails(&mut incidents, 0, true);
        assert!(incidents.next().is_some());
        incidents.reported(ENDPOINT, HOLD, Some(Reported { health: ReportedHealth::default(), look_again_at: Some(at(500)) }), at(0));
        arrives(&mut incidents, 100);
        incidents.handle_timers(at(499));
        assert!(incidents.next().is_none());
        incidents.handle_timers(at(500));
        assert!(incidents.next().is_some());
        incidents.reported(ENDPOINT, HOLD, Some(told(ReportedHealth::default())), at(500));
        assert!(incidents.known.is_empty() && incidents.is_idle());
    }

    #[test]
    fn a_report_that_keeps_failing_holds_up_no_other() {
        let mut incidents = Incidents::default();
        let others = [EndpointId(Uuid::nil()), ENDPOINT, EndpointId(Uuid::from_u128(7))];
        for endpoint in others {
            let observed = Observation::Failure { at: at(0), given_up: true, outcome: "503".to_owned() };
            incidents.observe(MERCHANT, endpoint, HOLD, observed, at(0));
        }
        for expected in others.into_iter().chain(others) {
            let endpoint = incidents.next().unwrap().endpoint;
            assert_eq!(endpoint, expected);
            incidents.report_failed(endpoint);
        }
    }

    #[test]
    fn a_report_that_failed_is_repeated() {
        let mut incidents = Incidents::default();
        fails(&mut incidents, 0, true);
        assert!(incidents.next().is_some());
        incidents.report_failed(ENDPOINT);
        assert!(incidents.next().is_some());
    }

    #[test]
    fn a_success_during_the_review_of_an_endpoint_reported_as_failing_is_a_recovery() {
        let mut incidents = Incidents::default();
        incidents.begin_review();
        arrives(&mut incidents, 10);
        assert!(!incidents.is_idle());
        incidents.end_review(vec![found(failing(0), 5)], at(10));
        incidents.handle_timers(at(910));
        let candidate = incidents.next().unwrap();
        assert_eq!(candidate.history.run.health(at(910)), Health::Healthy { since: at(10) });
    }

    #[test]
    fn a_new_owner_continues_with_what_it_finds() {
        let mut incidents = Incidents::default();
        incidents.begin_review();
        fails(&mut incidents, 10, false);
        incidents.end_review(vec![found(ReportedHealth::default(), 4)], at(10));
        assert!(incidents.next().is_none());
        incidents.handle_timers(at(300));
        assert_eq!(incidents.next().unwrap().history.run.failed(), 4);
        incidents.drop_bucket(HOLD.bucket);
        assert!(incidents.known.is_empty());
    }
}
