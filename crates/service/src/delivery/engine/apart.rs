//! Lanes that are settled apart from the batches: those of messages with a reaction, and those whose settling has failed.
//!
//! Each has a task that settles its results one after the other, so a reaction that hangs, or a row that somebody else has locked,
//! holds up its own lane and nothing else, as long as its endpoint has slots for the others: the messages of a lane that are read
//! meanwhile stay in flight. A lane returns to the batches as soon as its results are settled.

use std::collections::{HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::EndpointId;
use futures::FutureExt as _;
use store::Failed;
use store::messages::settlements::Disposition;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::event::Event;
use super::lease::Leases;
use super::result::{AttemptResult, Batch, Settled};
use crate::delivery::handle::Delivery;
use crate::delivery::reaction::{Ending, Followed, Reaction, Reactions};
use crate::delivery::settling::{Reacted, settle_and_react};
use crate::node::traces;

/// The time that settling one message may take.
const DEADLINE: Duration = Duration::from_secs(30);
/// The pause after the first failure. It doubles with each further one.
const RETRY_AFTER: Duration = Duration::from_millis(200);
/// The longest pause.
const MOST_PAUSE: Duration = Duration::from_secs(30);
/// The delay of a message whose reaction failed.
const POSTPONED_FOR: TimeDelta = TimeDelta::minutes(1);

/// The lanes of one writer that are settled apart. Dropping it ends their tasks.
pub(super) struct Apart {
    lanes: Arc<Lanes>,
    tasks: JoinSet<()>,
}

struct Lanes {
    delivery: Delivery,
    leases: Arc<Leases>,
    reactions: Reactions,
    events: UnboundedSender<Event>,
    /// As many as there are connections.
    turns: Arc<Semaphore>,
    endpoints: Mutex<HashMap<EndpointId, Endpoint>>,
}

#[derive(Default)]
struct Endpoint {
    lanes: HashMap<String, Lane>,
    /// The number of its lanes whose settling has failed.
    failing: usize,
}

#[derive(Default)]
struct Lane {
    waiting: VecDeque<AttemptResult>,
    failing: bool,
}

impl Apart {
    pub(super) fn new(
        delivery: Delivery,
        leases: Arc<Leases>,
        reactions: Reactions,
        events: UnboundedSender<Event>,
        turns: Arc<Semaphore>,
    ) -> Self {
        let lanes = Lanes { delivery, leases, reactions, events, turns, endpoints: Mutex::default() };
        Self { lanes: Arc::new(lanes), tasks: JoinSet::new() }
    }

    /// True if a result must not be settled in a batch: it has a reaction, its lane is settled apart, or its endpoint has a lane
    /// that keeps failing, perhaps because of a row that all of them need.
    pub(super) fn takes(&self, result: &AttemptResult) -> bool {
        result.reaction.is_some()
            || self.lanes.lock().get(&result.endpoint).is_some_and(|known| known.failing > 0 || known.lanes.contains_key(&result.lane))
    }

    /// Settles a result after the earlier ones of its lane.
    pub(super) fn add(&mut self, result: AttemptResult) {
        while let Some(ended) = self.tasks.try_join_next() {
            // Its lane would wait forever. With this writer, the engine ends, and the next one reads the lane again.
            if let Err(error) = ended
                && error.is_panic()
            {
                std::panic::resume_unwind(error.into_panic());
            }
        }
        let (endpoint, lane) = (result.endpoint, result.lane.clone());
        let mut endpoints = self.lanes.lock();
        let known = endpoints.entry(endpoint).or_default();
        if let Some(known) = known.lanes.get_mut(&lane) {
            known.waiting.push_back(result);
        } else {
            known.lanes.insert(lane.clone(), Lane { waiting: VecDeque::from([result]), ..Lane::default() });
            drop(endpoints);
            self.tasks.spawn(Arc::clone(&self.lanes).settle_lane(endpoint, lane));
        }
    }
}

impl Lanes {
    fn lock(&self) -> MutexGuard<'_, HashMap<EndpointId, Endpoint>> {
        self.endpoints.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn settle_lane(self: Arc<Self>, endpoint: EndpointId, lane: String) {
        while let Some(result) = self.next(endpoint, &lane) {
            let batch = self.settle(result).await;
            let _ = self.events.send(Event::Settled(batch));
        }
    }

    /// The next result of a lane. If there is none, the lane returns to the batches.
    fn next(&self, endpoint: EndpointId, lane: &str) -> Option<AttemptResult> {
        let mut endpoints = self.lock();
        let known = endpoints.get_mut(&endpoint)?;
        if let Some(next) = known.lanes.get_mut(lane)?.waiting.pop_front() {
            return Some(next);
        }
        let ended = known.lanes.remove(lane)?;
        known.failing = known.failing.saturating_sub(ended.failing.into());
        if known.lanes.is_empty() {
            endpoints.remove(&endpoint);
        }
        None
    }

    /// Settles one result. Retries until it succeeds or the bucket is no longer ours.
    async fn settle(&self, mut result: AttemptResult) -> Batch {
        let mut pause = RETRY_AFTER;
        loop {
            let turn = self.turns.acquire().await;
            let hold = result.settlement.hold;
            let now = self.delivery.now();
            if !self.leases.is_valid(hold, self.leases.now()) {
                return Batch { messages: vec![Settled::new(&result)], lost: vec![hold], unparked: Vec::new(), now };
            }
            let failed = match self.try_to_settle(&result, now).await {
                Ok(Reacted { settled, followed }) => {
                    if followed == Followed::Withdrawn {
                        result.settlement.disposition = Disposition::Withdrawn;
                        result.due_again = None;
                    }
                    let lost = if settled.held.is_empty() { vec![hold] } else { Vec::new() };
                    return Batch { messages: vec![Settled::new(&result)], lost, unparked: settled.unparked, now };
                }
                Err(failed) => failed,
            };
            drop(turn);
            if matches!(failed, Failed::Moved) {
                // Its new cell sends it again, and settles it.
                return Batch {
                    messages: vec![Settled { due_again: None, ..Settled::new(&result) }],
                    lost: Vec::new(),
                    unparked: Vec::new(),
                    now,
                };
            }
            let message = result.settlement.message;
            match (&result.reaction, &failed) {
                // A bug of ours: the message is sent again, and the attempt does not count.
                (Some(input), Failed::Constraint(_) | Failed::Refused(_) | Failed::Internal(_)) => {
                    tracing::error!(%failed, %message, "a reaction failed, will send its message again");
                    self.delivery.metrics.reactions_failed.inc();
                    let due_at = now + POSTPONED_FOR;
                    result.settlement.disposition = Disposition::Postponed { due_at, attempts: input.attempts };
                    result.due_again = Some(due_at);
                    result.reaction = None;
                }
                _ if failed.is_outage() => {
                    tracing::warn!(%failed, %message, "settling a message failed, will retry");
                    sleep(RETRY_AFTER).await;
                }
                _ => {
                    tracing::warn!(%failed, %message, endpoint = %result.endpoint, "settling a message failed, others go first, will retry");
                    self.delivery.metrics.settlings_failed.inc();
                    self.note_failing(&result);
                    sleep(pause).await;
                    pause = (pause * 2).min(MOST_PAUSE);
                }
            }
        }
    }

    /// Settles in one transaction of the merchant. A panic counts as a failed reaction.
    async fn try_to_settle(&self, result: &AttemptResult, now: DateTime<Utc>) -> Result<Reacted, Failed> {
        let input = result.reaction.as_ref();
        let reaction: Option<(&dyn Reaction, &Ending)> =
            input.and_then(|input| Some((self.reactions.of(input.kind)?.as_ref(), &input.ending)));
        let settling = settle_and_react(&self.delivery, reaction, &result.settlement, &result.attempts, now);
        // What a reaction owes belongs to the trace of the message that it reacts to.
        let settling = traces::within(result.trace, settling);
        match timeout(DEADLINE, AssertUnwindSafe(settling).catch_unwind()).await {
            Ok(Ok(settled)) => settled,
            Ok(Err(_)) => Err(Failed::Internal("a reaction panicked")),
            Err(_) => Err(Failed::took_too_long()),
        }
    }

    fn note_failing(&self, result: &AttemptResult) {
        let mut endpoints = self.lock();
        let Some(known) = endpoints.get_mut(&result.endpoint) else { return };
        let Some(lane) = known.lanes.get_mut(&result.lane) else { return };
        if !lane.failing {
            lane.failing = true;
            known.failing += 1;
        }
    }
}
