//! The engine of a deliverer process: one loop that owns all queues, and tasks that read, call and settle for it.
//!
//! - The loop alone decides; it never waits for the database or a peer. Whatever happens reaches it as an event.
//! - A reader asks the table for many endpoints at once, as many rows as each has slots for.
//! - A call is a task that makes one attempt (`attempt.rs`).
//! - A writer settles (`writer.rs`); the chores (`chores.rs`) keep leases, look for what was missed, and tell of endpoints in
//!   trouble.
//! - When any of these breaks off, the whole engine ends, and another one follows, which takes its leases anew.

mod attempt;
mod calls;
pub(super) mod event;
mod gauges;
mod incidents;
pub(crate) mod lease;
mod look;
mod maintenance;
mod notices;
mod queue;
mod reading;
mod ready;
mod result;
mod retries;
mod work;
mod writer;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::id::EndpointId;
use store::messages::deliveries::{Odd, Oddity};
use store::messages::leases;
use store::messages::outbox::Signal;
use store::messages::settlements::{Disposition, Hold, Settlement};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;
use uuid::Uuid;

use self::calls::Calls;
use self::event::Event;
use self::incidents::Incidents;
use self::lease::Leases;
use self::look::Look;
use self::queue::EndpointQueue;
use self::ready::Ready;
use self::result::{AttemptResult, Batch, Settled};
use super::handle::Delivery;
use super::handlers::Handlers;
use super::reaction::Reactions;

/// How many writers there are; a bucket always has the same.
const WRITERS: usize = 4;
/// The longest that the loop sleeps.
const LONGEST_NAP: Duration = Duration::from_secs(1);
/// How long a queue with nothing to do is kept.
const KEPT_IDLE: Duration = Duration::from_mins(1);
/// How often queues with nothing to do are looked for.
const SWEEP_EVERY: Duration = Duration::from_secs(5);
/// How often leases that ran out are looked for; what starts looks for itself.
const EXPIRE_EVERY: Duration = Duration::from_millis(100);
/// How long a deliverer that leaves waits for what is in flight.
const FAREWELL: Duration = Duration::from_secs(25);

/// How an engine ended.
pub(super) enum Ending {
    /// It was told to leave.
    Left,
    /// A part of it broke off.
    Broke,
}

/// The engine.
pub(super) struct Engine {
    delivery: Delivery,
    /// By which its leases are known.
    pub(super) id: Uuid,
    leases: Arc<Leases>,
    queues: HashMap<EndpointId, EndpointQueue>,
    /// Desks to look at.
    ready: Ready,
    /// When retries are due, and when a rate allows more.
    due: BTreeSet<(DateTime<Utc>, EndpointId)>,
    paced: BTreeSet<(Duration, EndpointId)>,
    /// Endpoints in trouble, and the tasks that look for them and tell of them; these end with whoever holds this.
    incidents: Incidents,
    telling: JoinSet<()>,
    readings: usize,
    calls: Calls,
    reactions: Reactions,
    writers: Vec<UnboundedSender<AttemptResult>>,
    events: UnboundedSender<Event>,
    look: Arc<Look>,
    leaving: watch::Receiver<bool>,
    releasing: bool,
    swept: Duration,
    expired: Duration,
    /// Who waits for the end of all work, and which look at the table must have found nothing.
    draining: Vec<oneshot::Sender<()>>,
    drained_by: u64,
    /// The writers and the chores: none of them ends by itself.
    parts: JoinSet<()>,
}

impl Engine {
    /// Starts the writers and the chores.
    pub(super) fn new(delivery: Delivery, handlers: &Handlers, events: UnboundedSender<Event>, leaving: watch::Receiver<bool>) -> Self {
        let id = delivery.mint();
        let leases = Arc::new(Leases::new());
        let look = Arc::new(Look::default());
        let mut parts = JoinSet::new();
        let writers = (0..WRITERS).map(|_| {
            let (sender, results) = unbounded_channel();
            parts.spawn(writer::run(delivery.clone(), Arc::clone(&leases), handlers.reactions.clone(), results, events.clone()));
            sender
        });
        let writers = writers.collect();
        parts.spawn(maintenance::keep_partitions(delivery.clone()));
        parts.spawn(maintenance::keep_leases(delivery.clone(), id, Arc::clone(&leases), events.clone(), leaving.clone()));
        parts.spawn(maintenance::backstop(delivery.clone(), Arc::clone(&leases), events.clone(), Arc::clone(&look)));
        parts.spawn(maintenance::listen(delivery.clone(), events.clone()));
        parts.spawn(gauges::watch(delivery.clone(), Arc::clone(&leases)));
        parts.spawn(maintenance::run_timer(delivery.clone(), Arc::clone(&leases), Arc::clone(&handlers.timer)));
        parts.spawn(retries::carry_out(delivery.clone(), Arc::clone(&leases)));
        Self {
            delivery,
            id,
            leases,
            queues: HashMap::new(),
            ready: Ready::default(),
            due: BTreeSet::new(),
            paced: BTreeSet::new(),
            incidents: Incidents::default(),
            telling: JoinSet::new(),
            readings: 0,
            calls: Calls::default(),
            reactions: handlers.reactions.clone(),
            writers,
            events,
            look,
            leaving,
            releasing: false,
            swept: Duration::ZERO,
            expired: Duration::ZERO,
            draining: Vec::new(),
            drained_by: 0,
            parts,
        }
    }

    /// Works until it is told to leave, or a part of it breaks off.
    pub(super) async fn run(mut self, mut arriving: UnboundedReceiver<Event>) -> Ending {
        let mut farewell = None;
        let mut gathered = Vec::with_capacity(256);
        let delivery = self.delivery.clone();
        loop {
            let nap = self.nap();
            tokio::select! {
                count = arriving.recv_many(&mut gathered, 256) => {
                    if count == 0 {
                        return Ending::Broke;
                    }
                    gathered.drain(..).for_each(|event| self.on(event));
                }
                () = delivery.signals.arrived() => self.signalled(),
                _ = self.leaving.changed() => {}
                Some(ended) = self.parts.join_next() => {
                    tracing::error!(?ended, "a part of the delivery engine broke off");
                    return Ending::Broke;
                }
                Some(ended) = self.telling.join_next() => {
                    if let Err(error) = ended {
                        tracing::error!(%error, "telling of an endpoint broke off");
                        return Ending::Broke;
                    }
                }
                () = tokio::time::sleep(nap) => {}
            }
            let leaves = *self.leaving.borrow();
            if leaves {
                self.leases.hand_over(usize::MAX);
            }
            self.wake();
            self.pump();
            self.tell();
            self.leases.calls.store(i32::try_from(self.calls.len()).unwrap_or(i32::MAX), Ordering::Relaxed);
            self.give_back();
            self.say_when_drained();
            if leaves {
                let until = *farewell.get_or_insert_with(|| self.leases.now() + FAREWELL);
                let done = self.leases.leaving().is_empty() && self.leases.working().is_empty();
                if done || self.leases.now() >= until {
                    break;
                }
            }
        }
        // What is still out had its time.
        self.calls = Calls::default();
        if let Err(failed) = leases::leave(self.delivery.cell(), self.id).await {
            tracing::warn!(%failed, "the leases run out by themselves");
        }
        Ending::Left
    }

    /// How long there is nothing to do.
    fn nap(&self) -> Duration {
        let now = self.delivery.now();
        let due = self.due.first().map(|(at, _)| (*at - now).to_std().unwrap_or(Duration::ZERO));
        let paced = self.paced.first().map(|(at, _)| at.saturating_sub(self.leases.now()));
        // A moment at least, so that a clock that stands still does not make the loop spin.
        [due, paced].into_iter().flatten().min().unwrap_or(LONGEST_NAP).clamp(Duration::from_millis(1), LONGEST_NAP)
    }

    fn on(&mut self, event: Event) {
        let uptime = self.leases.now();
        match event {
            Event::Leased { gained, lost } => {
                lost.into_iter().for_each(|bucket| self.drop_bucket(bucket));
                if !gained.is_empty() {
                    self.look.ask();
                    self.incidents.review();
                    self.telling.spawn(maintenance::review(self.delivery.clone(), gained, self.events.clone()));
                }
            }
            Event::Released(buckets) => {
                self.releasing = false;
                self.leases.released(&buckets, uptime);
                buckets.into_iter().for_each(|bucket| self.drop_bucket(bucket));
            }
            Event::Looked { found, odd, answers } => {
                let nothing = found.is_empty() && odd.is_empty() && answers >= self.drained_by;
                found.iter().for_each(|signal| self.has_work(signal));
                odd.into_iter().for_each(|odd| self.put_right(&odd));
                if nothing && self.is_idle() {
                    self.draining.drain(..).for_each(|tell| _ = tell.send(()));
                }
            }
            Event::Heard(signal) => self.has_work(&signal),
            Event::Read(reading) => self.was_read(reading),
            Event::Called(result) => {
                let endpoint = result.endpoint;
                if let Some(queue) = self.queue(endpoint, result.settlement.hold) {
                    queue.call_ended(uptime);
                    self.calls.ended(result.settlement.message);
                    self.ready.insert(endpoint);
                    self.settle(result);
                }
            }
            Event::Broke(endpoint, hold, message) => {
                if let Some(queue) = self.queue(endpoint, hold) {
                    queue.call_ended(uptime);
                    if let Some(due_at) = queue.let_go(message) {
                        queue.signal(due_at, uptime);
                    }
                    self.calls.ended(message);
                    self.ready.insert(endpoint);
                }
            }
            Event::Settled(batch) => self.settled(batch),
            Event::Reviewed(found) => self.incidents.reviewed(found, self.delivery.now()),
            Event::Told(endpoint, hold, Ok(told)) => self.incidents.told(endpoint, hold, told, self.delivery.now()),
            Event::Told(endpoint, _, Err(_)) => self.incidents.was_not_told(endpoint),
            Event::Drain(tell) => {
                self.draining.push(tell);
                self.drained_by = self.look.ask();
            }
        }
    }

    /// The queue of an endpoint, for what was begun by `hold`.
    fn queue(&mut self, endpoint: EndpointId, hold: Hold) -> Option<&mut EndpointQueue> {
        self.queues.get_mut(&endpoint).filter(|queue| queue.hold == hold)
    }

    /// Takes the signals of this process: those for others are passed on.
    fn signalled(&mut self) {
        let (ours, others): (Vec<Signal>, Vec<Signal>) =
            self.delivery.signals.take().into_iter().partition(|signal| self.leases.to_start(signal.bucket, self.leases.now()).is_some());
        ours.iter().for_each(|signal| self.has_work(signal));
        if !others.is_empty() {
            let delivery = self.delivery.clone();
            tokio::spawn(async move { delivery.notify_others(&others).await });
        }
    }

    /// An endpoint has work: its queue looks for it, if the bucket is ours.
    fn has_work(&mut self, signal: &Signal) {
        let uptime = self.leases.now();
        let Signal { merchant, endpoint, bucket, due_at } = *signal;
        if let Some(hold) = self.leases.to_start(bucket, uptime) {
            self.queues.entry(endpoint).or_insert_with(|| EndpointQueue::new(merchant, hold, uptime)).signal(due_at, uptime);
            self.ready.insert(endpoint);
        }
    }

    /// Settles a delivery that needs us without being due, unless it is in hand.
    fn put_right(&mut self, odd: &Odd) {
        let Odd { merchant, endpoint, bucket, message, oddity, attempts, attempts_before } = *odd;
        let (now, uptime) = (self.delivery.now(), self.leases.now());
        let Some(hold) = self.leases.to_start(bucket, uptime) else { return };
        let queue = self.queues.entry(endpoint).or_insert_with(|| EndpointQueue::new(merchant, hold, uptime));
        if queue.holds(message) {
            return;
        }
        queue.take(message, now, false);
        let (fate, due_again) = match oddity {
            Oddity::Unwanted => (Disposition::Gone, None),
            Oddity::EndpointRemoved => {
                let attempts = attempts_before.saturating_add(attempts);
                (Disposition::Failed { attempts, reason: "endpoint removed".to_owned(), failed_at: now }, None)
            }
            Oddity::Stuck => (Disposition::Postponed { due_at: now, attempts }, Some(now)),
        };
        let settlement = Settlement { hold, merchant, message, fate };
        self.settle(AttemptResult::uncalled(endpoint, settlement, due_again));
    }

    /// What time has brought: leases that ran out, retries, rates.
    fn wake(&mut self) {
        let (now, uptime) = (self.delivery.now(), self.leases.now());
        if uptime.saturating_sub(self.expired) >= EXPIRE_EVERY {
            self.expired = uptime;
            self.leases.expire(uptime).into_iter().for_each(|bucket| self.drop_bucket(bucket));
        }
        self.incidents.wake(now);
        while let Some((at, endpoint)) = self.due.pop_first() {
            if at > now {
                self.due.insert((at, endpoint));
                break;
            }
            if let Some(queue) = self.queues.get_mut(&endpoint) {
                queue.signal(at, uptime);
                self.ready.insert(endpoint);
            }
        }
        while let Some((at, endpoint)) = self.paced.pop_first() {
            if at > uptime {
                self.paced.insert((at, endpoint));
                break;
            }
            self.ready.insert(endpoint);
        }
        if uptime.saturating_sub(self.swept) >= SWEEP_EVERY {
            self.swept = uptime;
            // A retry of a queue that is not kept any more is found by the look at the table.
            self.queues.retain(|_, queue| !queue.is_idle() || uptime.saturating_sub(queue.touched) < KEPT_IDLE);
        }
    }

    /// Lets the next be told that there is to tell.
    fn tell(&mut self) {
        if let Some(candidate) = self.incidents.next() {
            self.telling.spawn(maintenance::tell(self.delivery.clone(), candidate, self.events.clone()));
        }
    }

    fn settle(&self, result: AttemptResult) {
        let writer = self.writers.get(usize::from(result.settlement.hold.bucket) % WRITERS);
        if let Some(writer) = writer {
            let _ = writer.send(result);
        }
    }

    /// A batch was settled: its messages are not in hand any more, and lanes go on.
    fn settled(&mut self, batch: Batch) {
        let (now, uptime) = (self.delivery.now(), self.leases.now());
        for Settled { merchant, endpoint, hold, message, due_again, saw } in batch.messages {
            let Some(queue) = self.queue(endpoint, hold) else { continue };
            queue.let_go(message);
            match due_again {
                Some(at) if at <= now => queue.signal(at, uptime),
                Some(at) => _ = self.due.insert((at, endpoint)),
                None => {}
            }
            self.ready.insert(endpoint);
            if let Some(saw) = saw {
                self.incidents.saw(merchant, endpoint, hold, saw, now);
            }
        }
        for (_, endpoint) in batch.unparked {
            if let Some(queue) = self.queues.get_mut(&endpoint) {
                queue.signal(batch.now, uptime);
                self.ready.insert(endpoint);
            }
        }
        let lost: HashSet<Hold> = batch.lost.into_iter().collect();
        for hold in lost {
            if !self.leases.is_good(hold, uptime) {
                self.drop_bucket(hold.bucket);
            }
        }
    }

    /// A bucket is not ours any more: its calls are dropped, their outcomes unknown.
    fn drop_bucket(&mut self, bucket: u8) {
        self.incidents.drop_bucket(bucket);
        let gone: Vec<EndpointId> =
            self.queues.iter().filter(|(_, queue)| queue.hold.bucket == bucket).map(|(endpoint, _)| *endpoint).collect();
        for endpoint in gone {
            let Some(queue) = self.queues.remove(&endpoint) else { continue };
            queue.in_hand().for_each(|message| self.calls.abort(message));
        }
    }

    /// Gives buckets back of which nothing is in hand any more.
    fn give_back(&mut self) {
        if self.releasing || !self.leases.is_leaving() {
            return;
        }
        let mut leaving = self.leases.leaving();
        if leaving.is_empty() {
            return;
        }
        let busy: HashSet<u8> = self.queues.values().filter(|queue| !queue.is_empty()).map(|queue| queue.hold.bucket).collect();
        leaving.retain(|bucket| !busy.contains(bucket));
        if leaving.is_empty() {
            return;
        }
        self.releasing = true;
        let (delivery, id, events) = (self.delivery.clone(), self.id, self.events.clone());
        tokio::spawn(async move {
            // If that fails they run out by themselves.
            if let Err(failed) = leases::release(delivery.cell(), id, &leaving).await {
                tracing::warn!(%failed, "buckets were not given back; their leases run out");
            }
            let _ = events.send(Event::Released(leaving));
        });
    }

    fn is_idle(&self) -> bool {
        self.readings == 0
            && self.ready.is_empty()
            && self.paced.is_empty()
            && self.incidents.is_idle()
            && self.queues.values().all(EndpointQueue::is_idle)
    }

    fn say_when_drained(&self) {
        if !self.draining.is_empty() && self.is_idle() {
            self.look.ask();
        }
    }
}
