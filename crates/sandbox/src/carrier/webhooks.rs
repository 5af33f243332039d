//! The carrier's queue of webhooks.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::book::Report;
use super::sending::{Target, send};

/// The most events in the queue; the oldest are dropped first.
const MOST_WAITING: usize = 50_000;
/// The most webhooks sent at the same time, each for a different tracker.
const AT_ONCE: usize = 16;
/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// The way webhooks are sent. By default they go out in order and once, with up to ten attempts each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sending {
    /// The number of times each is sent, even if the first was accepted.
    pub copies: u32,
    /// The most attempts for each copy, until one is answered with 2xx.
    pub tries: u32,
    /// The pause after the first attempt. It doubles after each further one, up to ten seconds.
    pub pause: Duration,
    /// Sends a tracker's newest waiting event first.
    pub newest_first: bool,
}

/// Counts of webhooks by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Events queued or being sent.
    pub waiting: usize,
    /// Webhooks accepted, copies included.
    pub taken: u64,
    /// Events given up because they were not accepted, or because the queue was full.
    pub given_up: u64,
}

impl Default for Sending {
    fn default() -> Self {
        Self { copies: 1, tries: 10, pause: Duration::from_millis(100), newest_first: false }
    }
}

/// The queue of events and the settings for sending them.
#[derive(Default)]
pub(super) struct Webhooks {
    queue: Mutex<Queue>,
    /// Signals that there may be something to send, or that something was sent.
    changes: watch::Sender<()>,
}

#[derive(Default)]
struct Queue {
    target: Option<Target>,
    sending: Sending,
    is_held: bool,
    waiting: VecDeque<Event>,
    /// The trackers with an event being sent: one at a time for each.
    busy: HashSet<String>,
    taken: u64,
    given_up: u64,
}

/// An event to send.
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

    /// Queues these reports, if a target is set.
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

    /// Waits until the queue is empty. On a timeout, the error holds the current counts.
    pub(super) async fn settled(&self, within: Duration) -> Result<Tally, Tally> {
        let mut changes = self.changes.subscribe();
        let done = async { while self.tally().waiting > 0 && changes.changed().await.is_ok() {} };
        match tokio::time::timeout(within, done).await {
            Ok(()) => Ok(self.tally()),
            Err(_) => Err(self.tally()),
        }
    }

    /// Takes the next event that may be sent and marks its tracker as busy.
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

    /// Sends all copies of an event and marks its tracker as free.
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

    /// Sends one copy, with retries. Returns whether it was accepted.
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

/// Sends queued events for as long as it is polled.
pub(super) async fn send_all(webhooks: Arc<Webhooks>) {
    let mut changes = webhooks.changes.subscribe();
    let mut deliveries = JoinSet::new();
    loop {
        while deliveries.len() < AT_ONCE
            && let Some(event) = webhooks.take()
        {
            let webhooks = Arc::clone(&webhooks);
            deliveries.spawn(async move { webhooks.deliver(event).await });
        }
        tokio::select! {
            // Fails only if the carrier has stopped, and then this task ends as well.
            _ = changes.changed() => {}
            Some(_) = deliveries.join_next() => {}
        }
    }
}
