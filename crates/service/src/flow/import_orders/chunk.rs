//! A chunk of an import: its lines are read and checked beside other chunks, and stored in one transaction.

use domain::id::MerchantId;
use domain::snapshot::Verdict;
use store::imports::{self, Counts, RefusedLine};
use store::orders::Snapshot;
use store::{Failed, Tx};
use wire::fault::Fault;
use wire::order::{ReceivedOrder, RefusedOrder, read_one};

use super::lines::{Chunk, LONGEST_LINE};
use super::{Cause, Run, lease_end};
use crate::app::App;
use crate::flow::accept_orders::{self as accept, Findings, Placed, TRIES};
use crate::metrics::ResultLabels;

/// How many faults of a line are kept.
const MOST_KEPT: usize = 100;

/// After how many lines others get their turn on this thread.
const LINES_AT_A_TIME: usize = 32;

/// The lines of a chunk, read and checked.
pub(super) struct Checked<'c> {
    orders: Vec<ReceivedOrder<'c>>,
    /// The numbers of the orders' lines.
    numbers: Vec<u64>,
    refused: Vec<RefusedLine>,
}

/// Orders of different identifiers with their snapshots, as [`accept::rounds`] puts them.
struct Round<'c> {
    orders: Vec<Placed<'c>>,
    snapshots: Vec<Snapshot<'c>>,
}

/// Reads and checks the lines of `chunk`.
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
        // A NUL cannot be stored as text.
        order_identifier: order_identifier.map(|identifier| identifier.replace('\0', "\u{fffd}")),
        faults: serde_json::to_string(&faults).unwrap_or_else(|_| "[]".to_owned()),
    }
}

/// The orders in rounds. What is costly about a snapshot is done here, before the transaction begins.
fn rounds<'c>(app: &App, merchant: MerchantId, checked: &'c Checked<'c>) -> Vec<Round<'c>> {
    let rounds = accept::rounds(&checked.orders).into_iter();
    rounds
        .map(|orders| {
            let snapshots = orders.iter().map(|(_, received)| accept::snapshot(app, merchant, received)).collect();
            Round { orders, snapshots }
        })
        .collect()
}

/// What a transaction did.
#[derive(Default)]
struct Done {
    counts: Counts,
    refused: Vec<RefusedLine>,
    new_refunds: u64,
}

/// The stages of storing a chunk: made ready beside other chunks, stored when it is its turn.
pub(super) struct Ready<'c> {
    checked: &'c Checked<'c>,
    rounds: Vec<Round<'c>>,
    through: i64,
}

impl<'c> Ready<'c> {
    pub(super) fn new(app: &App, run: Run, checked: &'c Checked<'c>, through: u64) -> Self {
        Self { checked, rounds: rounds(app, run.merchant, checked), through: i64::try_from(through).unwrap_or(i64::MAX) }
    }

    /// Stores the chunk: its orders, the report of its refused lines and the import's progress, all or nothing. The
    /// import stands at `before` lines; answers where it stands then.
    pub(super) async fn store(&self, app: &App, run: Run, before: i64) -> Result<(i64, Counts), Cause> {
        let mut tries = 1;
        let done = loop {
            match self.attempt(app, run, before).await {
                Err(Cause::Failed(Failed::Collided(_))) if tries < TRIES => tries += 1,
                done => break done?,
            }
        };
        let Counts { created, updated, unchanged, stale, .. } = done.counts;
        for (verdict, count) in
            [(Verdict::Created, created), (Verdict::Updated, updated), (Verdict::Unchanged, unchanged), (Verdict::Stale, stale)]
        {
            let labels = ResultLabels { result: accept::verdict_word(verdict) };
            app.metrics.orders.get_or_create(&labels).inc_by(count.unsigned_abs());
        }
        app.metrics.refunds.inc_by(done.new_refunds);
        Ok((self.through, done.counts))
    }

    async fn attempt(&self, app: &App, run: Run, before: i64) -> Result<Done, Cause> {
        let mut tx = app.store.begin(run.merchant).await?;
        let mut done = Done::default();
        for round in &self.rounds {
            self.store_round(app, &mut tx, round, &mut done).await?;
        }
        if !(self.checked.refused.is_empty() && done.refused.is_empty()) {
            done.refused.extend(self.checked.refused.iter().cloned());
            imports::insert_refusals(&mut tx, run.lease.import, &done.refused).await?;
        }
        done.counts.refused = i64::try_from(done.refused.len()).unwrap_or(i64::MAX);
        done.counts.lines = self.through - before;
        let now = app.now();
        let lease = imports::Lease { until: lease_end(now), ..run.lease };
        if !imports::advance(&mut tx, lease, before, done.counts, now).await? {
            tx.rollback().await?;
            return Err(Cause::TakenOver);
        }
        tx.commit().await?;
        Ok(done)
    }

    /// Stores a round at one go. Only if a refund in it contradicts the record, line by line, to see whose it is.
    async fn store_round(&self, app: &App, tx: &mut Tx, round: &Round<'_>, done: &mut Done) -> Result<(), Failed> {
        let refunding = round.orders.iter().any(|placed| has_refunds(placed));
        if !refunding {
            accept::take(tx, &round.snapshots).await?.into_iter().for_each(|verdict| done.count(verdict));
            return Ok(());
        }
        tx.mark().await?;
        let verdicts = accept::take(tx, &round.snapshots).await?;
        let mut findings = Findings::default();
        accept::record_refunds(app, tx, &round.orders, &mut findings).await?;
        if !findings.faults.is_empty() {
            tx.undo().await?;
            return self.store_apart(app, tx, &round.orders, done).await;
        }
        tx.keep().await?;
        verdicts.into_iter().for_each(|verdict| done.count(verdict));
        done.new_refunds += findings.new_refunds;
        Ok(())
    }

    /// Stores the orders of a round so that one that contradicts the record spoils no other: those without refunds
    /// together, the others one by one as they stand in the file.
    async fn store_apart(&self, app: &App, tx: &mut Tx, round: &[Placed<'_>], done: &mut Done) -> Result<(), Failed> {
        let (mut refunding, plain): (Vec<Placed<'_>>, Vec<Placed<'_>>) = round.iter().partition(|placed| has_refunds(placed));
        accept::publish(app, tx, &plain).await?.into_iter().for_each(|(_, verdict)| done.count(verdict));
        refunding.sort_unstable_by_key(|(at, _)| *at);
        for placed @ (at, received) in refunding {
            tx.mark().await?;
            let verdicts = accept::publish(app, tx, &[placed]).await?;
            let mut findings = Findings::default();
            accept::record_refunds(app, tx, &[placed], &mut findings).await?;
            if findings.faults.is_empty() {
                tx.keep().await?;
                verdicts.into_iter().for_each(|(_, verdict)| done.count(verdict));
                done.new_refunds += findings.new_refunds;
            } else {
                tx.undo().await?;
                let number = self.checked.numbers.get(at).copied().unwrap_or_default();
                done.refused.push(refusal(number, Some(received.order.identifier.0.to_string()), &findings.faults));
            }
        }
        Ok(())
    }
}

fn has_refunds((_, received): &Placed<'_>) -> bool {
    !received.order.refunds.0.is_empty()
}

impl Done {
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
