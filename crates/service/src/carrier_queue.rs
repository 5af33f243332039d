//! The queue of carrier events: those that arrive while others are written share a transaction.
//!
//! Whoever comes first works alone and at once, and nobody waits for others to join. What arrives meanwhile gathers, and is written in
//! batches, one after the other, until nothing is left. So an event that comes alone costs what it always did, and under load the batches
//! grow as large as they need to be. If the first one takes long, because somebody else has locked its return, the others go on without it.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::id::MerchantId;
use domain::node::trace::SpanIds;
use domain::returns::rma::CarrierEvent;
use store::Failed;
use tokio::sync::oneshot;

/// The most that a batch holds. It bounds what has to be done once more if a batch fails.
const MOST: usize = 64;

/// The most of one merchant in a batch, so that a flood of one does not make the others wait.
const MOST_OF_ONE: usize = MOST / 4;

/// An event that concerns all units of a return.
pub struct Carried {
    pub merchant: MerchantId,
    /// The identifier of the return.
    pub rma: String,
    pub event: CarrierEvent,
    /// The place in a trace that a message on it carries.
    pub trace: Option<SpanIds>,
}

/// The outcome of an event in a batch.
pub enum Answer {
    Moved,
    Unchanged,
    Failed(Failed),
}

/// An event that waits for its batch. If the answer is dropped, the caller applies the event alone.
pub struct Job {
    pub carried: Carried,
    pub answer: oneshot::Sender<Answer>,
}

/// The events that wait, and what is being done meanwhile.
#[derive(Default)]
pub struct CarrierQueue(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    stage: Stage,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Idle,
    /// Somebody applies an event alone.
    Alone,
    /// A writer applies what has gathered.
    Writing,
}

/// What whoever joins has to do.
pub enum Joined {
    /// Apply the event alone, and then start a [`Writer`] for what has gathered meanwhile.
    First,
    /// Wait for the answer.
    Waiting(oneshot::Receiver<Answer>),
}

impl CarrierQueue {
    /// Lets an event wait, unless it is the first.
    pub(crate) fn join(&self, carried: Carried) -> Joined {
        let mut queue = self.lock();
        if queue.stage == Stage::Idle {
            queue.stage = Stage::Alone;
            return Joined::First;
        }
        let (answer, answered) = oneshot::channel();
        queue.jobs.push_back(Job { carried, answer });
        Joined::Waiting(answered)
    }

    /// A writer, unless there is one, or nothing to do.
    pub(crate) fn writer(self: &Arc<Self>) -> Option<Writer> {
        let mut queue = self.lock();
        if queue.stage != Stage::Alone {
            return None;
        }
        queue.stage = if queue.jobs.is_empty() { Stage::Idle } else { Stage::Writing };
        (queue.stage == Stage::Writing).then(|| Writer { queue: Arc::clone(self), ended: false })
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    /// Takes the next batch: each return once, the events of a return in their order.
    fn take(&mut self) -> Vec<Job> {
        let (mut batch, mut staying): (Vec<Job>, VecDeque<Job>) = Default::default();
        let (mut taken, mut of): (HashSet<(MerchantId, String)>, HashMap<MerchantId, usize>) = Default::default();
        while batch.len() < MOST
            && let Some(job) = self.jobs.pop_front()
        {
            // It waited too long and has been answered.
            if job.answer.is_closed() {
                continue;
            }
            let of_merchant = of.entry(job.carried.merchant).or_default();
            if *of_merchant < MOST_OF_ONE && taken.insert((job.carried.merchant, job.carried.rma.clone())) {
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

/// The one who writes. If it ends early, whatever waits is applied by its callers, each alone.
pub struct Writer {
    queue: Arc<CarrierQueue>,
    ended: bool,
}

impl Writer {
    /// The next batch. If nothing waits, the writer ends under the same lock, so that whoever comes next is the first again.
    pub(crate) fn next_batch(&mut self) -> Option<Vec<Job>> {
        let mut queue = self.queue.lock();
        let batch = queue.take();
        if batch.is_empty() {
            queue.stage = Stage::Idle;
            self.ended = true;
            return None;
        }
        Some(batch)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if !self.ended {
            let mut queue = self.queue.lock();
            queue.jobs.clear();
            queue.stage = Stage::Idle;
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn scan(merchant: usize, rma: &str) -> Carried {
        let merchant = MerchantId(Uuid::from_u128(merchant as u128));
        Carried { merchant, rma: rma.to_owned(), event: CarrierEvent::Scanned, trace: None }
    }

    /// The writer of a queue in which these events wait behind another one, and the answers to them.
    fn waiting(events: Vec<Carried>) -> (Writer, Vec<oneshot::Receiver<Answer>>) {
        let queue = Arc::new(CarrierQueue::default());
        assert!(is_first(&queue));
        let answers = events.into_iter().map(|event| match queue.join(event) {
            Joined::First => panic!("somebody else is first"),
            Joined::Waiting(answer) => answer,
        });
        let answers = answers.collect();
        (queue.writer().expect("something waits"), answers)
    }

    fn is_first(queue: &CarrierQueue) -> bool {
        matches!(queue.join(scan(0, "first")), Joined::First)
    }

    fn names(batch: Option<Vec<Job>>) -> Vec<String> {
        batch.into_iter().flatten().map(|job| job.carried.rma).collect()
    }

    #[test]
    fn a_return_is_in_a_batch_once_and_its_events_keep_their_order() {
        let (mut writer, _answers) = waiting(vec![scan(1, "A"), scan(1, "A"), scan(2, "A"), scan(1, "B"), scan(1, "A")]);
        assert_eq!(names(writer.next_batch()), ["A", "A", "B"]);
        assert_eq!(names(writer.next_batch()), ["A"]);
        assert_eq!(names(writer.next_batch()), ["A"]);
        assert!(writer.next_batch().is_none());
    }

    #[test]
    fn a_flood_of_one_merchant_leaves_room_for_the_others() {
        let flood = (0..100).map(|number| scan(1, &format!("{number:02}")));
        let (mut writer, _answers) = waiting(flood.chain([scan(2, "other")]).collect());
        let mut expected: Vec<String> = (0..MOST_OF_ONE).map(|number| format!("{number:02}")).collect();
        expected.push("other".to_owned());
        assert_eq!(names(writer.next_batch()), expected);
        assert_eq!(names(writer.next_batch()).first().map(String::as_str), Some("16"));
    }

    #[test]
    fn an_event_whose_caller_has_left_is_not_applied() {
        let (mut writer, mut answers) = waiting(vec![scan(1, "A"), scan(1, "B")]);
        drop(answers.remove(0));
        assert_eq!(names(writer.next_batch()), ["B"]);
    }

    #[test]
    fn whoever_comes_after_the_writer_is_the_first_again() {
        let (mut writer, answers) = waiting(vec![scan(1, "A")]);
        let queue = Arc::clone(&writer.queue);
        assert!(writer.next_batch().is_some() && writer.next_batch().is_none());
        drop((writer, answers));
        assert!(is_first(&queue));
    }

    #[test]
    fn a_writer_that_ends_early_leaves_everybody_to_work_alone() {
        let (writer, mut answers) = waiting(vec![scan(1, "A")]);
        let queue = Arc::clone(&writer.queue);
        drop(writer);
        assert!(answers.remove(0).try_recv().is_err_and(|error| error == oneshot::error::TryRecvError::Closed));
        assert!(is_first(&queue));
    }

    #[test]
    fn there_is_one_writer() {
        let (writer, _answers) = waiting(vec![scan(1, "A")]);
        assert!(writer.queue.writer().is_none());
    }

    #[test]
    fn without_anything_that_waits_there_is_no_writer() {
        let queue = Arc::new(CarrierQueue::default());
        assert!(queue.writer().is_none() && is_first(&queue));
        assert!(queue.writer().is_none() && is_first(&queue), "the first one has ended");
    }
}
