//! Imports a merchant's history from a stream of lines with one order each.
//!
//! The stream is read in chunks. Each chunk is one transaction with its orders, the report of its refused lines and the import's
//! progress. So whenever the import is interrupted, exactly the lines that count as done are stored. While a chunk is stored,
//! the next ones are read, checked and, if they touch other orders, written. Chunks are committed in the order of the lines.

mod chunk;
mod lines;
mod report;
mod run;

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use store::merchants::audit::{self, Entry};
use store::orders::imports::{self, Counts, Import, Lease, State};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::Instant;
use tracing::Instrument as _;
use uuid::Uuid;

use self::chunk::{Ready, Touched, Turn};
use self::lines::{Chunk, Lines};
pub use self::lines::{LONGEST_LINE, Source, SourceError};
pub use self::report::describe;
pub use self::run::{Cause, LEASE, Run};
use self::run::{Storing, lease_end};
use crate::app::App;
use crate::node::Phase;

/// The interval at which the lease is renewed, however slowly the lines arrive.
const RENEW_EVERY: Duration = Duration::from_secs(5);

/// The number of chunks of an import processed at a time.
const IN_FLIGHT: usize = 4;

/// The longest rest between two chunks, well within a run's lease.
const LONGEST_REST: Duration = Duration::from_secs(5);

/// The result of resuming an import.
pub enum Resumed {
    /// There are lines left to read.
    Run(Run),
    /// Every line has been read.
    Done(Import),
}

/// The reasons an import cannot be resumed.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    #[error("the merchant has no such import")]
    Unknown,
    /// Another run holds the lease until then.
    #[error("another run of this import is active until {0} at least; wait for it, or resume the import after that")]
    Running(DateTime<Utc>),
    #[error(transparent)]
    Failed(#[from] store::Failed),
}

/// An import was interrupted. The lines that are done are stored, and the rest can be resumed.
#[derive(Debug, thiserror::Error)]
#[error("the import was interrupted: {cause}")]
pub struct Interrupted {
    pub import: Uuid,
    pub cause: Cause,
}

/// Begins an import. If an `operator` does so for the merchant, it is audited.
pub async fn begin(app: &App, merchant: MerchantId, operator: Option<&str>) -> Result<Run, store::Failed> {
    let now = app.now();
    let lease = Lease { import: app.mint(), owner: app.mint(), until: lease_end(now) };
    let mut tx = app.begin(merchant).await?;
    imports::insert(&mut tx, lease, now).await?;
    if let Some(actor) = operator {
        let detail = lease.import.to_string();
        audit::record(&mut tx, Entry { id: app.mint(), actor, action: "import.begun", detail: &detail, done_at: now }).await?;
    }
    app.commit(tx).await?;
    Ok(Run { merchant, lease, done: 0 })
}

/// Resumes the import `id` where it was interrupted, unless another run is active.
pub async fn resume(app: &App, merchant: MerchantId, id: Uuid, operator: Option<&str>) -> Result<Resumed, ResumeError> {
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    let import = imports::lock(&mut tx, id).await?.ok_or(ResumeError::Unknown)?;
    match (import.state, import.leased_until) {
        (State::Done, _) => return Ok(Resumed::Done(import)),
        (State::Running, Some(until)) if until > now => return Err(ResumeError::Running(until)),
        (State::Running | State::Interrupted, _) => {}
    }
    let lease = Lease { import: id, owner: app.mint(), until: lease_end(now) };
    imports::lease(&mut tx, lease).await?;
    if let Some(actor) = operator {
        let detail = id.to_string();
        audit::record(&mut tx, Entry { id: app.mint(), actor, action: "import.resumed", detail: &detail, done_at: now }).await?;
    }
    app.commit(tx).await?;
    Ok(Resumed::Run(Run { merchant, lease, done: import.counts.lines }))
}

/// Gets the counts of each chunk once it is stored.
pub type Observer = Arc<dyn Fn(Counts) + Send + Sync>;

/// Reads the lines of `source` and stores them. Lines that earlier runs stored are skipped.
pub async fn run(app: &App, run: Run, source: &mut impl Source, observer: Observer) -> Result<Import, Interrupted> {
    let interrupted = |cause| Interrupted { import: run.import(), cause };
    let outcome = read_and_store(app, run, source, observer).await;
    let state = if outcome.is_ok() { State::Done } else { State::Interrupted };
    let settled = settle(app, run, state).await;
    // If releasing the lease fails after another error, report that error: the lease expires by itself.
    outcome.map_err(interrupted)?;
    settled.map_err(interrupted)
}

async fn settle(app: &App, run: Run, state: State) -> Result<Import, Cause> {
    let mut tx = app.begin(run.merchant).await?;
    if !imports::settle(&mut tx, run.lease, state, app.now()).await? {
        return Err(Cause::TakenOver);
    }
    let import = imports::lock(&mut tx, run.lease.import).await?.ok_or(Cause::TakenOver)?;
    app.commit(tx).await?;
    Ok(import)
}

/// The orders touched by the preceding chunks, known once those are checked.
type Earlier = Vec<Arc<Touched>>;

async fn read_and_store(app: &App, run: Run, source: &mut impl Source, observer: Observer) -> Result<(), Cause> {
    let mut lines = Lines::new(source, run.done());
    let slots = Arc::new(Semaphore::new(IN_FLIGHT));
    let mut last: Option<Storing> = None;
    let (announce, mut announced) = oneshot::channel();
    let _ = announce.send(Earlier::new());
    let ended = loop {
        // A chunk that cannot be stored closes the semaphore, so that reading stops.
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { break Ok(()) };
        if app.is_in(Phase::Leaving) {
            break Err(Cause::Leaving);
        }
        match lines.next(RENEW_EVERY).await {
            Ok(Some(chunk)) => {
                // Chunks get their connections in order, so that none waits for a later one.
                let Ok(writer) = Arc::clone(&app.import_writers).acquire_owned().await else { break Err(Cause::ChunkAborted) };
                let (announce, next) = oneshot::channel();
                let earlier = std::mem::replace(&mut announced, next);
                let stage = Stage { app: app.clone(), run, observer: Arc::clone(&observer), slots: Arc::clone(&slots), earlier, announce };
                last = Some(tokio::spawn(stage.store(chunk, Turn::after(last.take(), run.done), slot, writer).in_current_span()));
            }
            Ok(None) if lines.read() < run.done() => break Err(Cause::Shorter { lines: lines.read(), done: run.done() }),
            Ok(None) => break Ok(()),
            Err(broken) => break Err(broken.into()),
        }
    };
    Turn::after(last, run.done).comes().await?;
    ended
}

/// The context in which a chunk is stored.
struct Stage {
    app: App,
    run: Run,
    observer: Observer,
    slots: Arc<Semaphore>,
    earlier: oneshot::Receiver<Earlier>,
    announce: oneshot::Sender<Earlier>,
}

impl Stage {
    /// Checks the chunk immediately, and commits it after all chunks before it. Then its connection rests.
    async fn store(self, chunk: Chunk, turn: Turn, slot: OwnedSemaphorePermit, writer: OwnedSemaphorePermit) -> Result<i64, Cause> {
        let (app, slots, started) = (self.app.clone(), Arc::clone(&self.slots), Instant::now());
        let stored = self.check_and_store(&chunk, turn).await;
        if stored.is_err() {
            slots.close();
        }
        drop(slot);
        let rest = app.settings.imports.rest_after(started.elapsed()).min(LONGEST_REST);
        tokio::spawn(async move {
            tokio::time::sleep(rest).await;
            drop(writer);
        });
        stored
    }

    async fn check_and_store(self, chunk: &Chunk, turn: Turn) -> Result<i64, Cause> {
        let checked = chunk::check(chunk).await;
        let ready = Ready::new(&self.app, self.run, &checked, chunk.through);
        // If the preceding chunk was aborted, its sender is gone.
        let mut earlier = self.earlier.await.map_err(|_| Cause::ChunkAborted)?;
        let touched = Arc::new(ready.touches());
        let may_go_ahead = earlier.iter().all(|earlier| touched.may_go_ahead_of(earlier));
        earlier.push(touched);
        // Never more than these are in flight.
        let forgotten = earlier.len().saturating_sub(IN_FLIGHT);
        earlier.drain(..forgotten);
        let _ = self.announce.send(earlier);
        let (through, counts) = ready.store(&self.app, self.run, turn, may_go_ahead).await?;
        (self.observer)(counts);
        Ok(through)
    }
}
