//! From queues that want work to calls: the table is read for many of them at once, and what was read is taken in hand.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::id::EndpointId;
use store::messages::deliveries::{DueQuery, DueRow};
use store::messages::settlements::{Disposition, Settlement};

use super::event::Event;
use super::queue::Wants;
use super::reading::{Reading, read};
use super::result::AttemptResult;
use super::{Engine, attempt};
use crate::delivery::due_message::DueMessage;
use crate::delivery::reaction::Reaction;
use crate::delivery::transports::peer::{Peer, Unfit};

/// How many readings are out at a time, and of how many endpoints each.
const READERS: usize = 3;
const MOST_ENDPOINTS: usize = 64;
/// How many calls are out at a time, in all: a bound on connections and memory, far above what slots usually allow.
const MOST_CALLS: usize = 5_000;

impl Engine {
    /// Reads for the queues that want it, as far as readers are free.
    pub(super) fn pump(&mut self) {
        let uptime = self.leases.now();
        while self.readings < READERS && self.calls.len() < MOST_CALLS && !self.ready.is_empty() {
            let (mut asked, mut in_hand, mut peers) = (Vec::new(), Vec::new(), HashMap::new());
            for endpoint in self.ready.take(MOST_ENDPOINTS) {
                let Some(queue) = self.queues.get_mut(&endpoint) else { continue };
                if self.leases.to_start(queue.hold.bucket, uptime) != Some(queue.hold) {
                    continue;
                }
                match queue.wants(uptime) {
                    Wants::Nothing => {}
                    Wants::Later(wait) => _ = self.paced.insert((uptime + wait, endpoint)),
                    Wants::Read(most) => {
                        let wanted = queue.read(endpoint, most);
                        in_hand.extend(queue.in_hand_since(wanted.since));
                        peers.extend(queue.peer.clone().map(|peer| (endpoint, peer)));
                        asked.push((wanted, queue.hold));
                    }
                }
            }
            if !asked.is_empty() {
                self.readings += 1;
                let (delivery, events) = (self.delivery.clone(), self.events.clone());
                tokio::spawn(async move {
                    let reading = read(&delivery, asked, &in_hand, peers).await;
                    let _ = events.send(Event::Read(reading));
                });
            }
        }
    }

    /// What a reading brought is called, parked or dropped.
    pub(super) fn was_read(&mut self, reading: Reading) {
        self.readings = self.readings.saturating_sub(1);
        let uptime = self.leases.now();
        let (rows, mut peers) = match reading.outcome {
            Ok(read) => read,
            Err(failed) => {
                tracing::warn!(%failed, endpoints = reading.asked.len(), "work could not be read");
                // Not at once: the database has trouble.
                for (wanted, hold) in reading.asked {
                    if let Some(queue) = self.queue(wanted.endpoint, hold) {
                        queue.was_not_read(uptime);
                        self.paced.insert((uptime + Duration::from_millis(200), wanted.endpoint));
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
                self.take(wanted, rows, peer, reading.read_at);
            }
        }
    }

    /// Takes the rows of one endpoint in hand, in the order in which they are due.
    fn take(&mut self, wanted: DueQuery, rows: Vec<DueRow>, peer: Option<Result<Arc<Peer>, Unfit>>, read_at: DateTime<Utc>) {
        let endpoint = wanted.endpoint;
        let uptime = self.leases.now();
        let Some(mut queue) = self.queues.remove(&endpoint) else { return };
        let hold = self.leases.to_start(queue.hold.bucket, uptime).filter(|hold| *hold == queue.hold);
        let full = i64::try_from(rows.len()).unwrap_or(i64::MAX) >= wanted.most;
        let last = rows.last().map_or(read_at, |due| due.due_at);
        let mut stopped = None;
        let unfit = match peer {
            Some(Ok(peer)) => {
                queue.peer = Some(peer);
                None
            }
            Some(Err(unfit)) => Some(unfit),
            None => None,
        };
        let peer = queue.peer.clone();
        let mut rows = rows;
        for due in &mut rows {
            let Some(hold) = hold else { break };
            let (message, due_at) = (due.message, due.due_at);
            // What a lane's change made due again while it was still in hand comes with the next reading.
            if queue.holds(message) {
                continue;
            }
            let settlement = |fate| Settlement { hold, merchant: due.merchant, message, fate };
            if due.discard {
                queue.take(message, due_at, false);
                self.settle(AttemptResult::uncalled(endpoint, settlement(Disposition::Gone), None));
            } else if due.text.is_none() {
                queue.take(message, due_at, false);
                self.settle(AttemptResult::uncalled(endpoint, settlement(Disposition::Parked), Some(due_at)));
            } else if unfit.is_none() && !(peer.is_some() && queue.may_start(uptime)) {
                stopped = Some(due_at);
                break;
            } else if let Some(due_message) = DueMessage::new(due, hold) {
                let reaction = self.reactions.of(due_message.kind).cloned();
                queue.take(message, due_at, unfit.is_none());
                match (&unfit, &peer) {
                    (Some(unfit), _) => self.settle(attempt::refuse(&self.delivery, &due_message, unfit, reaction.as_deref())),
                    (None, Some(peer)) => self.call(Arc::clone(peer), due_message, reaction),
                    (None, None) => {}
                }
            } else {
                tracing::error!(%message, "a message of an unknown kind waits for a newer program");
            }
        }
        queue.was_read(stopped.unwrap_or(if full { last } else { read_at }), stopped.is_some() || full, uptime);
        self.queues.insert(endpoint, queue);
        self.ready.insert(endpoint);
    }

    /// Starts a call.
    fn call(&mut self, peer: Arc<Peer>, message: DueMessage, reaction: Option<Arc<dyn Reaction>>) {
        let at = (message.endpoint, message.hold, message.id);
        let (delivery, leases) = (self.delivery.clone(), Arc::clone(&self.leases));
        let call = async move { attempt::attempt(&delivery, &leases, &peer, &message, reaction.as_deref()).await };
        self.calls.start(at, self.events.clone(), call);
    }
}
