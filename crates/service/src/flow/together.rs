//! Work that is done together with other work of its kind, in one transaction ([`crate::gathering`]). Each piece stands alone: it locks one
//! thing of one merchant, and owes one message.
//!
//! What needs more than that, or is refused, is done alone by its caller. So is everything if the batch fails.

use std::sync::Arc;
use std::time::Duration;

use domain::id::MerchantId;
use store::Failed;
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::app::App;
use crate::gathering::{Gathering, Job, Joined, Work, Writer};

/// How long work waits for the one that is done alone, which may have to wait for a lock.
const PATIENCE: Duration = Duration::from_millis(10);

/// A kind of work that can be done together.
pub(super) trait Together: Work<Done: Send> + Send + Sync + Sized + 'static {
    /// The name of the work in the log.
    const NAME: &str;

    /// The queue of this kind.
    fn queue(app: &App) -> &Arc<Gathering<Self>>;

    /// Does a batch in one transaction. Returns what was done of each, and `None` for work that has to be done alone.
    fn attempt(app: &App, batch: &[&Self]) -> impl Future<Output = Result<Vec<Option<Self::Done>>, Failed>> + Send;
}

/// How work is done.
pub(super) enum Place<W: Together> {
    /// Alone, by the caller. What gathers meanwhile is done once this is dropped.
    Alone(Option<Turn<W>>),
    /// It was done together with others.
    Done(W::Done),
}

/// The turn of work that comes alone.
pub(super) struct Turn<W: Together>(App, Arc<Gathering<W>>);

impl<W: Together> Drop for Turn<W> {
    fn drop(&mut self) {
        go_on(&self.0, &self.1);
    }
}

/// Lets work wait for its batch, unless it comes alone.
pub(super) async fn gather<W: Together>(app: &App, work: W) -> Result<Place<W>, Failed> {
    let queue = Arc::clone(W::queue(app));
    let mut answered = match queue.join(work) {
        Joined::First => return Ok(Place::Alone(Some(Turn(app.clone(), queue)))),
        Joined::Waiting(answered) => answered,
    };
    let answer = if let Ok(answer) = timeout(PATIENCE, &mut answered).await {
        answer
    } else {
        go_on(app, &queue);
        let late = |_| Failed::Unreachable(format!("{} were not written in time", W::NAME));
        timeout(app.settings.database.answer_timeout(), answered).await.map_err(late)?
    };
    // Without an answer, it is done alone.
    answer.map_or(Ok(Place::Alone(None)), |done| done.map(Place::Done))
}

/// Starts to do what has gathered, unless somebody does.
fn go_on<W: Together>(app: &App, queue: &Arc<Gathering<W>>) {
    // Without a runtime, the process ends.
    if let Ok(runtime) = Handle::try_current()
        && let Some(writer) = queue.writer()
    {
        runtime.spawn(write(app.clone(), writer));
    }
}

/// Starts a writer beside another one.
fn start<W: Together>(app: App, writer: Writer<W>) {
    tokio::spawn(write(app, writer));
}

/// Does batches until nothing waits.
async fn write<W: Together>(app: App, mut writer: Writer<W>) {
    while let Some(batch) = writer.next_batch().await {
        if let Some(second) = writer.second() {
            start(app.clone(), second);
        }
        do_all(&app, batch).await;
    }
}

/// Does a batch. If that fails, its callers work alone.
async fn do_all<W: Together>(app: &App, batch: Vec<Job<W>>) {
    let work: Vec<&W> = batch.iter().map(|job| &job.work).collect();
    match W::attempt(app, &work).await {
        Ok(done) => {
            for (job, done) in batch.into_iter().zip(done) {
                // Without an answer, the caller works alone.
                if let Some(done) = done {
                    // It may have hung up.
                    let _ = job.answer.send(Ok(done));
                }
            }
        }
        // An unreachable database would let each of them wait in turn.
        Err(failed @ Failed::Unreachable(_)) => {
            for job in batch {
                let _ = job.answer.send(Err(failed.clone()));
            }
        }
        Err(failed) => {
            tracing::warn!(%failed, count = batch.len(), "writing {} together failed, writing them one by one", W::NAME);
        }
    }
}

/// The merchants of a batch, each once and in order.
pub(super) fn merchants<W: Together>(batch: &[&W]) -> Vec<MerchantId> {
    let mut merchants: Vec<MerchantId> = batch.iter().map(|work| work.key().0).collect();
    merchants.sort_unstable();
    merchants.dedup();
    merchants
}
