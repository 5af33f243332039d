//! The batch writer: order messages that arrive at the same time share an upsert.
//!
//! Nobody waits for company. A message joins the queue; if a writer is free it takes at once whatever is queued, and while
//! it writes, the next batch gathers by itself. So a lone message is written alone and at once, and under load the
//! batches grow as large as they need to be. An answer is given after the commit that holds the message.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::id::MerchantId;
use domain::snapshot::{Version, judge};
use store::Failed;
use store::orders::{self, Published, Snapshot};
use tokio::sync::oneshot;
use wire::order::Received;

use super::{Fate, TRIES};
use crate::app::App;

/// How many orders a batch takes; a larger message is a batch of its own.
const MOST_ORDERS: usize = 64;

/// Whether a message can share an upsert: it brings no refunds, and each order once.
pub(super) fn suits(message: &Received<'_>) -> bool {
    let mut seen = HashSet::with_capacity(message.orders.len());
    message.orders.iter().all(|received| received.order.refunds.0.is_empty() && seen.insert(&*received.order.identifier.0))
}

/// Which order of which merchant.
type Key<'a> = (MerchantId, &'a str);

/// A message that waits for its commit.
struct Job {
    /// A hash of each order's key.
    hashes: Vec<u64>,
    orders: Vec<Snapshot<'static>>,
    answer: oneshot::Sender<Result<Vec<Fate>, Failed>>,
}

/// Where messages meet.
#[derive(Default)]
pub struct Intake {
    queue: Mutex<Queue>,
    hasher: RandomState,
    in_flight: AtomicU32,
}

/// The right of a message to be worked on.
pub struct Admission<'a>(&'a AtomicU32);

impl Drop for Admission<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    /// Orders of the jobs.
    orders: usize,
    /// Writers at work.
    writers: usize,
}

impl Queue {
    /// Queues a job, and answers whether one more writer is to start, of `most`. One writes whatever is queued; the others
    /// start when a whole batch waits. Few writers make large batches, and a large batch costs the database half of what
    /// small ones do.
    fn push(&mut self, job: Job, most: usize) -> bool {
        self.orders += job.orders.len();
        self.jobs.push_back(job);
        let wanted = self.writers == 0 || (self.writers < most && self.orders >= MOST_ORDERS);
        self.writers += usize::from(wanted);
        wanted
    }

    /// The next batch: from the front, up to [`MOST_ORDERS`] or one message. A message that repeats an order of the batch
    /// stays for the next one, and so does whatever would overtake it.
    fn take(&mut self) -> Vec<Job> {
        let mut batch: Vec<Job> = Vec::new();
        let mut count = 0;
        // Orders are told apart by a hash: should two ever share one, the second merely waits for the next batch.
        let mut taken: HashSet<u64> = HashSet::with_capacity(MOST_ORDERS);
        let mut staying = Vec::new();
        while let Some(job) = self.jobs.pop_front() {
            if count > 0 && count + job.orders.len() > MOST_ORDERS {
                self.jobs.push_front(job);
                break;
            }
            let repeats = job.hashes.iter().any(|hash| taken.contains(hash));
            taken.extend(&job.hashes);
            if repeats {
                staying.push(job);
            } else {
                count += job.orders.len();
                batch.push(job);
            }
        }
        staying.into_iter().rev().for_each(|job| self.jobs.push_front(job));
        self.orders -= count;
        batch
    }
}

impl Intake {
    /// Stores the orders of a message, together with whatever else is queued, and answers once they are committed.
    pub(super) async fn publish(&self, app: &App, orders: Vec<Snapshot<'static>>) -> Result<Vec<Fate>, Failed> {
        let (answer, answered) = oneshot::channel();
        let hashes = orders.iter().map(|order| self.hasher.hash_one(order.key())).collect();
        if self.lock().push(Job { hashes, orders, answer }, app.settings.intake.writers.get()) {
            tokio::spawn(write(app.clone()));
        }
        answered.await.unwrap_or_else(|_| Err(Failed::Unreachable("the writer is gone".to_owned())))
    }

    /// Lets a message in, unless `most` are being worked on already. It counts until the admission is dropped, so that this
    /// bounds the queue, and what is read and parsed for it.
    pub fn admit(&self, most: u32) -> Option<Admission<'_>> {
        let admission = Admission(&self.in_flight);
        (self.in_flight.fetch_add(1, Ordering::SeqCst) < most).then_some(admission)
    }

    /// How many messages wait for a writer.
    pub fn queued(&self) -> usize {
        self.lock().jobs.len()
    }

    /// How many writers are at work.
    pub fn writers(&self) -> usize {
        self.lock().writers
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A writer: takes batches until nothing is queued.
async fn write(app: App) {
    let mut writer = Writer { app, left: false };
    while let Some(batch) = writer.next_batch() {
        store_batch(&writer.app, batch).await;
    }
}

/// A writer at work. However it ends, its place is free again.
struct Writer {
    app: App,
    left: bool,
}

impl Writer {
    /// The next batch. When nothing is queued the writer leaves, under the same lock, so that whoever queues next sees it
    /// gone and starts another.
    fn next_batch(&mut self) -> Option<Vec<Job>> {
        let mut queue = self.app.intake.lock();
        if queue.jobs.is_empty() {
            queue.writers -= 1;
            self.left = true;
            return None;
        }
        Some(queue.take())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if !self.left {
            self.app.intake.lock().writers -= 1;
        }
    }
}

/// Writes a batch. If it fails, each of its messages is written alone, so that one cannot spoil the others.
async fn store_batch(app: &App, batch: Vec<Job>) {
    let orders: Vec<&Snapshot<'static>> = batch.iter().flat_map(|job| &job.orders).collect();
    app.metrics.batches.observe(f64::from(u32::try_from(orders.len()).unwrap_or(u32::MAX)));
    match fates(app, &orders).await {
        Ok(fates) => {
            let mut fates = fates.into_iter();
            for job in batch {
                let own = fates.by_ref().take(job.orders.len()).collect();
                // A caller who is gone needs no answer.
                let _ = job.answer.send(Ok(own));
            }
        }
        Err(failed) if batch.len() == 1 => {
            for job in batch {
                let _ = job.answer.send(Err(failed.clone()));
            }
        }
        Err(failed) => {
            tracing::warn!(%failed, messages = batch.len(), "a batch failed; its messages are written alone");
            for job in batch {
                let orders: Vec<&Snapshot<'static>> = job.orders.iter().collect();
                let _ = job.answer.send(fates(app, &orders).await);
            }
        }
    }
}

/// Stores `orders` and answers what became of each.
async fn fates(app: &App, orders: &[&Snapshot<'static>]) -> Result<Vec<Fate>, Failed> {
    let mut sorted = orders.to_vec();
    sorted.sort_unstable_by_key(|order| order.key());
    let mut tries = 1;
    let published = loop {
        match orders::publish_batch(&app.store, &sorted).await {
            Err(Failed::Collided(_)) if tries < TRIES => tries += 1,
            done => break done?,
        }
    };
    let taken: HashMap<Key<'_>, &Published> = published.iter().map(|taken| ((taken.merchant, taken.identifier.as_str()), taken)).collect();
    let stored = if taken.len() == orders.len() { HashMap::new() } else { stored_versions(app, orders, &taken).await? };
    let fate = |order: &&Snapshot<'static>| match taken.get(&order.key()) {
        Some(published) => Fate::of(published),
        None => Fate::no_news(judge(stored.get(&(order.merchant, order.identifier.to_string())), &order.version)),
    };
    Ok(orders.iter().map(fate).collect())
}

/// The stored versions of the orders that were no news, to tell the repeated from the stale.
async fn stored_versions(
    app: &App,
    orders: &[&Snapshot<'static>],
    taken: &HashMap<Key<'_>, &Published>,
) -> Result<HashMap<(MerchantId, String), Version>, Failed> {
    let mut rest: HashMap<MerchantId, Vec<&str>> = HashMap::new();
    for order in orders.iter().filter(|order| !taken.contains_key(&order.key())) {
        rest.entry(order.merchant).or_default().push(&order.identifier);
    }
    let mut stored = HashMap::new();
    for (merchant, identifiers) in rest {
        let versions = orders::current_versions(&app.store, merchant, &identifiers).await?;
        stored.extend(versions.into_iter().map(|(identifier, version)| ((merchant, identifier), version)));
    }
    Ok(stored)
}
