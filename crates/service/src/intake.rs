//! The intake queue: order messages that arrive at the same time share an upsert.
//!
//! No message waits for others to join it. A free writer takes at once whatever is queued, and while it writes, the next batch
//! gathers. So a lone message is written alone and at once, and under load the batches grow as large as they need to be. Each
//! message is answered after the commit that holds it.

mod upsert;

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use store::Failed;
use store::orders::snapshots::Snapshot;
use tokio::sync::oneshot;

use self::upsert::upsert_batch;
pub use self::upsert::{Fate, TRIES, upsert};
use crate::node::Node;

/// How many orders a batch takes; a larger message is a batch of its own.
const MOST_ORDERS: usize = 64;

/// A message that waits for its commit.
struct Job {
    /// A hash of each order's key.
    hashes: Vec<u64>,
    orders: Vec<Snapshot<'static>>,
    answer: oneshot::Sender<Result<Vec<Fate>, Failed>>,
}

/// The queue, and the messages being worked on.
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
    pub(crate) async fn publish(self: &Arc<Self>, node: &Node, orders: Vec<Snapshot<'static>>) -> Result<Vec<Fate>, Failed> {
        let (answer, answered) = oneshot::channel();
        let hashes = orders.iter().map(|order| self.hasher.hash_one(order.key())).collect();
        if self.lock().push(Job { hashes, orders, answer }, node.settings.intake.writers.get()) {
            tokio::spawn(write(node.clone(), Arc::clone(self)));
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
async fn write(node: Node, intake: Arc<Intake>) {
    let mut writer = Writer { intake, left: false };
    while let Some(batch) = writer.next_batch() {
        store_batch(&node, batch).await;
    }
}

/// A writer at work. However it ends, its place is free again.
struct Writer {
    intake: Arc<Intake>,
    left: bool,
}

impl Writer {
    /// The next batch. When nothing is queued the writer leaves, under the same lock, so that whoever queues next sees it
    /// gone and starts another.
    fn next_batch(&mut self) -> Option<Vec<Job>> {
        let mut queue = self.intake.lock();
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
            self.intake.lock().writers -= 1;
        }
    }
}

/// Writes a batch. If it fails, each of its messages is written alone, so that one cannot spoil the others.
async fn store_batch(node: &Node, batch: Vec<Job>) {
    let orders: Vec<&Snapshot<'static>> = batch.iter().flat_map(|job| &job.orders).collect();
    node.metrics.batches.observe(f64::from(u32::try_from(orders.len()).unwrap_or(u32::MAX)));
    match upsert_batch(node, &orders).await {
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
                let _ = job.answer.send(upsert_batch(node, &orders).await);
            }
        }
    }
}
