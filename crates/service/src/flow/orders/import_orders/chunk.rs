//! A chunk of an import. Its lines are parsed and checked concurrently with other chunks, and stored in one transaction.

use std::collections::HashSet;
use std::time::Duration;

use domain::id::MerchantId;
use domain::orders::snapshot::Verdict;
use store::orders::imports::{self, Counts, RefusedLine};
use store::orders::snapshots::Snapshot;
use store::{Failed, Tx};
use tokio::time::timeout;
use wire::fault::Fault;
use wire::orders::order::{ReceivedOrder, RefusedOrder, read_one};

use super::lines::{Chunk, LONGEST_LINE};
use super::run::{Cause, Run, Storing, lease_end};
use crate::app::App;
use crate::flow::orders::accept_orders::{self as accept, Findings, Placed};
use crate::flow::orders::renew_suppressions::renew_suppressions;
use crate::intake::counted::What;
use crate::intake::{TRIES, upsert};
use crate::platform::metrics::ResultLabels;

/// The most faults stored for a line.
const MOST_KEPT: usize = 100;

/// The number of lines after which the task yields.
const LINES_AT_A_TIME: usize = 32;

/// The longest that a chunk written early waits for its turn while it holds locks.
const PATIENCE: Duration = Duration::from_millis(500);

/// The lines of a chunk after parsing and checking.
pub(super) struct Checked<'c> {
    orders: Vec<ReceivedOrder<'c>>,
    /// The line number of each order.
    numbers: Vec<u64>,
    refused: Vec<RefusedLine>,
}

/// A round of orders (see [`accept::rounds`]) with their snapshots.
struct Round<'c> {
    orders: Vec<Placed<'c>>,
    snapshots: Vec<Snapshot<'c>>,
}

/// Parses and checks the lines of `chunk`.
pub(super) async fn check(chunk: &Chunk) -> Checked<'_> {
    let mut checked = Checked { orders: Vec::new(), numbers: Vec::new(), refused: Vec::new() };
    for (at, (number, text)) in chunk.lines().enumerate() {
        let too_long = || RefusedOrder::whole(format!("is longer than the limit of {LONGEST_LINE} bytes (1 MiB) a line"));
        match text.ok_or_else(too_long).and_then(read_one) {
            Ok(order) => {
                checked.orders.push(order);
                checked.numbers.push(number);
            }
            Err(RefusedOrder { identifier, faults }) => checked.refused.push(refusal(number, identifier, &faults)),
        }
        if at % LINES_AT_A_TIME == 0 {
            tokio::task::yield_now().await;
        }
    }
    checked
}

fn refusal(number: u64, order_identifier: Option<String>, faults: &[Fault]) -> RefusedLine {
    let faults: Vec<&Fault> = faults.iter().take(MOST_KEPT).collect();
    RefusedLine {
        line: i64::try_from(number).unwrap_or(i64::MAX),
        // PostgreSQL cannot store NUL in text.
        order_identifier: order_identifier.map(|identifier| identifier.replace('\0', "\u{fffd}")),
        faults: serde_json::to_string(&faults).unwrap_or_else(|_| "[]".to_owned()),
    }
}

/// The orders in rounds. Snapshots are costly, so they are made here, before the transaction begins.
fn rounds<'c>(app: &App, merchant: MerchantId, checked: &'c Checked<'c>) -> Vec<Round<'c>> {
    let rounds = accept::rounds(&checked.orders).into_iter();
    rounds
        .map(|orders| {
            let snapshots = orders.iter().map(|(_, received)| accept::snapshot(app, merchant, received)).collect();
            Round { orders, snapshots }
        })
        .collect()
}

/// The result of storing a chunk.
#[derive(Default)]
struct ChunkResult {
    counts: Counts,
    new_refunds: u64,
}

/// The orders that a chunk touches.
pub(super) struct Touched {
    /// It has exchange orders, which change other orders' returns.
    exchanges: bool,
    orders: HashSet<String>,
}

impl Touched {
    /// Checks if this chunk may be written before `earlier` is committed: then neither can wait for the other, and their order does
    /// not matter.
    pub(super) fn may_go_ahead_of(&self, earlier: &Self) -> bool {
        !self.exchanges && self.orders.is_disjoint(&earlier.orders)
    }
}

/// The turn of a chunk. It comes when all chunks before it are stored.
pub(super) struct Turn {
    before: Option<Storing>,
    stands: i64,
}

impl Turn {
    /// The turn after the chunk `before`. Without one, the turn comes immediately, with `stands` lines done.
    pub(super) fn after(before: Option<Storing>, stands: i64) -> Self {
        Self { before, stands }
    }

    /// Waits for the turn. Returns the number of lines done.
    pub(super) async fn comes(&mut self) -> Result<i64, Cause> {
        if let Some(storing) = &mut self.before {
            let stored = storing.await;
            self.before = None;
            self.stands = stored.unwrap_or(Err(Cause::ChunkAborted))?;
        }
        Ok(self.stands)
    }
}

/// A chunk that is ready to be stored when its turn comes.
pub(super) struct Ready<'c> {
    checked: &'c Checked<'c>,
    rounds: Vec<Round<'c>>,
    through: i64,
}

impl<'c> Ready<'c> {
    pub(super) fn new(app: &App, run: Run, checked: &'c Checked<'c>, through: u64) -> Self {
        Self { checked, rounds: rounds(app, run.merchant, checked), through: i64::try_from(through).unwrap_or(i64::MAX) }
    }

    /// The orders that it touches.
    pub(super) fn touches(&self) -> Touched {
        let orders = &self.checked.orders;
        Touched {
            exchanges: orders.iter().any(|received| received.order.exchanged_for().is_some()),
            orders: orders.iter().map(|received| received.order.identifier.0.to_string()).collect(),
        }
    }

    /// Stores the chunk in one transaction: its orders, the report of its refused lines and the import's progress. It is committed
    /// when its turn comes; if it may go ahead, its orders are written before that. Returns the number of lines done then.
    pub(super) async fn store(&self, app: &App, run: Run, mut turn: Turn, may_go_ahead: bool) -> Result<(i64, Counts), Cause> {
        renew_suppressions(app, run.merchant, self.checked.orders.iter()).await?;
        let mut written = if may_go_ahead { self.go_ahead(app, run, &mut turn).await? } else { None };
        let before = turn.comes().await?;
        let mut tries = 1;
        let done = loop {
            let outcome = match written.take() {
                Some((tx, done)) => self.finish(app, run, before, tx, done).await,
                None => match self.write(app, run).await {
                    Ok((tx, done)) => self.finish(app, run, before, tx, done).await,
                    Err(failed) => Err(failed.into()),
                },
            };
            match outcome {
                Err(Cause::Failed(Failed::Collided(_))) if tries < TRIES => tries += 1,
                outcome => break outcome?,
            }
        };
        let Counts { created, updated, unchanged, stale, .. } = done.counts;
        for (verdict, count) in
            [(Verdict::Created, created), (Verdict::Updated, updated), (Verdict::Unchanged, unchanged), (Verdict::Stale, stale)]
        {
            let labels = ResultLabels { result: accept::verdict_word(verdict) };
            app.metrics.orders.get_or_create(&labels).inc_by(count.unsigned_abs());
            app.intake.counted.note(run.merchant, app.now().date_naive(), (count > 0).then_some((What::Order(labels.result), count)));
        }
        app.metrics.refunds.inc_by(done.new_refunds);
        Ok((self.through, done.counts))
    }

    /// Writes the orders while earlier chunks are still being stored. Another transaction may wait for our locks and hold locks that
    /// an earlier chunk waits for, so that our turn would never come. So wait only briefly; otherwise roll back, and write again
    /// when the turn has come. A failure is ignored here because it would recur then.
    async fn go_ahead(&self, app: &App, run: Run, turn: &mut Turn) -> Result<Option<(Tx, ChunkResult)>, Cause> {
        let Ok((tx, done)) = self.write(app, run).await else { return Ok(None) };
        if let Ok(turn) = timeout(PATIENCE, turn.comes()).await {
            return turn.map(|_| Some((tx, done)));
        }
        tx.rollback().await?;
        Ok(None)
    }

    /// Writes the orders in a transaction that is not committed yet.
    async fn write(&self, app: &App, run: Run) -> Result<(Tx, ChunkResult), Failed> {
        let mut tx = app.begin(run.merchant).await?;
        let mut done = ChunkResult::default();
        for round in &self.rounds {
            self.store_round(app, &mut tx, round, &mut done).await?;
        }
        Ok((tx, done))
    }

    /// Adds the report and the progress of an import with `before` lines done, and commits.
    async fn finish(&self, app: &App, run: Run, before: i64, mut tx: Tx, mut done: ChunkResult) -> Result<ChunkResult, Cause> {
        if !self.checked.refused.is_empty() {
            imports::insert_refusals(&mut tx, run.lease.import, &self.checked.refused).await?;
        }
        done.counts.refused = i64::try_from(self.checked.refused.len()).unwrap_or(i64::MAX);
        done.counts.lines = self.through - before;
        let now = app.now();
        let lease = imports::Lease { until: lease_end(now), ..run.lease };
        if !imports::advance(&mut tx, lease, before, done.counts, now).await? {
            tx.rollback().await?;
            return Err(Cause::TakenOver);
        }
        app.commit(tx).await?;
        Ok(done)
    }

    async fn store_round(&self, app: &App, tx: &mut Tx, round: &Round<'_>, done: &mut ChunkResult) -> Result<(), Failed> {
        let outcomes = upsert(tx, &round.snapshots).await?;
        let verdicts = || outcomes.iter().map(|outcome| outcome.verdict);
        let mut findings = Findings::default();
        accept::record_exchanges(app, tx, &round.orders, &mut findings).await?;
        accept::record_refunds(app, tx, &round.orders, verdicts(), &mut findings).await?;
        accept::forget_notes(tx, &round.orders, outcomes.iter()).await?;
        verdicts().for_each(|verdict| done.count(verdict));
        done.new_refunds += findings.new_refunds;
        Ok(())
    }
}

impl ChunkResult {
    fn count(&mut self, verdict: Verdict) {
        let count = match verdict {
            Verdict::Created => &mut self.counts.created,
            Verdict::Updated => &mut self.counts.updated,
            Verdict::Unchanged => &mut self.counts.unchanged,
            Verdict::Stale => &mut self.counts.stale,
        };
        *count += 1;
    }
}
