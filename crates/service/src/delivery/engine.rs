//! The engine of a deliverer process: one loop that owns all endpoint queues, and tasks that read, call and settle for it.
//!
//! - The loop makes all decisions and never waits for the database or a peer. Everything that happens reaches it as an
//!   [`Event`].
//! - A [`reading`] fetches the due messages of many endpoints at once, as many for each as it has free slots.
//! - A call is a task that makes one [`attempt`].
//! - A [`writer`] settles the results in batches, and [`apart`] those that may take longer.
//! - The [`lease_keeper`], the [`poller`], the [`listener`], [`maintenance`], [`gauges`] and [`retries`] run beside the loop.
//! - [`incidents`] remembers the endpoints in trouble; [`reporting`] sends the [`notices`] about them.
//! - If one of the long-running tasks ends, the whole engine ends. The deliverer starts another, which takes new leases.

mod apart;
mod attempt;
mod calls;
pub(super) mod event;
mod gauges;
mod incidents;
mod lease;
mod lease_keeper;
mod listener;
mod maintenance;
mod notices;
mod poller;
mod queue;
mod reading;
mod ready;
mod reporting;
mod result;
mod retries;
mod work;
mod writer;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::EndpointId;
use store::messages::deliveries::{Cleanup, CleanupReason};
use store::messages::leases;
use store::messages::outbox::Signal;
use store::messages::settlements::{Disposition, Hold, Settlement};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::task::JoinSet;
use uuid::Uuid;

use self::apart::Apart;
use self::calls::Calls;
use self::event::Event;
use self::incidents::Incidents;
use self::lease::Leases;
pub(crate) use self::lease::TERM as LEASE_TERM;
use self::poller::PollRequests;
use self::queue::EndpointQueue;
use self::ready::Ready;
use self::result::{AttemptResult, Batch, Settled};
use super::handle::Delivery;
use super::handlers::Handlers;
use super::reaction::Reactions;

/// The number of writers. A bucket always has the same one.
const WRITERS: usize = 2;
/// The pause before a message is read again whose call was lost.
const RETRY_AFTER: Duration = Duration::from_millis(200);
/// The longest wait for a signalled message that is not due yet. The poller finds those that are due later.
const SOON: TimeDelta = TimeDelta::minutes(1);
/// The time within which the messages of one signal were written.
const GATHERED: TimeDelta = TimeDelta::milliseconds(20);
/// The longest sleep of the loop.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);
/// The time for which an idle queue is kept in memory.
const KEPT_IDLE: Duration = Duration::from_mins(1);
/// The interval between two searches for idle queues.
const SWEEP_EVERY: Duration = Duration::from_secs(5);
/// The interval between two searches for expired leases. Starting a call checks its lease anyway.
const EXPIRE_EVERY: Duration = Duration::from_millis(100);
/// The time that a leaving deliverer gives the calls in flight.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(25);

/// The ways an engine can end.
pub(super) enum Exit {
    /// It was asked to leave.
    Left,
    /// One of its tasks ended unexpectedly.
    Failed,
}

/// The state of the loop.
pub(super) struct Engine {
    delivery: Delivery,
    /// Identifies the owner of the leases in the database.
    pub(super) id: Uuid,
    leases: Arc<Leases>,
    queues: HashMap<EndpointId, EndpointQueue>,
    ready: Ready,
    /// Queues to look at when a retry becomes due.
    due: BTreeSet<(DateTime<Utc>, EndpointId)>,
    /// Queues to look at when their rate, or the wait between two readings, allows more.
    waiting: BTreeSet<(Duration, EndpointId)>,
    incidents: Incidents,
    /// The tasks that review buckets and report incidents.
    reports: JoinSet<()>,
    readings: usize,
    /// The start of the reading for endpoints that are being drained, while it runs.
    draining_since: Option<Duration>,
    /// The endpoints that wait for the end of that reading.
    held_back: Ready,
    calls: Calls,
    reactions: Reactions,
    writers: Vec<UnboundedSender<AttemptResult>>,
    events: UnboundedSender<Event>,
    polls: Arc<PollRequests>,
    leaving: watch::Receiver<bool>,
    /// True while buckets are being released in the database.
    releasing: bool,
    last_sweep: Duration,
    last_expiry: Duration,
    /// Those who wait until nothing is left to do.
    draining: Vec<oneshot::Sender<()>>,
    /// The poll request that must be answered with nothing before they are notified.
    drain_request: u64,
    /// The long-running tasks. None of them ends by itself.
    tasks: JoinSet<()>,
}

impl Engine {
    /// Creates an engine and starts its long-running tasks.
    pub(super) fn new(delivery: Delivery, handlers: &Handlers, events: UnboundedSender<Event>, leaving: watch::Receiver<bool>) -> Self {
        let id = delivery.mint();
        let leases = Arc::new(Leases::new(id));
        let polls = Arc::new(PollRequests::default());
        let turns = Arc::new(Semaphore::new(delivery.settings.pool_limits().sizes.apart as usize));
        let mut tasks = JoinSet::new();
        let writers = (0..WRITERS).map(|_| {
            let (sender, results) = unbounded_channel();
            let (delivery, reactions) = (delivery.clone(), handlers.reactions.clone());
            let apart = Apart::new(delivery.clone(), Arc::clone(&leases), reactions, events.clone(), Arc::clone(&turns));
            tasks.spawn(writer::run(delivery, Arc::clone(&leases), apart, results, events.clone()));
            sender
        });
        let writers = writers.collect();
        tasks.spawn(maintenance::keep_partitions(delivery.clone()));
        tasks.spawn(lease_keeper::run(delivery.clone(), id, Arc::clone(&leases), events.clone(), leaving.clone()));
        tasks.spawn(poller::run(delivery.clone(), Arc::clone(&leases), events.clone(), Arc::clone(&polls)));
        tasks.spawn(listener::run(delivery.clone(), events.clone(), Arc::clone(&polls)));
        tasks.spawn(gauges::run(delivery.clone(), Arc::clone(&leases)));
        tasks.spawn(maintenance::run_timer(delivery.clone(), Arc::clone(&leases), Arc::clone(&handlers.timer)));
        tasks.spawn(retries::run(delivery.clone(), Arc::clone(&leases)));
        Self {
            delivery,
            id,
            leases,
            queues: HashMap::new(),
            ready: Ready::default(),
            due: BTreeSet::new(),
            waiting: BTreeSet::new(),
            incidents: Incidents::default(),
            reports: JoinSet::new(),
            readings: 0,
            draining_since: None,
            held_back: Ready::default(),
            calls: Calls::default(),
            reactions: handlers.reactions.clone(),
            writers,
            events,
            polls,
            leaving,
            releasing: false,
            last_sweep: Duration::ZERO,
            last_expiry: Duration::ZERO,
            draining: Vec::new(),
            drain_request: 0,
            tasks,
        }
    }

    /// Runs until it is asked to leave, or one of its tasks ends.
    pub(super) async fn run(mut self, mut arriving: UnboundedReceiver<Event>) -> Exit {
        let mut leave_by = None;
        let mut events = Vec::with_capacity(256);
        let delivery = self.delivery.clone();
        loop {
            let pause = self.pause();
            tokio::select! {
                count = arriving.recv_many(&mut events, 256) => {
                    if count == 0 {
                        return Exit::Failed;
                    }
                    events.drain(..).for_each(|event| self.handle(event));
                }
                () = delivery.signals.arrived() => self.take_signals(),
                _ = self.leaving.changed() => {}
                Some(ended) = self.tasks.join_next() => {
                    tracing::error!(engine = %self.id, ?ended, "a task of the delivery engine stopped unexpectedly, restarting the engine");
                    return Exit::Failed;
                }
                Some(ended) = self.reports.join_next() => {
                    if let Err(error) = ended {
                        tracing::error!(engine = %self.id, %error, "reporting an incident stopped unexpectedly, restarting the engine");
                        return Exit::Failed;
                    }
                }
                () = tokio::time::sleep(pause) => {}
            }
            let is_leaving = *self.leaving.borrow();
            if is_leaving {
                self.leases.start_releasing(usize::MAX);
            }
            self.handle_timers();
            self.start_readings();
            self.report_incident();
            self.leases.calls.store(i32::try_from(self.calls.len()).unwrap_or(i32::MAX), Ordering::Relaxed);
            self.release_buckets();
            self.poll_if_drained();
            if is_leaving {
                let until = *leave_by.get_or_insert_with(|| self.leases.now() + DRAIN_TIMEOUT);
                let done = self.leases.releasing().is_empty() && self.leases.active().is_empty();
                if done || self.leases.now() >= until {
                    break;
                }
            }
        }
        // Abort the calls that did not end in time.
        self.calls = Calls::default();
        if let Err(failed) = leases::leave(self.delivery.cell(), self.id).await {
            tracing::warn!(engine = %self.id, %failed, "giving up the leases failed, they will expire");
        }
        Exit::Left
    }

    /// The time until there is something to do, apart from events and signals.
    fn pause(&self) -> Duration {
        let (now, uptime) = (self.delivery.now(), self.leases.now());
        let due = self.due.first().map(|(at, _)| (*at - now).to_std().unwrap_or(Duration::ZERO));
        let waiting = self.waiting.first().map(|(at, _)| at.saturating_sub(uptime));
        // At least a millisecond, so that the loop does not spin while the clock stands still.
        [due, waiting, self.held_back_for(uptime)]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(LONGEST_SLEEP)
            .clamp(Duration::from_millis(1), LONGEST_SLEEP)
    }

    fn handle(&mut self, event: Event) {
        let uptime = self.leases.now();
        match event {
            Event::Leased { gained, lost } => {
                lost.into_iter().for_each(|bucket| self.drop_bucket(bucket));
                if !gained.is_empty() {
                    self.polls.request();
                    self.incidents.begin_review();
                    self.reports.spawn(reporting::review(self.delivery.clone(), gained, self.events.clone()));
                }
            }
            Event::Released(buckets) => {
                self.releasing = false;
                self.leases.remove(&buckets, uptime);
                buckets.into_iter().for_each(|bucket| self.drop_bucket(bucket));
            }
            Event::Polled { found, cleanups, answers } => {
                let nothing = found.is_empty() && cleanups.is_empty() && answers >= self.drain_request;
                found.iter().for_each(|signal| self.wake_queue(signal));
                cleanups.into_iter().for_each(|cleanup| self.clean_up(cleanup));
                if nothing && self.is_idle() {
                    self.draining.drain(..).for_each(|drained| _ = drained.send(()));
                }
            }
            Event::SignalReceived(signal) => self.wake_queue(&signal),
            Event::ReadingEnded(reading) => self.handle_reading(reading),
            Event::CallEnded(result) => {
                let endpoint = result.endpoint;
                if let Some(queue) = self.queue(endpoint, result.settlement.hold) {
                    queue.end_call(uptime);
                    self.calls.remove(result.settlement.message);
                    self.ready.insert(endpoint);
                    self.settle(result);
                }
            }
            Event::CallLost(endpoint, hold, message) => {
                if let Some(queue) = self.queue(endpoint, hold) {
                    queue.end_call(uptime);
                    if let Some(due_at) = queue.remove(message) {
                        queue.signal(due_at, uptime);
                    }
                    self.calls.remove(message);
                    // Not at once: whatever kept it from being called may last.
                    self.waiting.insert((uptime + RETRY_AFTER, endpoint));
                }
            }
            Event::Settled(batch) => self.handle_settled(batch),
            Event::Reviewed(found) => self.incidents.end_review(found, self.delivery.now()),
            Event::Reported(endpoint, hold, Ok(reported)) => self.incidents.reported(endpoint, hold, reported, self.delivery.now()),
            Event::Reported(endpoint, _, Err(_)) => self.incidents.report_failed(endpoint),
            Event::Drain(drained) => {
                self.draining.push(drained);
                self.drain_request = self.polls.request();
            }
        }
    }

    /// The queue of an endpoint, unless the bucket has changed hands since `hold`.
    fn queue(&mut self, endpoint: EndpointId, hold: Hold) -> Option<&mut EndpointQueue> {
        self.queues.get_mut(&endpoint).filter(|queue| queue.hold == hold)
    }

    /// Takes the signals of this process and the messages that were handed over, and forwards those for buckets of other processes.
    fn take_signals(&mut self) {
        let (ours, mut others): (Vec<Signal>, Vec<Signal>) = self
            .delivery
            .signals
            .take()
            .into_iter()
            .partition(|signal| self.leases.hold_to_start(signal.bucket, self.leases.now()).is_some());
        ours.iter().for_each(|signal| self.wake_queue(signal));
        for message in self.delivery.signals.take_handed() {
            match self.leases.hold_to_start(message.signal().bucket, self.leases.now()) {
                Some(hold) => self.take_over(message, hold),
                None => others.push(message.signal()),
            }
        }
        if !others.is_empty() {
            let delivery = self.delivery.clone();
            tokio::spawn(async move { delivery.notify_others(&others).await });
        }
    }

    /// Signals the queue of an endpoint with work, if its bucket is ours.
    fn wake_queue(&mut self, signal: &Signal) {
        let uptime = self.leases.now();
        let Signal { merchant, endpoint, bucket, due_at } = *signal;
        let Some(hold) = self.leases.hold_to_start(bucket, uptime) else { return };
        let queue = self.queues.entry(endpoint).or_insert_with(|| EndpointQueue::new(merchant, hold, uptime));
        let now = self.delivery.now();
        if due_at <= now {
            queue.signal(due_at, uptime);
            self.ready.insert(endpoint);
        } else if due_at <= now + SOON {
            // The clock of the node that wrote it is ahead of ours. A signal stands for all messages that were written with it, so
            // look once more for the last of them.
            self.due.extend([(due_at, endpoint), (due_at + GATHERED, endpoint)]);
        }
    }

    /// Settles a delivery that has to be cleaned up, unless it is in flight.
    fn clean_up(&mut self, cleanup: Cleanup) {
        let Cleanup { merchant, endpoint, bucket, message, lane, reason, attempts, attempts_before } = cleanup;
        let (now, uptime) = (self.delivery.now(), self.leases.now());
        let Some(hold) = self.leases.hold_to_start(bucket, uptime) else { return };
        let queue = self.queues.entry(endpoint).or_insert_with(|| EndpointQueue::new(merchant, hold, uptime));
        if queue.contains(message) {
            return;
        }
        queue.add(message, now, false);
        let (disposition, due_again) = match reason {
            CleanupReason::Discarded => (Disposition::Finished, None),
            CleanupReason::EndpointRemoved => {
                let attempts = attempts_before.saturating_add(attempts);
                (Disposition::Failed { attempts, reason: "endpoint removed".to_owned(), failed_at: now }, None)
            }
            CleanupReason::Stuck => (Disposition::Postponed { due_at: now, attempts }, Some(now)),
        };
        let settlement = Settlement { hold, merchant, message, disposition };
        self.settle(AttemptResult::without_call(endpoint, lane, settlement, due_again));
    }

    /// Handles everything whose time has come: expired leases, incidents, retries, rates, idle queues.
    fn handle_timers(&mut self) {
        let (now, uptime) = (self.delivery.now(), self.leases.now());
        if uptime.saturating_sub(self.last_expiry) >= EXPIRE_EVERY {
            self.last_expiry = uptime;
            self.leases.expire(uptime).into_iter().for_each(|bucket| self.drop_bucket(bucket));
        }
        self.incidents.handle_timers(now);
        self.hold_back_no_longer(uptime);
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
        while let Some((at, endpoint)) = self.waiting.pop_first() {
            if at > uptime {
                self.waiting.insert((at, endpoint));
                break;
            }
            self.ready.insert(endpoint);
        }
        if uptime.saturating_sub(self.last_sweep) >= SWEEP_EVERY {
            self.last_sweep = uptime;
            // If a dropped queue had a retry to come, the poller finds it.
            self.queues.retain(|_, queue| !queue.is_idle() || uptime.saturating_sub(queue.last_active) < KEPT_IDLE);
        }
    }

    /// Starts to report the next incident, if there is one and no other is being reported.
    fn report_incident(&mut self) {
        if let Some(candidate) = self.incidents.next() {
            self.reports.spawn(reporting::report(self.delivery.clone(), candidate, self.events.clone()));
        }
    }

    fn settle(&self, result: AttemptResult) {
        let writer = self.writers.get(usize::from(result.settlement.hold.bucket) % WRITERS);
        if let Some(writer) = writer {
            let _ = writer.send(result);
        }
    }

    /// Removes the messages of a settled batch from their queues and continues the lanes behind them.
    fn handle_settled(&mut self, batch: Batch) {
        let (now, uptime) = (self.delivery.now(), self.leases.now());
        for Settled { merchant, endpoint, hold, message, due_again, observed } in batch.messages {
            let Some(queue) = self.queue(endpoint, hold) else { continue };
            queue.remove(message);
            match due_again {
                Some(at) if at <= now => queue.signal(at, uptime),
                Some(at) => _ = self.due.insert((at, endpoint)),
                None => {}
            }
            self.ready.insert(endpoint);
            if let Some(observed) = observed {
                self.incidents.observe(merchant, endpoint, hold, observed, now);
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
            if !self.leases.is_valid(hold, uptime) {
                self.drop_bucket(hold.bucket);
            }
        }
    }

    /// Forgets a bucket that is no longer ours and aborts its calls, whose outcomes stay unknown.
    fn drop_bucket(&mut self, bucket: u8) {
        self.incidents.drop_bucket(bucket);
        let dropped: Vec<EndpointId> =
            self.queues.iter().filter(|(_, queue)| queue.hold.bucket == bucket).map(|(endpoint, _)| *endpoint).collect();
        for endpoint in dropped {
            let Some(queue) = self.queues.remove(&endpoint) else { continue };
            queue.in_flight().for_each(|message| self.calls.abort(message));
        }
    }

    /// Releases the buckets that are to be given back and have nothing in flight any more.
    fn release_buckets(&mut self) {
        if self.releasing || !self.leases.is_releasing() {
            return;
        }
        let mut buckets = self.leases.releasing();
        if buckets.is_empty() {
            return;
        }
        let busy: HashSet<u8> = self.queues.values().filter(|queue| !queue.is_empty()).map(|queue| queue.hold.bucket).collect();
        buckets.retain(|bucket| !busy.contains(bucket));
        if buckets.is_empty() {
            return;
        }
        self.releasing = true;
        let (delivery, id, events) = (self.delivery.clone(), self.id, self.events.clone());
        tokio::spawn(async move {
            if let Err(failed) = leases::release(delivery.cell(), id, &buckets).await {
                tracing::warn!(engine = %id, %failed, buckets = buckets.len(), "releasing buckets failed, their leases will expire");
            }
            let _ = events.send(Event::Released(buckets));
        });
    }

    fn is_idle(&self) -> bool {
        self.readings == 0
            && self.ready.is_empty()
            && self.waiting.is_empty()
            && self.incidents.is_idle()
            && self.queues.values().all(EndpointQueue::is_idle)
    }

    /// Requests a poll if someone waits for the end of all work and none is left in memory: the table may still have some.
    fn poll_if_drained(&self) {
        if !self.draining.is_empty() && self.is_idle() {
            self.polls.request();
        }
    }
}
