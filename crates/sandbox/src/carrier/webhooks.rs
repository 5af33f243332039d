//! What the carrier still has to tell, and how it was told to tell it.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::book::Report;
use super::exchange::State;
use super::sending::{Target, send};

/// The most events that wait; the oldest are dropped first.
const MOST_WAITING: usize = 50_000;
/// How many trackers are told of at once.
const AT_ONCE: usize = 16;
/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// How webhooks are sent. By default in order, once, and ten times at most if they are not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sending {
    /// How often each is sent, although it was taken.
    pub copies: u32,
    /// How often it is tried at most, until it is answered with 2xx.
    pub tries: u32,
    /// The pause after the first try; each one after it is twice as long, up to ten seconds.
    pub pause: Duration,
    /// Of the events of a tracker that wait, the newest is sent first.
    pub newest_first: bool,
}

/// What became of the webhooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many events are not done with.
    pub waiting: usize,
    /// How often an event was taken, its copies included.
    pub taken: u64,
    /// How many events were given up, because they were not taken or too many waited.
    pub given_up: u64,
}

impl Default for Sending {
    fn default() -> Self {
        Self { copies: 1, tries: 10, pause: Duration::from_millis(100), newest_first: false }
    }
}

/// The events that wait.
#[derive(Default)]
pub(super) struct Webhooks {
    queue: Mutex<Queue>,
    /// Changes when there may be something to send, or something was sent.
    changes: watch::Sender<()>,
}

#[derive(Default)]
struct Queue {
    target: Option<Target>,
    sending: Sending,
    is_held: bool,
    waiting: VecDeque<Event>,
    /// The trackers that are told of now: one event of each at a time.
    busy: HashSet<String>,
    taken: u64,
    given_up: u64,
}

/// An event that waits.
struct Event {
    code: String,
    body: Bytes,
}

impl Webhooks {
    pub(super) fn aim(&self, target: Target) {
        self.lock().target = Some(target);
    }

    pub(super) fn send_like(&self, sending: Sending) {
        self.lock().sending = sending;
    }

    pub(super) fn hold(&self, is_held: bool) {
        self.lock().is_held = is_held;
        self.changes.send_replace(());
    }

    /// These wait from now on, if anybody wants to be told.
    pub(super) fn enqueue(&self, reports: Vec<Report>) {
        let mut queue = self.lock();
        if queue.target.is_none() || reports.is_empty() {
            return;
        }
        queue.waiting.extend(reports.into_iter().map(|report| Event { code: report.code, body: report.event.to_string().into() }));
        while queue.waiting.len() > MOST_WAITING {
            queue.waiting.pop_front();
            queue.given_up += 1;
        }
        drop(queue);
        self.changes.send_replace(());
    }

    pub(super) fn tally(&self) -> Tally {
        let queue = self.lock();
        Tally { waiting: queue.waiting.len() + queue.busy.len(), taken: queue.taken, given_up: queue.given_up }
    }

    /// Waits until nothing waits; without success, what is the case is an error.
    pub(super) async fn settled(&self, within: Duration) -> Result<Tally, Tally> {
        let mut changes = self.changes.subscribe();
        let done = async { while self.tally().waiting > 0 && changes.changed().await.is_ok() {} };
        match tokio::time::timeout(within, done).await {
            Ok(()) => Ok(self.tally()),
            Err(_) => Err(self.tally()),
        }
    }

    /// The next event that may be sent. Its tracker is busy until it is done with.
    fn take(&self) -> Option<Event> {
        let mut queue = self.lock();
        let Queue { is_held, sending, waiting, busy, .. } = &mut *queue;
        if *is_held {
            return None;
        }
        let first = waiting.iter().position(|event| !busy.contains(&event.code))?;
        let code = waiting.get(first)?.code.clone();
        let next = if sending.newest_first { waiting.iter().rposition(|event| event.code == code)? } else { first };
        let event = waiting.remove(next)?;
        busy.insert(code);
        Some(event)
    }

    /// Sends an event as often as it was told, and is done with it.
    async fn deliver(&self, event: Event) {
        let copies = self.lock().sending.copies;
        let mut taken = 0;
        while taken < copies && self.attempt(&event).await {
            taken += 1;
        }
        let mut queue = self.lock();
        queue.taken += u64::from(taken);
        queue.given_up += u64::from(taken < copies);
        queue.busy.remove(&event.code);
        drop(queue);
        self.changes.send_replace(());
    }

    /// Tries until it is taken; false when it was tried too often.
    async fn attempt(&self, event: &Event) -> bool {
        let Sending { tries, mut pause, .. } = self.lock().sending;
        for tried in 0..tries {
            if tried > 0 {
                sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            let target = self.lock().target.clone();
            if let Some(target) = target
                && send(&target, event.body.clone()).await
            {
                return true;
            }
        }
        false
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends what waits for as long as it is polled.
pub(super) async fn send_all(state: Arc<State>) {
    let mut changes = state.webhooks.changes.subscribe();
    let mut deliveries = JoinSet::new();
    loop {
        while deliveries.len() < AT_ONCE
            && let Some(event) = state.webhooks.take()
        {
            let state = Arc::clone(&state);
            deliveries.spawn(async move { state.webhooks.deliver(event).await });
        }
        tokio::select! {
            // It fails only when the carrier is gone, and then so is this.
            _ = changes.changed() => {}
            Some(_) = deliveries.join_next() => {}
        }
    }
}
