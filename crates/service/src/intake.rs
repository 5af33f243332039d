//! The intake queue: order messages that arrive at the same time share an upsert.
//!
//! No message waits for others to join it. A free writer takes at once whatever is queued, and while it writes, the next batch
//! gathers. So a lone message is written alone and at once, and under load the batches grow as large as they need to be. Each
//! message is answered after the commit that holds it.

pub mod counted;
mod size;
mod upsert;

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::id::MerchantId;
use store::Failed;
use store::orders::snapshots::Snapshot;
use tokio::sync::oneshot;
use tokio::time::timeout;

use self::counted::Counted;
use self::size::Size;
use self::upsert::upsert_batch;
pub use self::upsert::{PublishOutcome, TRIES, upsert};
use crate::node::Node;
use crate::node::shares::{Full, Most, Party, Share, Shares};

/// A message that waits for its commit.
struct Job {
    /// A hash of each order's key.
    hashes: Vec<u64>,
    size: Size,
    orders: Vec<Snapshot<'static>>,
    answer: oneshot::Sender<Result<Vec<PublishOutcome>, Failed>>,
}

/// The queue, and the messages being worked on.
#[derive(Default)]
pub struct Intake {
    queue: Mutex<Queue>,
    hasher: RandomState,
    in_flight: Arc<Shares>,
    /// Warnings that are not stored yet.
    pub counted: Counted,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    /// The size of all jobs together.
    size: Size,
    writers: usize,
}

impl Queue {
    /// Queues a job. Returns whether another writer should start, of at most `most`. The first one writes whatever is queued;
    /// others start only when a full batch waits. Few writers make large batches, and a large batch costs the database half of
    /// what small ones do.
    fn push(&mut self, job: Job, most: usize) -> bool {
        self.size = self.size.plus(job.size);
        self.jobs.push_back(job);
        let wanted = self.writers == 0 || (self.writers < most && self.size.fills_a_batch());
        self.writers += usize::from(wanted);
        wanted
    }

    /// Takes the next batch from the front: as much as fits, or one message. A message that repeats an order of the batch stays for
    /// the next one, and so does every message that would overtake it.
    fn take(&mut self) -> Vec<Job> {
        let mut batch: Vec<Job> = Vec::new();
        let mut size = Size::default();
        // Orders are compared by hash. After a collision, the second one merely waits for the next batch.
        let mut taken: HashSet<u64> = HashSet::new();
        let mut staying = Vec::new();
        while let Some(job) = self.jobs.pop_front() {
            // It waited too long and has been answered.
            if job.answer.is_closed() {
                self.size = self.size.less(job.size);
                continue;
            }
            if !batch.is_empty() && !size.plus(job.size).fits_a_batch() {
                self.jobs.push_front(job);
                break;
            }
            let repeats = job.hashes.iter().any(|hash| taken.contains(hash));
            taken.extend(&job.hashes);
            if repeats {
                staying.push(job);
            } else {
                size = size.plus(job.size);
                batch.push(job);
            }
        }
        staying.into_iter().rev().for_each(|job| self.jobs.push_front(job));
        self.size = self.size.less(size);
        batch
    }
}

impl Intake {
    /// Stores the orders of a message, together with whatever else is queued. Returns once they are committed, or when that
    /// takes too long.
    pub(crate) async fn publish(self: &Arc<Self>, node: &Node, orders: Vec<Snapshot<'static>>) -> Result<Vec<PublishOutcome>, Failed> {
        let (answer, answered) = oneshot::channel();
        let hashes = orders.iter().map(|order| self.hasher.hash_one(order.key())).collect();
        let size = Size::of(&orders);
        if self.lock().push(Job { hashes, size, orders, answer }, node.settings.intake.writers.get()) {
            tokio::spawn(write(node.clone(), Arc::clone(self)));
        }
        match timeout(node.settings.database.answer_timeout(), answered).await {
            Ok(answer) => answer.unwrap_or_else(|_| Err(Failed::Unreachable("the writer of the order batch ended early".to_owned()))),
            Err(_) => Err(Failed::Unreachable("the orders were not written in time".to_owned())),
        }
    }

    /// Admits a message of `merchant`, unless `most` are being processed already, or a quarter of that for the merchant alone. It
    /// counts until the share is dropped, so this bounds the queue and the memory for parsed messages.
    pub fn admit(&self, merchant: MerchantId, most: u32) -> Result<Share, Full> {
        self.in_flight.take(Party::Merchant(merchant), 1, Most::quartered(most.into()))
    }

    /// The number of messages that wait for a writer.
    pub fn queued(&self) -> usize {
        self.lock().jobs.len()
    }

    /// The number of active writers.
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

/// An active writer. It is uncounted however it ends.
struct Writer {
    intake: Arc<Intake>,
    left: bool,
}

impl Writer {
    /// The next batch. If nothing is queued, the writer ends under the same lock, so that the next job starts a new one.
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

/// Writes a batch. If that fails, writes each of its messages alone, so that one cannot make the others fail.
async fn store_batch(node: &Node, batch: Vec<Job>) {
    let orders: Vec<&Snapshot<'static>> = batch.iter().flat_map(|job| &job.orders).collect();
    node.metrics.batches.observe(f64::from(u32::try_from(orders.len()).unwrap_or(u32::MAX)));
    match upsert_batch(node, &orders).await {
        Ok(outcomes) => {
            let mut outcomes = outcomes.into_iter();
            for job in batch {
                let own = outcomes.by_ref().take(job.orders.len()).collect();
                // The caller may have hung up.
                let _ = job.answer.send(Ok(own));
            }
        }
        // An unreachable database would let each of them wait in turn.
        Err(failed) if batch.len() == 1 || matches!(failed, Failed::Unreachable(_)) => {
            for job in batch {
                let _ = job.answer.send(Err(failed.clone()));
            }
        }
        Err(failed) => {
            tracing::warn!(%failed, messages = batch.len(), "writing a batch of orders failed, writing its messages one by one");
            for job in batch {
                let orders: Vec<&Snapshot<'static>> = job.orders.iter().collect();
                let _ = job.answer.send(upsert_batch(node, &orders).await);
            }
        }
    }
}
