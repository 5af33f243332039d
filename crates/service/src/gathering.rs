//! Queues of work that can be done together: what arrives while other work of its kind is done shares a transaction.
//!
//! Whoever comes first works alone and at once. What arrives meanwhile gathers, and is done in batches, one after the other, until nothing
//! is left. So work that comes alone costs what it always did, and under load the batches grow as large as they need to be. If the first
//! one takes long, because somebody else holds a lock, the others go on without it.
//!
//! While there is traffic, a batch waits for a moment until as much has arrived as the one before it had: whoever was answered just now
//! may come again. Without traffic nobody waits for others to join.

mod carried;
mod wanted;
mod work;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::id::MerchantId;
use store::Failed;
use tokio::sync::{Notify, oneshot};
use tokio::time::timeout;

pub use self::carried::{Applied, Carried};
pub use self::wanted::{Wanted, WantedItem};
pub use self::work::Work;

/// The most that a batch holds. It bounds what has to be done once more if a batch fails.
const MOST: usize = 64;

/// The most of one merchant in a batch, so that a flood of one does not make the others wait.
const MOST_OF_ONE: usize = MOST / 4;

/// A batch of this size is a sign of traffic.
const TRAFFIC: usize = 3;

/// The longest wait for a batch to be as large as the one before it.
const LONGEST_WAIT: Duration = Duration::from_millis(2);

/// Work that waits for its batch. If the answer is dropped, the caller does it alone.
pub struct Job<W: Work> {
    pub work: W,
    pub answer: oneshot::Sender<Result<W::Done, Failed>>,
}

/// The two queues of a kind of work. While the batch of one is written, that of the other is made and answered, so that neither the
/// database nor the process waits for the other one. All work of a merchant is in the same queue, and so keeps its order.
pub struct Queues<W: Work> {
    even: Arc<Gathering<W>>,
    odd: Arc<Gathering<W>>,
}

impl<W: Work> Default for Queues<W> {
    fn default() -> Self {
        Self { even: Arc::default(), odd: Arc::default() }
    }
}

impl<W: Work> Queues<W> {
    /// The queue of this merchant.
    pub(crate) fn of(&self, merchant: MerchantId) -> &Arc<Gathering<W>> {
        if merchant.0.as_u128().is_multiple_of(2) { &self.even } else { &self.odd }
    }
}

/// The work that waits, and what is being done meanwhile.
pub struct Gathering<W: Work> {
    queue: Mutex<Queue<W>>,
    /// The writer waits for this if it wants more.
    enough: Notify,
}

struct Queue<W: Work> {
    jobs: VecDeque<Job<W>>,
    stage: Stage,
    /// The size of the batch before.
    before: usize,
    /// True while the writer waits for as much.
    wants_more: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Idle,
    /// Somebody works alone.
    Alone,
    /// A writer does what has gathered.
    Writing,
}

/// What whoever joins has to do.
pub enum Joined<W: Work> {
    /// Work alone, and then start a [`Writer`] for what has gathered meanwhile.
    First,
    /// Wait for the answer.
    Waiting(oneshot::Receiver<Result<W::Done, Failed>>),
}

impl<W: Work> Default for Gathering<W> {
    fn default() -> Self {
        Self { queue: Mutex::new(Queue { jobs: VecDeque::new(), stage: Stage::Idle, before: 0, wants_more: false }), enough: Notify::new() }
    }
}

impl<W: Work> Gathering<W> {
    /// Lets work wait, unless it is the first.
    pub(crate) fn join(&self, work: W) -> Joined<W> {
        let mut queue = self.lock();
        if queue.stage == Stage::Idle {
            queue.stage = Stage::Alone;
            return Joined::First;
        }
        let (answer, answered) = oneshot::channel();
        queue.jobs.push_back(Job { work, answer });
        if queue.wants_more && !queue.is_small() {
            queue.wants_more = false;
            self.enough.notify_one();
        }
        Joined::Waiting(answered)
    }

    /// A writer, unless there is one, or nothing to do.
    pub(crate) fn writer(self: &Arc<Self>) -> Option<Writer<W>> {
        let mut queue = self.lock();
        if queue.stage != Stage::Alone {
            return None;
        }
        queue.stage = if queue.jobs.is_empty() { Stage::Idle } else { Stage::Writing };
        (queue.stage == Stage::Writing).then(|| Writer { gathering: Arc::clone(self), ended: false })
    }

    /// True if the writer has to wait for more.
    fn wants_more(&self) -> bool {
        let mut queue = self.lock();
        queue.wants_more = queue.is_small();
        queue.wants_more
    }

    fn lock(&self) -> MutexGuard<'_, Queue<W>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: Work> Queue<W> {
    /// True if there is traffic, and less has gathered than the batch before had.
    fn is_small(&self) -> bool {
        self.before >= TRAFFIC && self.jobs.len() < self.before
    }

    /// Takes the next batch: each key once, the work on it in its order.
    fn take(&mut self) -> Vec<Job<W>> {
        let (mut batch, mut staying): (Vec<Job<W>>, VecDeque<Job<W>>) = Default::default();
        let (mut taken, mut of): (HashSet<(MerchantId, String)>, HashMap<MerchantId, usize>) = Default::default();
        while batch.len() < MOST
            && let Some(job) = self.jobs.pop_front()
        {
            // It waited too long and has been answered.
            if job.answer.is_closed() {
                continue;
            }
            let (merchant, name) = job.work.key();
            let of_merchant = of.entry(merchant).or_default();
            if *of_merchant < MOST_OF_ONE && taken.insert((merchant, name.to_owned())) {
                *of_merchant += 1;
                batch.push(job);
            } else {
                staying.push_back(job);
            }
        }
        staying.append(&mut self.jobs);
        self.jobs = staying;
        batch
    }
}

/// The one who does what has gathered. If it ends early, whatever waits is done by its callers, each alone.
pub struct Writer<W: Work> {
    gathering: Arc<Gathering<W>>,
    ended: bool,
}

impl<W: Work> Writer<W> {
    /// The next batch, after a short wait if there is traffic. If nothing waits, the writer ends under the same lock, so that whoever comes
    /// next is the first again.
    pub(crate) async fn next_batch(&mut self) -> Option<Vec<Job<W>>> {
        if self.gathering.wants_more() {
            let _ = timeout(LONGEST_WAIT, self.gathering.enough.notified()).await;
        }
        let mut queue = self.gathering.lock();
        let batch = queue.take();
        (queue.before, queue.wants_more) = (batch.len(), false);
        if batch.is_empty() {
            queue.stage = Stage::Idle;
            self.ended = true;
            return None;
        }
        Some(batch)
    }
}

impl<W: Work> Drop for Writer<W> {
    fn drop(&mut self) {
        if !self.ended {
            let mut queue = self.gathering.lock();
            queue.jobs.clear();
            queue.stage = Stage::Idle;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::future::FutureExt as _;
    use uuid::Uuid;

    use super::*;

    /// Work on something of a merchant.
    struct Task(MerchantId, String);

    impl Work for Task {
        type Done = ();

        fn key(&self) -> (MerchantId, &str) {
            (self.0, &self.1)
        }
    }

    fn task(merchant: usize, name: &str) -> Task {
        Task(MerchantId(Uuid::from_u128(merchant as u128)), name.to_owned())
    }

    /// The writer of a queue in which these tasks wait behind another one, and the answers to them.
    fn waiting(tasks: Vec<Task>) -> (Writer<Task>, Vec<oneshot::Receiver<Result<(), Failed>>>) {
        let queue = Arc::new(Gathering::default());
        assert!(is_first(&queue));
        let answers = tasks.into_iter().map(|task| match queue.join(task) {
            Joined::First => panic!("somebody else is first"),
            Joined::Waiting(answer) => answer,
        });
        let answers = answers.collect();
        (queue.writer().expect("something waits"), answers)
    }

    fn is_first(queue: &Gathering<Task>) -> bool {
        matches!(queue.join(task(0, "first")), Joined::First)
    }

    fn names(batch: Option<Vec<Job<Task>>>) -> Vec<String> {
        batch.into_iter().flatten().map(|job| job.work.1).collect()
    }

    #[test]
    fn a_merchant_has_one_queue_and_the_merchants_share_two() {
        let queues: Queues<Task> = Queues::default();
        let of = |merchant: u128| Arc::as_ptr(queues.of(MerchantId(Uuid::from_u128(merchant))));
        assert_eq!((of(1), of(2)), (of(1), of(2)));
        assert!(of(1) != of(2) && of(1) == of(3) && of(2) == of(4));
    }

    #[tokio::test]
    async fn a_thing_is_in_a_batch_once_and_the_work_on_it_keeps_its_order() {
        let (mut writer, _answers) = waiting(vec![task(1, "A"), task(1, "A"), task(2, "A"), task(1, "B"), task(1, "A")]);
        assert_eq!(names(writer.next_batch().await), ["A", "A", "B"]);
        assert_eq!(names(writer.next_batch().await), ["A"]);
        assert_eq!(names(writer.next_batch().await), ["A"]);
        assert!(writer.next_batch().await.is_none());
    }

    #[tokio::test]
    async fn a_flood_of_one_merchant_leaves_room_for_the_others() {
        let flood = (0..100).map(|number| task(1, &format!("{number:02}")));
        let (mut writer, _answers) = waiting(flood.chain([task(2, "other")]).collect());
        let mut expected: Vec<String> = (0..MOST_OF_ONE).map(|number| format!("{number:02}")).collect();
        expected.push("other".to_owned());
        assert_eq!(names(writer.next_batch().await), expected);
        assert_eq!(names(writer.next_batch().await).first().map(String::as_str), Some("16"));
    }

    #[tokio::test]
    async fn work_whose_caller_has_left_is_not_done() {
        let (mut writer, mut answers) = waiting(vec![task(1, "A"), task(1, "B")]);
        drop(answers.remove(0));
        assert_eq!(names(writer.next_batch().await), ["B"]);
    }

    #[tokio::test]
    async fn whoever_comes_after_the_writer_is_the_first_again() {
        let (mut writer, answers) = waiting(vec![task(1, "A")]);
        let queue = Arc::clone(&writer.gathering);
        assert!(writer.next_batch().await.is_some() && writer.next_batch().await.is_none());
        drop((writer, answers));
        assert!(is_first(&queue));
    }

    #[test]
    fn a_writer_that_ends_early_leaves_everybody_to_work_alone() {
        let (writer, mut answers) = waiting(vec![task(1, "A")]);
        let queue = Arc::clone(&writer.gathering);
        drop(writer);
        assert!(answers.remove(0).try_recv().is_err_and(|error| error == oneshot::error::TryRecvError::Closed));
        assert!(is_first(&queue));
    }

    #[tokio::test]
    async fn under_traffic_a_batch_waits_until_it_is_as_large_as_the_one_before() {
        let (mut writer, _answers) = waiting((0..4).map(|number| task(1, &number.to_string())).collect());
        assert_eq!(names(writer.next_batch().await).len(), 4);
        let queue = Arc::clone(&writer.gathering);
        let come_again = async { (0..4).map(|number| queue.join(task(2, &number.to_string()))).collect::<Vec<_>>() };
        let (batch, joined) = tokio::join!(writer.next_batch(), come_again);
        assert!(joined.iter().all(|joined| matches!(joined, Joined::Waiting(_))));
        assert_eq!(names(batch).len(), 4);
    }

    #[tokio::test]
    async fn without_traffic_nobody_waits() {
        let (mut writer, _answers) = waiting(vec![task(1, "A"), task(1, "B")]);
        assert_eq!(names(writer.next_batch().await).len(), 2);
        assert!(writer.next_batch().now_or_never().is_some_and(|batch| batch.is_none()));
    }

    #[test]
    fn there_is_one_writer() {
        let (writer, _answers) = waiting(vec![task(1, "A")]);
        assert!(writer.gathering.writer().is_none());
    }

    #[test]
    fn without_anything_that_waits_there_is_no_writer() {
        let queue = Arc::new(Gathering::default());
        assert!(queue.writer().is_none() && is_first(&queue));
        assert!(queue.writer().is_none() && is_first(&queue), "the first one has ended");
    }
}
