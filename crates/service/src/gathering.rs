//! Queues of work that can be done together: what arrives while other work of its kind is done shares a transaction.
//!
//! Whoever comes first works alone and at once. What arrives meanwhile gathers, and is done in batches until nothing is left. So work that
//! comes alone costs what it always did, and under load the batches grow as large as they need to be. If the first one takes long, because
//! somebody else holds a lock, the others go on without it.
//!
//! Under load there are two writers. While the batch of one is written, that of the other is made and answered, so that neither the database
//! nor the process waits for the other one. Each takes half of all that is known of, and leaves the rest to the other. What both would lock
//! is done by one of them after the other, in its order.
//!
//! While there is traffic, a batch waits for a moment until as much has arrived as the one before it had: whoever was answered just now
//! may come again. Without traffic nobody waits for others to join.

mod carried;
mod wanted;
mod work;

use std::collections::{HashMap, HashSet, VecDeque};
use std::mem;
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

/// The longest wait for a batch to be as large as the one before it. Callers on the same network are back before that; a longer wait for
/// those who are not costs more than a smaller batch.
const LONGEST_WAIT: Duration = Duration::from_micros(700);

/// The most writers at a time.
const MOST_WRITERS: usize = 2;

/// Work that waits for its batch. If the answer is dropped, the caller does it alone.
pub struct Job<W: Work> {
    pub work: W,
    pub answer: oneshot::Sender<Result<W::Done, Failed>>,
}

/// The work of a kind that waits, and what is being done meanwhile.
pub struct Gathering<W: Work> {
    queue: Mutex<Queue<W>>,
    /// A writer waits for this if it wants more.
    enough: Notify,
}

/// What is locked by work: something of a merchant.
type Key = (MerchantId, String);

struct Queue<W: Work> {
    jobs: VecDeque<Job<W>>,
    /// True while somebody works alone and the others wait for that.
    is_held_up: bool,
    writers: usize,
    /// The keys of what is being written. Work on them waits for the next batch.
    in_flight: HashSet<Key>,
    /// The size of the batch before.
    before: usize,
    /// True while a writer waits for as much.
    wants_more: bool,
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
        let queue = Queue { jobs: VecDeque::new(), is_held_up: false, writers: 0, in_flight: HashSet::new(), before: 0, wants_more: false };
        Self { queue: Mutex::new(queue), enough: Notify::new() }
    }
}

impl<W: Work> Gathering<W> {
    /// Lets work wait, unless it is the first.
    pub(crate) fn join(&self, work: W) -> Joined<W> {
        let mut queue = self.lock();
        if !queue.is_held_up && queue.writers == 0 {
            queue.is_held_up = true;
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

    /// A writer for what has gathered behind work that is done alone, unless there is one, or nothing to do.
    pub(crate) fn writer(self: &Arc<Self>) -> Option<Writer<W>> {
        let mut queue = self.lock();
        let is_needed = mem::take(&mut queue.is_held_up) && !queue.jobs.is_empty();
        is_needed.then(|| self.start(&mut queue))
    }

    fn start(self: &Arc<Self>, queue: &mut Queue<W>) -> Writer<W> {
        queue.writers += 1;
        Writer { gathering: Arc::clone(self), doing: Vec::new(), ended: false }
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

    /// Half of what waits and what is being written, so that two writers have about as much to do.
    fn half(&self) -> usize {
        (self.jobs.len() + self.in_flight.len()).div_ceil(2).clamp(TRAFFIC, MOST)
    }

    /// Takes the next batch: each key once, the work on it in its order.
    fn take(&mut self) -> Vec<Job<W>> {
        let most = self.half();
        let (mut batch, mut staying): (Vec<Job<W>>, VecDeque<Job<W>>) = Default::default();
        let (mut taken, mut of): (HashSet<Key>, HashMap<MerchantId, usize>) = Default::default();
        while batch.len() < most
            && let Some(job) = self.jobs.pop_front()
        {
            // It waited too long and has been answered.
            if job.answer.is_closed() {
                continue;
            }
            let key = key_of(&job);
            let of_merchant = of.entry(key.0).or_default();
            if *of_merchant < MOST_OF_ONE && !self.in_flight.contains(&key) && taken.insert(key) {
                *of_merchant += 1;
                batch.push(job);
            } else {
                staying.push_back(job);
            }
        }
        staying.append(&mut self.jobs);
        self.jobs = staying;
        self.in_flight.extend(taken);
        batch
    }
}

fn key_of<W: Work>(job: &Job<W>) -> Key {
    let (merchant, name) = job.work.key();
    (merchant, name.to_owned())
}

/// Somebody who does what has gathered. If one ends early, whatever waits is done by its callers, each alone.
pub struct Writer<W: Work> {
    gathering: Arc<Gathering<W>>,
    /// The keys of its batch.
    doing: Vec<Key>,
    ended: bool,
}

impl<W: Work> Writer<W> {
    /// The next batch, after a short wait if there is traffic. If there is nothing for it to do, the writer ends under the same lock, so that
    /// whoever comes after the last one is the first again.
    pub(crate) async fn next_batch(&mut self) -> Option<Vec<Job<W>>> {
        self.put_down();
        if self.gathering.wants_more() {
            let _ = timeout(LONGEST_WAIT, self.gathering.enough.notified()).await;
        }
        let mut queue = self.gathering.lock();
        let batch = queue.take();
        queue.wants_more = false;
        if batch.is_empty() {
            queue.writers -= 1;
            self.ended = true;
            return None;
        }
        queue.before = batch.len();
        drop(queue);
        self.doing = batch.iter().map(key_of).collect();
        Some(batch)
    }

    /// Another writer, for what gathers while this one writes. None if there is little to do.
    pub(crate) fn second(&self) -> Option<Self> {
        let mut queue = self.gathering.lock();
        let is_needed = self.doing.len() >= TRAFFIC && queue.writers < MOST_WRITERS;
        is_needed.then(|| self.gathering.start(&mut queue))
    }

    /// Forgets its batch, which is done.
    fn put_down(&mut self) {
        let mut queue = self.gathering.lock();
        for key in self.doing.drain(..) {
            queue.in_flight.remove(&key);
        }
    }
}

impl<W: Work> Drop for Writer<W> {
    fn drop(&mut self) {
        if !self.ended {
            self.put_down();
            let mut queue = self.gathering.lock();
            queue.jobs.clear();
            queue.writers -= 1;
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
        let (mut writer, _answers) = waiting((0..3).map(|number| task(1, &number.to_string())).collect());
        assert_eq!(names(writer.next_batch().await).len(), 3);
        let queue = Arc::clone(&writer.gathering);
        let come_again = async { (0..3).map(|number| queue.join(task(2, &number.to_string()))).collect::<Vec<_>>() };
        let (batch, joined) = tokio::join!(writer.next_batch(), come_again);
        assert!(joined.iter().all(|joined| matches!(joined, Joined::Waiting(_))));
        assert_eq!(names(batch).len(), 3);
    }

    #[tokio::test]
    async fn two_writers_share_what_waits() {
        let (mut writer, _answers) = waiting((0..10).map(|number| task(1, &number.to_string())).collect());
        assert_eq!(names(writer.next_batch().await), ["0", "1", "2", "3", "4"]);
        let mut second = writer.second().expect("there is work for a second one");
        assert!(writer.second().is_none(), "two are enough");
        assert_eq!(names(second.next_batch().await), ["5", "6", "7", "8", "9"]);
        assert!(second.next_batch().await.is_none());
        let late = writer.gathering.join(task(1, "late"));
        assert!(matches!(late, Joined::Waiting(_)), "the other one still writes");
        assert_eq!(names(writer.next_batch().await), ["late"]);
        assert!(writer.next_batch().await.is_none() && is_first(&writer.gathering));
    }

    #[tokio::test]
    async fn a_thing_that_one_writer_has_waits_for_it_and_not_for_the_other() {
        let (mut writer, _answers) = waiting(["A", "B", "C", "A", "D"].map(|name| task(1, name)).into());
        assert_eq!(names(writer.next_batch().await), ["A", "B", "C"]);
        let mut second = writer.second().expect("there is work for a second one");
        assert_eq!(names(second.next_batch().await), ["D"]);
        assert!(second.next_batch().await.is_none(), "A is being written");
        assert_eq!(names(writer.next_batch().await), ["A"]);
    }

    #[tokio::test]
    async fn a_writer_with_little_to_do_stays_alone() {
        let (mut writer, _answers) = waiting(vec![task(1, "A"), task(1, "B")]);
        assert!(writer.next_batch().await.is_some() && writer.second().is_none());
    }

    #[tokio::test]
    async fn what_a_writer_had_when_it_ended_early_can_be_done_again() {
        let (mut writer, _answers) = waiting(vec![task(1, "A")]);
        let queue = Arc::clone(&writer.gathering);
        assert!(writer.next_batch().await.is_some());
        drop(writer);
        assert!(is_first(&queue));
        let _again = queue.join(task(1, "A"));
        let mut writer = queue.writer().expect("something waits");
        assert_eq!(names(writer.next_batch().await), ["A"]);
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
