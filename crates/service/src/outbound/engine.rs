//! The engine of a deliverer process: one loop that owns all desks, and tasks that read, call and settle for it.
//!
//! - The loop alone decides; it never waits for the database or a peer. Whatever happens reaches it as an event.
//! - A reader asks the table for many endpoints at once, as many rows as each has slots for.
//! - A call is a task that makes one attempt (`attempt.rs`).
//! - A writer settles (`writer.rs`); the chores (`chores.rs`) keep leases and look for what was missed.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::id::EndpointId;
use store::deliveries::{self, Due, Odd, Oddity, Wanted};
use store::outbox::Owed;
use store::settlements::{Fate, Hold, Settlement};
use store::{endpoints, leases};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Notify, oneshot, watch};
use tokio::task::{AbortHandle, JoinHandle};
use uuid::Uuid;

use super::attempt::{self, Done, Letter, Peer, Unfit};
use super::desk::{Desk, Wants};
use super::lease::Leases;
use super::writer::{self, Batch, Settled};
use super::{chores, signal};
use crate::app::App;

/// How many writers there are; a bucket always has the same.
const WRITERS: usize = 4;
/// How many readings are out at a time, and of how many endpoints each.
const READERS: usize = 3;
const MOST_ENDPOINTS: usize = 64;
/// The longest that the loop sleeps.
const LONGEST_NAP: Duration = Duration::from_secs(1);
/// How many calls are out at a time, in all: a bound on connections and memory, far above what slots usually allow.
const MOST_CALLS: usize = 5_000;
/// How long a desk with nothing to do is kept.
const KEPT_IDLE: Duration = Duration::from_mins(1);
/// How often desks with nothing to do are looked for.
const SWEEP_EVERY: Duration = Duration::from_secs(5);
/// How long a deliverer that leaves waits for what is in flight.
const FAREWELL: Duration = Duration::from_secs(25);

/// Something that happened.
pub(super) enum Event {
    /// Leases were renewed.
    Leased {
        /// Whether buckets were gained.
        gained: bool,
        /// The buckets that were lost.
        lost: Vec<u8>,
    },
    /// Buckets were given back.
    Released(Vec<u8>),
    /// The table was looked at.
    Looked {
        /// Endpoints with something due.
        found: Vec<Owed>,
        /// What needs us without being due.
        odd: Vec<Odd>,
        /// Up to which request this is the answer.
        answers: u64,
    },
    /// Another process told of work.
    Heard(Owed),
    /// A reading ended.
    Read(Reading),
    /// A call ended.
    Called(EndpointId, Done),
    /// A call broke off: it was dropped, or it panicked.
    Broke(EndpointId, Hold, Uuid),
    /// A batch was settled.
    Settled(Batch),
    /// Say when nothing is left to do.
    Drain(oneshot::Sender<()>),
}

/// What a reading brought.
pub(super) struct Reading {
    /// For whom, by which hold, and how many rows each asked for.
    asked: Vec<(Wanted, Hold)>,
    /// At which time.
    read_at: DateTime<Utc>,
    outcome: Result<(Vec<Due>, Peers), store::Failed>,
}

/// The settings that were read, or why they cannot be used.
type Peers = HashMap<EndpointId, Result<Arc<Peer>, Unfit>>;

/// A deliverer at work in this process.
pub struct Deliverer {
    events: UnboundedSender<Event>,
    leave: watch::Sender<bool>,
    engine: JoinHandle<()>,
}

impl Deliverer {
    /// Starts to deliver.
    #[must_use]
    pub fn start(app: App) -> Self {
        let (events, arriving) = unbounded_channel();
        let (leave, leaving) = watch::channel(false);
        let engine = tokio::spawn(Engine::new(app, events.clone(), leaving).run(arriving));
        Self { events, leave, engine }
    }

    /// Delivers what is due by the app's clock, and waits until nothing more is.
    pub async fn deliver_all_due(&self) {
        let (tell, told) = oneshot::channel();
        if self.events.send(Event::Drain(tell)).is_ok() {
            let _ = told.await;
        }
    }

    /// Starts nothing more, finishes what is in flight, and gives the leases back.
    pub async fn leave(self) {
        let _ = self.leave.send(true);
        let _ = self.engine.await;
    }
}

/// Requests to look at the table.
#[derive(Default)]
pub(super) struct Look {
    asked: AtomicU64,
    notify: Notify,
}

impl Look {
    /// Asks for a look, and answers the number of the request.
    fn ask(&self) -> u64 {
        let number = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        self.notify.notify_one();
        number
    }

    /// Waits for a request.
    pub(super) async fn asked(&self) {
        self.notify.notified().await;
    }

    /// The last request that a look beginning now answers.
    pub(super) fn answers(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }
}

/// Desks to look at, each once, the longest waiting first.
#[derive(Default)]
struct Ready {
    queue: VecDeque<EndpointId>,
    queued: HashSet<EndpointId>,
}

impl Ready {
    fn insert(&mut self, endpoint: EndpointId) {
        if self.queued.insert(endpoint) {
            self.queue.push_back(endpoint);
        }
    }

    fn take(&mut self, most: usize) -> Vec<EndpointId> {
        let taken: Vec<EndpointId> = self.queue.drain(..most.min(self.queue.len())).collect();
        taken.iter().for_each(|endpoint| _ = self.queued.remove(endpoint));
        taken
    }

    fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

/// Tasks that end with whoever holds them.
struct Tasks(Vec<JoinHandle<()>>);

impl Drop for Tasks {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}

struct Engine {
    app: App,
    id: Uuid,
    leases: Arc<Leases>,
    desks: HashMap<EndpointId, Desk>,
    /// Desks to look at.
    ready: Ready,
    /// When retries are due, and when a rate allows more.
    due: BTreeSet<(DateTime<Utc>, EndpointId)>,
    paced: BTreeSet<(Duration, EndpointId)>,
    readings: usize,
    calls: HashMap<Uuid, AbortHandle>,
    writers: Vec<UnboundedSender<writer::Result>>,
    events: UnboundedSender<Event>,
    look: Arc<Look>,
    leaving: watch::Receiver<bool>,
    releasing: bool,
    swept: Duration,
    /// Who waits for the end of all work, and which look at the table must have found nothing.
    draining: Vec<oneshot::Sender<()>>,
    drained_by: u64,
    tasks: Tasks,
}

impl Engine {
    fn new(app: App, events: UnboundedSender<Event>, leaving: watch::Receiver<bool>) -> Self {
        let id = app.mint();
        let leases = Arc::new(Leases::new());
        let look = Arc::new(Look::default());
        let (writers, receivers): (Vec<_>, Vec<_>) = (0..WRITERS).map(|_| unbounded_channel()).unzip();
        let mut tasks: Vec<JoinHandle<()>> = receivers
            .into_iter()
            .map(|results| tokio::spawn(writer::run(app.clone(), Arc::clone(&leases), results, events.clone())))
            .collect();
        tasks.push(tokio::spawn(chores::keep_partitions(app.clone())));
        tasks.push(tokio::spawn(chores::keep_leases(app.clone(), id, Arc::clone(&leases), events.clone(), leaving.clone())));
        tasks.push(tokio::spawn(chores::backstop(app.clone(), Arc::clone(&leases), events.clone(), Arc::clone(&look))));
        tasks.push(tokio::spawn(chores::listen(app.clone(), events.clone())));
        Self {
            app,
            id,
            leases,
            desks: HashMap::new(),
            ready: Ready::default(),
            due: BTreeSet::new(),
            paced: BTreeSet::new(),
            readings: 0,
            calls: HashMap::new(),
            writers,
            events,
            look,
            leaving,
            releasing: false,
            swept: Duration::ZERO,
            draining: Vec::new(),
            drained_by: 0,
            tasks: Tasks(tasks),
        }
    }

    async fn run(mut self, mut arriving: UnboundedReceiver<Event>) {
        let mut farewell = None;
        let mut gathered = Vec::with_capacity(256);
        let app = self.app.clone();
        loop {
            let nap = self.nap();
            tokio::select! {
                count = arriving.recv_many(&mut gathered, 256) => {
                    if count == 0 {
                        return;
                    }
                    gathered.drain(..).for_each(|event| self.on(event));
                }
                () = app.signals.arrived() => self.signalled(),
                _ = self.leaving.changed() => {}
                () = tokio::time::sleep(nap) => {}
            }
            let leaves = *self.leaving.borrow();
            if leaves {
                self.leases.hand_over(usize::MAX);
            }
            self.wake();
            self.pump();
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
        if let Err(failed) = leases::leave(&self.app.store, self.id).await {
            tracing::warn!(%failed, "the leases run out by themselves");
        }
        drop(self.tasks);
    }

    /// How long there is nothing to do.
    fn nap(&self) -> Duration {
        let now = self.app.now();
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
                if gained {
                    self.look.ask();
                }
            }
            Event::Released(buckets) => {
                self.releasing = false;
                self.leases.released(&buckets, uptime);
                buckets.into_iter().for_each(|bucket| self.drop_bucket(bucket));
            }
            Event::Looked { found, odd, answers } => {
                let nothing = found.is_empty() && odd.is_empty() && answers >= self.drained_by;
                found.into_iter().for_each(|owed| self.owe(&owed));
                odd.into_iter().for_each(|odd| self.put_right(&odd));
                if nothing && self.is_idle() {
                    self.draining.drain(..).for_each(|tell| _ = tell.send(()));
                }
            }
            Event::Heard(owed) => self.owe(&owed),
            Event::Read(reading) => self.was_read(reading),
            Event::Called(endpoint, done) => {
                if let Some(desk) = self.desk(endpoint, done.settlement.hold) {
                    desk.call_ended(uptime);
                    self.calls.remove(&done.settlement.message);
                    self.ready.insert(endpoint);
                    let Done { settlement, attempts, due_again } = done;
                    self.settle(writer::Result { endpoint, settlement, attempts, due_again });
                }
            }
            Event::Broke(endpoint, hold, message) => {
                if let Some(desk) = self.desk(endpoint, hold) {
                    desk.call_ended(uptime);
                    if let Some(due_at) = desk.let_go(message) {
                        desk.signal(due_at, uptime);
                    }
                    self.calls.remove(&message);
                    self.ready.insert(endpoint);
                }
            }
            Event::Settled(batch) => self.settled(batch),
            Event::Drain(tell) => {
                self.draining.push(tell);
                self.drained_by = self.look.ask();
            }
        }
    }

    /// The desk of an endpoint, for what was begun by `hold`.
    fn desk(&mut self, endpoint: EndpointId, hold: Hold) -> Option<&mut Desk> {
        self.desks.get_mut(&endpoint).filter(|desk| desk.hold == hold)
    }

    /// Takes the signals of this process: those for others are passed on.
    fn signalled(&mut self) {
        let (ours, others): (Vec<Owed>, Vec<Owed>) =
            self.app.signals.take().into_iter().partition(|owed| self.leases.to_start(owed.bucket, self.leases.now()).is_some());
        ours.iter().for_each(|owed| self.owe(owed));
        if !others.is_empty() {
            let app = self.app.clone();
            tokio::spawn(async move { signal::tell_others(&app, &others).await });
        }
    }

    /// Something is owed: its desk looks at it, if its bucket is ours.
    fn owe(&mut self, owed: &Owed) {
        let uptime = self.leases.now();
        if let Some(hold) = self.leases.to_start(owed.bucket, uptime) {
            self.desks.entry(owed.endpoint).or_insert_with(|| Desk::new(owed.merchant, hold, uptime)).signal(owed.due_at, uptime);
            self.ready.insert(owed.endpoint);
        }
    }

    /// Settles a delivery that needs us without being due, unless it is in hand.
    fn put_right(&mut self, odd: &Odd) {
        let Odd { merchant, endpoint, bucket, message, oddity, attempts, attempts_before } = *odd;
        let (now, uptime) = (self.app.now(), self.leases.now());
        let Some(hold) = self.leases.to_start(bucket, uptime) else { return };
        let desk = self.desks.entry(endpoint).or_insert_with(|| Desk::new(merchant, hold, uptime));
        if desk.holds(message) {
            return;
        }
        desk.take(message, now, false);
        let (fate, due_again) = match oddity {
            Oddity::Unwanted => (Fate::Gone, None),
            Oddity::EndpointRemoved => {
                let attempts = attempts_before.saturating_add(attempts);
                (Fate::Failed { attempts, reason: "endpoint removed".to_owned(), failed_at: now }, None)
            }
            Oddity::Stuck => (Fate::Postponed { due_at: now, attempts }, Some(now)),
        };
        let settlement = Settlement { hold, merchant, message, fate };
        self.settle(writer::Result { endpoint, settlement, attempts: Vec::new(), due_again });
    }

    /// What time has brought: leases that ran out, retries, rates.
    fn wake(&mut self) {
        let (now, uptime) = (self.app.now(), self.leases.now());
        self.leases.expire(uptime).into_iter().for_each(|bucket| self.drop_bucket(bucket));
        while let Some((at, endpoint)) = self.due.pop_first() {
            if at > now {
                self.due.insert((at, endpoint));
                break;
            }
            if let Some(desk) = self.desks.get_mut(&endpoint) {
                desk.signal(at, uptime);
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
            // A retry of a desk that is not kept any more is found by the look at the table.
            self.desks.retain(|_, desk| !desk.is_idle() || uptime.saturating_sub(desk.touched) < KEPT_IDLE);
        }
    }

    /// Reads for the desks that want it, as far as readers are free.
    fn pump(&mut self) {
        let uptime = self.leases.now();
        while self.readings < READERS && self.calls.len() < MOST_CALLS && !self.ready.is_empty() {
            let (mut asked, mut in_hand, mut peers) = (Vec::new(), Vec::new(), HashMap::new());
            for endpoint in self.ready.take(MOST_ENDPOINTS) {
                let Some(desk) = self.desks.get_mut(&endpoint) else { continue };
                if self.leases.to_start(desk.hold.bucket, uptime) != Some(desk.hold) {
                    continue;
                }
                match desk.wants(uptime) {
                    Wants::Nothing => {}
                    Wants::Later(wait) => _ = self.paced.insert((uptime + wait, endpoint)),
                    Wants::Read(most) => {
                        in_hand.extend(desk.in_hand());
                        peers.extend(desk.peer.clone().map(|peer| (endpoint, peer)));
                        asked.push((desk.read(endpoint, most), desk.hold));
                    }
                }
            }
            if !asked.is_empty() {
                self.readings += 1;
                let (app, events) = (self.app.clone(), self.events.clone());
                tokio::spawn(async move {
                    let reading = read(&app, asked, &in_hand, peers).await;
                    let _ = events.send(Event::Read(reading));
                });
            }
        }
    }

    /// What a reading brought is called, parked or dropped.
    fn was_read(&mut self, reading: Reading) {
        self.readings = self.readings.saturating_sub(1);
        let uptime = self.leases.now();
        let (rows, mut peers) = match reading.outcome {
            Ok(read) => read,
            Err(failed) => {
                tracing::warn!(%failed, endpoints = reading.asked.len(), "work could not be read");
                // Not at once: the database has trouble.
                for (wanted, hold) in reading.asked {
                    if let Some(desk) = self.desk(wanted.endpoint, hold) {
                        desk.was_not_read(uptime);
                        self.paced.insert((uptime + Duration::from_millis(200), wanted.endpoint));
                    }
                }
                return;
            }
        };
        let mut by_endpoint: HashMap<EndpointId, Vec<Due>> = HashMap::with_capacity(reading.asked.len());
        rows.into_iter().for_each(|due| by_endpoint.entry(due.endpoint).or_default().push(due));
        for (wanted, hold) in reading.asked {
            let rows = by_endpoint.remove(&wanted.endpoint).unwrap_or_default();
            let peer = peers.remove(&wanted.endpoint);
            if self.desk(wanted.endpoint, hold).is_some() {
                self.take(wanted, rows, peer, reading.read_at);
            }
        }
    }

    /// Takes the rows of one endpoint in hand, in the order in which they are due.
    fn take(&mut self, wanted: Wanted, rows: Vec<Due>, peer: Option<Result<Arc<Peer>, Unfit>>, read_at: DateTime<Utc>) {
        let endpoint = wanted.endpoint;
        let uptime = self.leases.now();
        let Some(mut desk) = self.desks.remove(&endpoint) else { return };
        let hold = self.leases.to_start(desk.hold.bucket, uptime).filter(|hold| *hold == desk.hold);
        let full = i64::try_from(rows.len()).unwrap_or(i64::MAX) >= wanted.most;
        let last = rows.last().map_or(read_at, |due| due.due_at);
        let mut stopped = None;
        let unfit = match peer {
            Some(Ok(peer)) => {
                desk.peer = Some(peer);
                None
            }
            Some(Err(unfit)) => Some(unfit),
            None => None,
        };
        let peer = desk.peer.clone();
        let mut rows = rows;
        for due in &mut rows {
            let Some(hold) = hold else { break };
            let settlement = |fate| Settlement { hold, merchant: due.merchant, message: due.message, fate };
            if due.discard {
                let settlement = settlement(Fate::Gone);
                desk.take(due.message, due.due_at, false);
                self.settle(writer::Result { endpoint, settlement, attempts: Vec::new(), due_again: None });
            } else if due.text.is_none() {
                let settlement = settlement(Fate::Parked);
                desk.take(due.message, due.due_at, false);
                self.settle(writer::Result { endpoint, settlement, attempts: Vec::new(), due_again: Some(due.due_at) });
            } else if let Some(unfit) = &unfit {
                desk.take(due.message, due.due_at, false);
                let Done { settlement, attempts, due_again } = attempt::refuse(&self.app, due, hold, unfit);
                self.settle(writer::Result { endpoint, settlement, attempts, due_again });
            } else if let Some(peer) = peer.as_ref().filter(|_| desk.may_start(uptime)) {
                let message = due.message;
                if let Some(letter) = Letter::new(due, hold) {
                    desk.take(message, due.due_at, true);
                    self.call(endpoint, Arc::clone(peer), letter);
                } else {
                    tracing::error!(%message, "a message of an unknown kind waits for a newer program");
                }
            } else {
                stopped = Some(due.due_at);
                break;
            }
        }
        desk.was_read(stopped.unwrap_or(if full { last } else { read_at }), stopped.is_some() || full, uptime);
        self.desks.insert(endpoint, desk);
        self.ready.insert(endpoint);
    }

    /// Starts a call.
    fn call(&mut self, endpoint: EndpointId, peer: Arc<Peer>, letter: Letter) {
        let (app, leases) = (self.app.clone(), Arc::clone(&self.leases));
        let message = letter.message;
        let guard = Broken { events: self.events.clone(), at: Some((endpoint, letter.hold, message)) };
        let task = tokio::spawn(async move {
            let mut guard = guard;
            if let Some(done) = attempt::attempt(&app, &leases, &peer, &letter).await {
                guard.at = None;
                let _ = guard.events.send(Event::Called(endpoint, done));
            }
        });
        self.calls.insert(message, task.abort_handle());
    }

    fn settle(&self, result: writer::Result) {
        let writer = self.writers.get(usize::from(result.settlement.hold.bucket) % WRITERS);
        if let Some(writer) = writer {
            let _ = writer.send(result);
        }
    }

    /// A batch was settled: its messages are not in hand any more, and lanes go on.
    fn settled(&mut self, batch: Batch) {
        let (now, uptime) = (self.app.now(), self.leases.now());
        for Settled { endpoint, hold, message, due_again } in batch.messages {
            let Some(desk) = self.desk(endpoint, hold) else { continue };
            desk.let_go(message);
            match due_again {
                Some(at) if at <= now => desk.signal(at, uptime),
                Some(at) => _ = self.due.insert((at, endpoint)),
                None => {}
            }
            self.ready.insert(endpoint);
        }
        for (_, endpoint) in batch.unparked {
            if let Some(desk) = self.desks.get_mut(&endpoint) {
                desk.signal(batch.now, uptime);
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
        let gone: Vec<EndpointId> =
            self.desks.iter().filter(|(_, desk)| desk.hold.bucket == bucket).map(|(endpoint, _)| *endpoint).collect();
        for endpoint in gone {
            let Some(desk) = self.desks.remove(&endpoint) else { continue };
            for message in desk.in_hand() {
                if let Some(call) = self.calls.remove(&message) {
                    call.abort();
                }
            }
        }
    }

    /// Gives buckets back of which nothing is in hand any more.
    fn give_back(&mut self) {
        if self.releasing {
            return;
        }
        let mut leaving = self.leases.leaving();
        if leaving.is_empty() {
            return;
        }
        let busy: HashSet<u8> = self.desks.values().filter(|desk| !desk.is_empty()).map(|desk| desk.hold.bucket).collect();
        leaving.retain(|bucket| !busy.contains(bucket));
        if leaving.is_empty() {
            return;
        }
        self.releasing = true;
        let (app, id, events) = (self.app.clone(), self.id, self.events.clone());
        tokio::spawn(async move {
            // If that fails they run out by themselves.
            if let Err(failed) = leases::release(&app.store, id, &leaving).await {
                tracing::warn!(%failed, "buckets were not given back; their leases run out");
            }
            let _ = events.send(Event::Released(leaving));
        });
    }

    fn is_idle(&self) -> bool {
        self.readings == 0 && self.ready.is_empty() && self.paced.is_empty() && self.desks.values().all(Desk::is_idle)
    }

    fn say_when_drained(&self) {
        if !self.draining.is_empty() && self.is_idle() {
            self.look.ask();
        }
    }
}

/// Says that a call broke off, unless it came to its end.
struct Broken {
    events: UnboundedSender<Event>,
    at: Option<(EndpointId, Hold, Uuid)>,
}

impl Drop for Broken {
    fn drop(&mut self) {
        if let Some((endpoint, hold, message)) = self.at.take() {
            let _ = self.events.send(Event::Broke(endpoint, hold, message));
        }
    }
}

/// Reads what is due, and the settings of endpoints that were not known or have changed.
async fn read(app: &App, asked: Vec<(Wanted, Hold)>, in_hand: &[Uuid], known: HashMap<EndpointId, Arc<Peer>>) -> Reading {
    let read_at = app.now();
    let wanted: Vec<Wanted> = asked.iter().map(|(wanted, _)| *wanted).collect();
    let outcome = async {
        let rows = deliveries::due(&app.store, &wanted, in_hand, read_at).await?;
        let mut peers = Peers::new();
        for due in &rows {
            let current = known.get(&due.endpoint).is_some_and(|peer| peer.revision == due.revision);
            if current || peers.contains_key(&due.endpoint) {
                continue;
            }
            if let Some(endpoint) = endpoints::find(&app.store, due.merchant, due.endpoint).await? {
                peers.insert(due.endpoint, Peer::new(app, due.merchant, &endpoint).map(Arc::new));
            }
        }
        Ok((rows, peers))
    };
    let outcome = outcome.await;
    Reading { asked, read_at, outcome }
}
