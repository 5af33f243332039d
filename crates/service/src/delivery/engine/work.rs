//! From ready queues to calls: the engine reads due messages for many endpoints at once and starts a call for each.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::id::EndpointId;
use store::messages::deliveries::{DueQuery, DueRow};
use store::messages::settlements::{Disposition, Hold, Settlement};
use uuid::Uuid;

use super::event::Event;
use super::queue::{EndpointQueue, NextReading};
use super::reading::{Reading, read};
use super::result::AttemptResult;
use super::{Engine, attempt};
use crate::delivery::due_message::DueMessage;
use crate::delivery::reaction::Reaction;
use crate::delivery::transports::peer::{Peer, UnusablePeer};

/// Concurrent readings. The one of endpoints that are being drained may come on top.
const READERS: usize = 3;
/// Endpoints per reading.
const MOST_ENDPOINTS: usize = 64;
/// Concurrent calls in total. It bounds connections and memory, far above what slots usually allow.
const MOST_CALLS: usize = 5_000;
/// The longest time for which an endpoint that is being drained waits for a reading of others.
const HELD_BACK: Duration = Duration::from_millis(50);
/// The pause of an endpoint after a reading that failed.
const RETRY_AFTER: Duration = Duration::from_millis(200);

impl Engine {
    /// Starts readings for the ready queues, as long as readers are free.
    ///
    /// Endpoints with new messages are read at once. Those that are being drained are read together, one reading after the other: what
    /// they free meanwhile gathers, so that a few large readings take the place of many small ones.
    pub(super) fn start_readings(&mut self) {
        let uptime = self.leases.now();
        while self.readings < READERS && self.calls.len() < MOST_CALLS && !self.ready.is_empty() {
            let (mut news, mut rest) = (Asked::default(), Asked::default());
            for endpoint in self.ready.take(MOST_ENDPOINTS) {
                let Some(queue) = self.queues.get_mut(&endpoint) else { continue };
                if self.leases.hold_to_start(queue.hold.bucket, uptime) != Some(queue.hold) {
                    continue;
                }
                let more = queue.has_more();
                if more && self.draining_since.is_some() {
                    self.held_back.insert(endpoint);
                    continue;
                }
                match queue.next_reading(uptime) {
                    NextReading::None => {}
                    NextReading::Later(wait) => _ = self.waiting.insert((uptime + wait, endpoint)),
                    NextReading::Now(limit) => {
                        let asked = if more { &mut rest } else { &mut news };
                        asked.add(endpoint, queue, limit);
                    }
                }
            }
            if !rest.queries.is_empty() {
                self.draining_since = Some(uptime);
            }
            self.start_reading(news, false);
            self.start_reading(rest, true);
        }
    }

    /// Lets the endpoints that wait for a reading of others be read, if it takes long.
    pub(super) fn hold_back_no_longer(&mut self, uptime: Duration) {
        if self.draining_since.is_some_and(|since| uptime.saturating_sub(since) >= HELD_BACK) {
            self.end_holding_back();
        }
    }

    /// The time until the endpoints that wait for a reading of others wait no longer.
    pub(super) fn held_back_for(&self, uptime: Duration) -> Option<Duration> {
        self.draining_since.map(|since| (since + HELD_BACK).saturating_sub(uptime))
    }

    fn end_holding_back(&mut self) {
        self.draining_since = None;
        self.held_back.take(usize::MAX).into_iter().for_each(|endpoint| self.ready.insert(endpoint));
    }

    fn start_reading(&mut self, Asked { queries, in_flight, peers }: Asked, drains: bool) {
        if queries.is_empty() {
            return;
        }
        self.readings += 1;
        let (delivery, events) = (self.delivery.clone(), self.events.clone());
        tokio::spawn(async move {
            let reading = read(&delivery, queries, &in_flight, peers, drains).await;
            let _ = events.send(Event::ReadingEnded(reading));
        });
    }

    /// Passes the rows of a reading on to the queues of their endpoints.
    pub(super) fn handle_reading(&mut self, reading: Reading) {
        self.readings = self.readings.saturating_sub(1);
        if reading.drains {
            self.end_holding_back();
        }
        let uptime = self.leases.now();
        let (rows, mut peers) = match reading.outcome {
            Ok(read) => read,
            Err(failed) => {
                tracing::warn!(%failed, endpoints = reading.asked.len(), "reading due messages failed, will retry");
                for (wanted, hold) in reading.asked {
                    if let Some(queue) = self.queue(wanted.endpoint, hold) {
                        queue.fail_reading(uptime);
                        self.waiting.insert((uptime + RETRY_AFTER, wanted.endpoint));
                    }
                }
                return;
            }
        };
        let mut by_endpoint: HashMap<EndpointId, Vec<DueRow>> = HashMap::with_capacity(reading.asked.len());
        rows.into_iter().for_each(|due| by_endpoint.entry(due.endpoint).or_default().push(due));
        for (wanted, hold) in reading.asked {
            let rows = by_endpoint.remove(&wanted.endpoint).unwrap_or_default();
            let peer = peers.remove(&wanted.endpoint);
            if self.queue(wanted.endpoint, hold).is_some() {
                self.start_messages(wanted, rows, peer, reading.read_at);
            }
        }
    }

    /// Calls, parks or removes the messages of one endpoint, in the order in which they are due.
    fn start_messages(
        &mut self,
        wanted: DueQuery,
        rows: Vec<DueRow>,
        peer: Option<Result<Arc<Peer>, UnusablePeer>>,
        read_at: DateTime<Utc>,
    ) {
        let endpoint = wanted.endpoint;
        let uptime = self.leases.now();
        let Some(mut queue) = self.queues.remove(&endpoint) else { return };
        let hold = self.leases.hold_to_start(queue.hold.bucket, uptime).filter(|hold| *hold == queue.hold);
        let full = i64::try_from(rows.len()).unwrap_or(i64::MAX) >= wanted.limit;
        let last = rows.last().map_or(read_at, |due| due.due_at);
        let mut stopped = None;
        let unusable = match peer {
            Some(Ok(peer)) => {
                queue.peer = Some(peer);
                None
            }
            Some(Err(unusable)) => Some(unusable),
            None => None,
        };
        let peer = queue.peer.clone();
        let mut rows = rows;
        for due in &mut rows {
            let Some(hold) = hold else { break };
            let (message, due_at) = (due.message, due.due_at);
            // Settling another message made this one due again while it was still in flight. The next reading returns it.
            if queue.contains(message) {
                continue;
            }
            if let Some((disposition, due_again)) = without_call(due, self.delivery.now()) {
                let settlement = Settlement { hold, merchant: due.merchant, message, disposition };
                queue.add(message, due_at, false);
                self.settle(AttemptResult::without_call(endpoint, std::mem::take(&mut due.lane), settlement, due_again));
            } else if unusable.is_none() && !(peer.is_some() && queue.may_start(uptime)) {
                stopped = Some(due_at);
                break;
            } else if let Some(due_message) = DueMessage::new(due, hold) {
                let reaction = self.reactions.of(due_message.kind).cloned();
                queue.add(message, due_at, unusable.is_none());
                match (&unusable, &peer) {
                    (Some(unusable), _) => self.settle(attempt::refuse(&self.delivery, &due_message, unusable, reaction.as_deref())),
                    (None, Some(peer)) => self.call(Arc::clone(peer), due_message, reaction),
                    (None, None) => {}
                }
            } else {
                tracing::error!(%message, %endpoint, "a message has an unknown kind and waits for a newer version of the program");
            }
        }
        queue.finish_reading(stopped.unwrap_or(if full { last } else { read_at }), stopped.is_some() || full, uptime);
        self.queues.insert(endpoint, queue);
        self.ready.insert(endpoint);
    }

    /// Calls a message that was handed over, if all others of its endpoint are in flight. Otherwise it is read with them, in its turn.
    pub(super) fn take_over(&mut self, mut due: DueRow, hold: Hold) {
        let (signal, uptime, room) = (due.signal(), self.leases.now(), self.calls.len() < MOST_CALLS);
        let queue = self.queues.get_mut(&due.endpoint).filter(|queue| room && queue.hold == hold && due.due_at <= self.delivery.now());
        let next = queue.and_then(|queue| {
            let peer = queue.peer.clone().filter(|peer| peer.revision == due.revision && queue.takes(due.message, uptime))?;
            let message = DueMessage::new(&mut due, hold)?;
            queue.add(message.id, due.due_at, true);
            Some((peer, message))
        });
        match next {
            Some((peer, message)) => {
                self.delivery.metrics.handed_over.inc();
                let reaction = self.reactions.of(message.kind).cloned();
                self.call(peer, message, reaction);
            }
            None => self.wake_queue(&signal),
        }
    }

    fn call(&mut self, peer: Arc<Peer>, message: DueMessage, reaction: Option<Arc<dyn Reaction>>) {
        let key = (message.endpoint, message.hold, message.id);
        let (delivery, leases) = (self.delivery.clone(), Arc::clone(&self.leases));
        let call = async move { attempt::run(&delivery, &leases, &peer, &message, reaction.as_deref()).await };
        self.calls.start(key, self.events.clone(), call);
    }
}

/// What is asked for in one reading.
#[derive(Default)]
struct Asked {
    queries: Vec<(DueQuery, Hold)>,
    in_flight: Vec<Uuid>,
    /// The settings that are known.
    peers: HashMap<EndpointId, Arc<Peer>>,
}

impl Asked {
    /// Asks for up to `limit` messages of an endpoint.
    fn add(&mut self, endpoint: EndpointId, queue: &mut EndpointQueue, limit: usize) {
        let wanted = queue.begin_reading(endpoint, limit);
        self.in_flight.extend(queue.in_flight_since(wanted.since));
        self.peers.extend(queue.peer.clone().map(|peer| (endpoint, peer)));
        self.queries.push((wanted, queue.hold));
    }
}

/// The settlement of a row that needs no call, and the time at which the row has to be read again.
fn without_call(due: &DueRow, now: DateTime<Utc>) -> Option<(Disposition, Option<DateTime<Utc>>)> {
    if due.discard {
        Some((Disposition::Finished, None))
    } else if !due.is_head {
        Some((Disposition::Parked, Some(due.due_at)))
    } else if due.text.is_none() {
        tracing::error!(message = %due.message, endpoint = %due.endpoint, "a message is owed but gone, giving it up");
        let attempts = due.attempts_before.saturating_add(due.attempts);
        Some((Disposition::Failed { attempts, reason: "message missing".to_owned(), failed_at: now }, None))
    } else {
        None
    }
}
