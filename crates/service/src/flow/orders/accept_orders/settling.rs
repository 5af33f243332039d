//! Settles returns with the refunds of their orders, in the transaction that records the refunds.

use std::collections::BTreeMap;

use domain::money::Cents;
use domain::orders::refund::{Ledger, Refund};
use domain::returns::rma::Step;
use domain::returns::rma::allocation::{Candidate, allocate, allocate_to};
use domain::returns::rma::policy::RefundCloses;
use domain::returns::work::WorkKind;
use store::orders::snapshots;
use store::returns::rmas::{self, Return};
use store::returns::{return_policies, work_items};
use store::{Failed, Tx};
use wire::orders::order::{self as wire_order, OrderIn};

use super::entries::{Changed, Entry};
use super::findings::Findings;
use crate::app::App;
use crate::flow::returns::mail_shopper::mail_refund;
use crate::flow::returns::save_return::save_change;
use crate::show::returns::rmas as returns;

/// Settles the returns that the entries are for. The orders must be locked.
pub(super) async fn settle(
    app: &App,
    tx: &mut Tx,
    changed: &mut BTreeMap<&str, Changed<'_>>,
    findings: &mut Findings,
) -> Result<(), Failed> {
    let orders: Vec<&str> = changed.keys().copied().collect();
    let mut of_order: BTreeMap<String, Vec<Return>> = BTreeMap::new();
    for kept in rmas::lock_of_orders(tx, &orders).await? {
        of_order.entry(kept.order.clone()).or_default().push(kept);
    }
    let closes = if of_order.is_empty() { RefundCloses::All } else { return_policies::get(tx).await?.refund_closes };
    for (order, Changed { order: received, stale, ledger, entries }) in changed {
        let cancelled = if *stale { stored_cancelled_units(tx, order).await? } else { cancelled_units(&received.order) };
        let mut order = OrderReturns { returns: of_order.remove(*order).unwrap_or_default(), cancelled, closes };
        // Refunds that name their return come first, then the others, oldest first.
        let key = |entry: &Entry<'_>| {
            let record = ledger.refunds.get(entry.identifier());
            record.map(|record| (record.rma_identifier.is_none(), record.refunded_at, entry.identifier().to_owned()))
        };
        entries.sort_by_cached_key(key);
        for entry in entries {
            let allocated = order.allocate(entry, ledger, findings);
            let total = ledger.refunds.get(entry.identifier()).map_or_else(Cents::default, |record| record.total);
            for (at, units) in allocated {
                if let Some(kept) = order.returns.get_mut(at) {
                    refund(app, tx, kept, &units, (entry.identifier(), total)).await?;
                }
            }
        }
    }
    Ok(())
}

/// The cancelled units of each line of an order.
fn cancelled_units(order: &OrderIn<'_>) -> BTreeMap<String, u32> {
    let facts = order.facts();
    facts.lines.iter().map(|line| (line.identifier.to_owned(), line.cancelled_units(facts.status))).collect()
}

/// The cancelled units of each line of the stored order.
async fn stored_cancelled_units(tx: &mut Tx, order: &str) -> Result<BTreeMap<String, u32>, Failed> {
    let snapshot = snapshots::snapshot(tx, order).await?;
    let stored = snapshot.as_deref().and_then(wire_order::read_stored);
    Ok(stored.as_ref().map(cancelled_units).unwrap_or_default())
}

/// The returns of an order that are not cancelled, and what else decides where a refund goes.
struct OrderReturns {
    /// Those that are not settled first, oldest first.
    returns: Vec<Return>,
    /// The cancelled units of each line.
    cancelled: BTreeMap<String, u32>,
    closes: RefundCloses,
}

impl OrderReturns {
    /// Finds the units that an entry settles, by return, and records the others as refunded outside of any return.
    fn allocate(&self, entry: &Entry<'_>, ledger: &mut Ledger, findings: &mut Findings) -> Vec<(usize, Vec<usize>)> {
        let free = |(line, units): (&String, &u32)| (line.clone(), units.saturating_sub(ledger.outside(line)));
        let cancelled: BTreeMap<String, u32> = self.cancelled.iter().map(free).collect();
        let Some(record) = ledger.refunds.get_mut(entry.identifier()) else { return Vec::new() };
        let named = record.rma_identifier.as_deref().map(returns::identifier);
        let named_at = named.as_ref().and_then(|named| self.returns.iter().position(|kept| kept.identifier == *named));
        if let Some(at) = named_at {
            return vec![(at, self.allocate_to(at, entry, record, findings))];
        }
        if named.is_some() && (entry.taken.new || entry.taken.named_late) {
            findings.warnings.push(wire_order::rma_not_live(&entry.order.path(), entry.at));
        }
        let candidates: Vec<Candidate> = self.returns.iter().map(|kept| Candidate::new(&kept.rma)).collect();
        let allocation = allocate(&entry.taken.added, &cancelled, &candidates);
        for (line, units) in allocation.outside {
            record.add_outside(&line, units);
        }
        allocation.settled.into_iter().map(|(at, units)| (at, self.close(at, units))).collect()
    }

    /// The units that an entry settles in the return at `at`, which it names.
    fn allocate_to(&self, at: usize, entry: &Entry<'_>, record: &mut Refund, findings: &mut Findings) -> Vec<usize> {
        let Some(Return { rma, .. }) = self.returns.get(at) else { return Vec::new() };
        let first = entry.taken.new || entry.taken.named_late;
        if first && record.lines.is_empty() {
            findings.warnings.push(wire_order::refund_by_amount(&entry.order.path(), entry.at));
            return rma.open_by_amount();
        }
        let mut covered = entry.taken.added.clone();
        if entry.taken.named_late {
            // Until now these units counted as refunded outside of any return.
            for (line, units) in record.outside() {
                record.remove_outside(&line, units);
                *covered.entry(line).or_default() += units;
            }
        }
        let allocation = allocate_to(&covered, &Candidate::new(rma));
        if !allocation.outside.is_empty() {
            findings.warnings.push(wire_order::units_not_in_rma(&entry.order.path(), entry.at));
        }
        if allocation.again > 0 {
            findings.warnings.push(wire_order::refunded_again(&entry.order.path(), entry.at));
        }
        for (line, units) in allocation.outside {
            record.add_outside(&line, units);
        }
        if covered.is_empty() { allocation.settled } else { self.close(at, allocation.settled) }
    }

    /// Adds the other units to be refunded, if any refund closes a return of this merchant.
    fn close(&self, at: usize, mut units: Vec<usize>) -> Vec<usize> {
        match (self.closes, self.returns.get(at)) {
            (RefundCloses::Any, Some(kept)) => {
                units.extend(kept.rma.open_refunds());
                units.sort_unstable();
                units.dedup();
                units
            }
            (RefundCloses::Any | RefundCloses::All, _) => units,
        }
    }
}

/// Marks units of a return as covered by the refund with this identifier and total.
async fn refund(app: &App, tx: &mut Tx, kept: &mut Return, units: &[usize], (refund, total): (&str, Cents)) -> Result<(), Failed> {
    let in_question = kept.rma.is_in_question();
    let covered = |kept: &Return, at: usize| kept.rma.units.get(at).is_some_and(|unit| unit.refunded);
    let new: Vec<usize> = units.iter().copied().filter(|at| !covered(kept, *at)).collect();
    let Ok(Step::Moved(event)) = kept.rma.refund(units) else { return Ok(()) };
    for unit in units {
        if let Some(item) = kept.items.get_mut(*unit) {
            item.refund = Some(refund.to_owned());
        }
    }
    if in_question && !kept.rma.is_in_question() {
        work_items::close(tx, WorkKind::RefundInQuestion, &kept.identifier, app.now()).await?;
    }
    save_change(app, tx, kept, event, app.now()).await?;
    mail_refund(app, tx, kept, &new, total, app.now()).await
}
