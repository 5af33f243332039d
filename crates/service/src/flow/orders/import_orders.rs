//! A merchant's history arrives as a stream of lines, one order each.
//!
//! The stream is read in chunks. Each chunk is one transaction, which holds its orders, the report of its refused lines
//! and the import's progress: whenever the import breaks off, what is stored is exactly the lines that count as done. While
//! a chunk is stored the next ones are read, checked and, if they touch other orders, written; but they are committed one
//! after the other, in the order of the lines.

mod chunk;
mod lines;
mod report;

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;
use store::merchants::audit::{self, Entry};
use store::orders::imports::{self, Counts, Import, Lease, State};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::JoinHandle;
use tracing::Instrument as _;
use uuid::Uuid;

use self::chunk::{Ready, Touched, Turn};
pub use self::lines::{BrokenOff, LONGEST_LINE, Source};
use self::lines::{Chunk, Lines};
pub use self::report::describe;
use crate::app::App;
use crate::node::Phase;

/// For how long nobody else may go on with an import that shows no sign of life.
pub const LEASE: TimeDelta = TimeDelta::seconds(15);

/// After how long there is a sign of life, however slowly the lines come.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);

/// How many chunks are read, checked or stored at a time.
const IN_FLIGHT: usize = 4;

/// The run of an import: whoever has it may read its lines.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    merchant: MerchantId,
    lease: Lease,
    /// How many lines are done already.
    done: i64,
}

impl Run {
    /// Which import it is.
    #[must_use]
    pub fn import(&self) -> Uuid {
        self.lease.import
    }

    /// How many lines are done already.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.done.unsigned_abs()
    }
}

/// What there is to resume.
pub enum Resumed {
    /// The rest of its lines.
    Run(Run),
    /// Nothing: every line was read.
    Done(Import),
}

/// Why an import is not resumed.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// The merchant has no such import.
    #[error("there is no such import")]
    Unknown,
    /// Somebody else reads its lines.
    #[error("another run of this import has it until {0}")]
    Running(DateTime<Utc>),
    /// The database.
    #[error(transparent)]
    Failed(#[from] store::Failed),
}

/// An import broke off. What was read is stored, and it can be resumed.
#[derive(Debug, thiserror::Error)]
#[error("the import broke off: {cause}")]
pub struct Interrupted {
    /// Which import.
    pub import: Uuid,
    /// Why.
    pub cause: Cause,
}

/// Why an import broke off.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// The lines ended before their end.
    #[error(transparent)]
    BrokenOff(#[from] BrokenOff),
    /// There are fewer lines than were done before: it is another file.
    #[error("the file has {lines} lines, but {done} are done already; send the same file from its start")]
    Shorter {
        /// How many there are.
        lines: u64,
        /// How many are done.
        done: u64,
    },
    /// The process is leaving.
    #[error("the service is about to end")]
    Leaving,
    /// Nothing was heard of this run for so long that another one took over.
    #[error("another run took the import over")]
    TakenOver,
    /// The database.
    #[error(transparent)]
    Failed(#[from] store::Failed),
    /// A defect.
    #[error("a chunk was given up")]
    GivenUp,
}

fn lease_end(now: DateTime<Utc>) -> DateTime<Utc> {
    now + LEASE
}

/// Begins an import. An `operator` who does it in the merchant's place leaves an audit row.
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

/// Goes on with the import `id` where it broke off, unless somebody else does.
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

/// Hears what became of each chunk once it is stored.
pub type Observer = Arc<dyn Fn(Counts) + Send + Sync>;

/// Reads the lines of `source` and stores them. The first lines, as many as are done already, are skipped.
pub async fn run(app: &App, run: Run, source: &mut impl Source, observer: Observer) -> Result<Import, Interrupted> {
    let interrupted = |cause| Interrupted { import: run.import(), cause };
    let outcome = read_and_store(app, run, source, observer).await;
    let state = if outcome.is_ok() { State::Done } else { State::Interrupted };
    let settled = settle(app, run, state).await;
    // Where giving the lease back fails after something else did, the lease runs out by itself.
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

/// A chunk on its way: where the import stands once it is stored.
type Storing = JoinHandle<Result<i64, Cause>>;

/// What the last chunks before one touch, told once they are checked.
type Earlier = Vec<Arc<Touched>>;

async fn read_and_store(app: &App, run: Run, source: &mut impl Source, observer: Observer) -> Result<(), Cause> {
    let mut lines = Lines::new(source, run.done());
    let slots = Arc::new(Semaphore::new(IN_FLIGHT));
    let mut last: Option<Storing> = None;
    let (tell, mut told) = oneshot::channel();
    let _ = tell.send(Earlier::new());
    let ended = loop {
        // A chunk that cannot be stored closes the slots, so that no more is read.
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { break Ok(()) };
        if app.is_in(Phase::Leaving) {
            break Err(Cause::Leaving);
        }
        match lines.next(SIGN_OF_LIFE).await {
            Ok(Some(chunk)) => {
                let (tell, next) = oneshot::channel();
                let earlier = std::mem::replace(&mut told, next);
                let stage = Stage { app: app.clone(), run, observer: Arc::clone(&observer), slots: Arc::clone(&slots), earlier, tell };
                last = Some(tokio::spawn(stage.store(chunk, Turn::after(last.take(), run.done), slot).in_current_span()));
            }
            Ok(None) if lines.read() < run.done() => break Err(Cause::Shorter { lines: lines.read(), done: run.done() }),
            Ok(None) => break Ok(()),
            Err(broken) => break Err(broken.into()),
        }
    };
    Turn::after(last, run.done).comes().await?;
    ended
}

/// What a chunk is handed on its way into the store.
struct Stage {
    app: App,
    run: Run,
    observer: Observer,
    slots: Arc<Semaphore>,
    earlier: oneshot::Receiver<Earlier>,
    tell: oneshot::Sender<Earlier>,
}

impl Stage {
    /// Checks the chunk at once, and stores it when everything before it is stored.
    async fn store(self, chunk: Chunk, turn: Turn, slot: OwnedSemaphorePermit) -> Result<i64, Cause> {
        let slots = Arc::clone(&self.slots);
        let stored = self.check_and_store(&chunk, turn).await;
        if stored.is_err() {
            slots.close();
        }
        drop(slot);
        stored
    }

    async fn check_and_store(self, chunk: &Chunk, turn: Turn) -> Result<i64, Cause> {
        let checked = chunk::check(chunk).await;
        let ready = Ready::new(&self.app, self.run, &checked, chunk.through);
        // Whoever is given up tells nothing; then the turn does not come either.
        let mut earlier = self.earlier.await.map_err(|_| Cause::GivenUp)?;
        let touched = Arc::new(ready.touches());
        let may_go_ahead = earlier.iter().all(|earlier| touched.may_go_ahead_of(earlier));
        earlier.push(touched);
        // More than these are never on their way.
        let forgotten = earlier.len().saturating_sub(IN_FLIGHT);
        earlier.drain(..forgotten);
        let _ = self.tell.send(earlier);
        let (through, counts) = ready.store(&self.app, self.run, turn, may_go_ahead).await?;
        (self.observer)(counts);
        Ok(through)
    }
}
