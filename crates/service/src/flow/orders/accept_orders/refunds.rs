//! Records the refunds of a message. Each has its effect once; corrections are taken over.

use std::collections::BTreeMap;

use domain::orders::refund::{Covered, Ledger, Note, Refund, Remark, overrefunded};
use domain::orders::snapshot::Verdict;
use store::orders::refunds;
use store::{Failed, Tx};
use wire::orders::order::{self as wire_order, ReceivedOrder, RefundIn};
use wire::shape::Text;

use super::entries::{Changed, Entry};
use super::findings::{Findings, Placed};
use super::settling;
use crate::app::App;

/// Records the refunds of a round of orders with these `verdicts`, and settles returns with them. The orders must be locked.
pub(in crate::flow::orders) async fn record_refunds(
    app: &App,
    tx: &mut Tx,
    round: &[Placed<'_>],
    verdicts: impl Iterator<Item = Verdict>,
    findings: &mut Findings,
) -> Result<(), Failed> {
    let refunding = |(placed, _): &(&Placed<'_>, Verdict)| !placed.1.order.refunds.0.is_empty();
    let refunding: Vec<(&Placed<'_>, Verdict)> = round.iter().zip(verdicts).filter(refunding).collect();
    if refunding.is_empty() {
        return Ok(());
    }
    let orders: Vec<&str> = refunding.iter().map(|((_, received), _)| &*received.order.identifier.0).collect();
    let mut ledgers = refunds::ledgers(tx, &orders).await?;
    let mut changed: BTreeMap<&str, Changed<'_>> = BTreeMap::new();
    for ((_, received), verdict) in refunding {
        let identifier = &*received.order.identifier.0;
        let mut ledger = ledgers.remove(identifier).unwrap_or_default();
        let entries = take_refunds(received, verdict, &mut ledger, findings);
        if !entries.is_empty() {
            changed.insert(identifier, Changed { order: received, stale: verdict == Verdict::Stale, ledger, entries });
        }
    }
    if changed.is_empty() {
        return Ok(());
    }
    settling::settle(app, tx, &mut changed, findings).await?;
    let records = changed.iter().flat_map(|(order, changed)| changed.records(order));
    refunds::save(tx, &records.collect::<Vec<_>>(), app.now()).await?;
    doubt(tx, &changed, findings).await?;
    findings.new_refunds += changed.values().flat_map(|changed| &changed.entries).filter(|entry| entry.taken.new).count() as u64;
    Ok(())
}

/// Takes the refunds of an order over into its ledger, and returns those that change it. A stale snapshot brings only new ones.
fn take_refunds<'m>(received: &'m ReceivedOrder<'m>, verdict: Verdict, ledger: &mut Ledger, findings: &mut Findings) -> Vec<Entry<'m>> {
    let path = received.path();
    let mut entries = Vec::new();
    for (at, refund) in received.order.refunds.0.iter().enumerate() {
        let identifier = &*refund.identifier.0;
        if verdict == Verdict::Stale && ledger.refunds.contains_key(identifier) {
            continue;
        }
        let taken = ledger.take(identifier, &stated(refund));
        findings.warnings.extend(taken.remarks.iter().map(|remark| wire_order::remark(&path, at, *remark)));
        if taken.new || taken.amended || !taken.added.is_empty() {
            entries.push(Entry { order: received, at, taken });
        }
    }
    entries
}

fn stated(refund: &RefundIn<'_>) -> Refund {
    let covered = refund.refund_line_items.0.iter().map(|line| Covered {
        identifier: line.identifier.0.to_string(),
        order_line: line.order_item_identifier.0.to_string(),
        quantity: line.quantity.0,
        outside: 0,
    });
    let text = |text: &Option<Text<'_>>| text.as_ref().map(|Text(text)| text.to_string());
    Refund {
        total: refund.total_refund_amount_cents.0,
        lines: covered.collect(),
        refunded_at: refund.created_at.0,
        note: text(&refund.note).map(Note),
        rma_identifier: text(&refund.rma_identifier),
    }
}

/// Warns about what shows only beside the record: identifiers that refunds of other orders have, too, and lines with more units
/// refunded than sold.
async fn doubt(tx: &mut Tx, changed: &BTreeMap<&str, Changed<'_>>, findings: &mut Findings) -> Result<(), Failed> {
    let (mut new, mut lines) = (Vec::new(), Vec::new());
    for (order, changed) in changed {
        for entry in &changed.entries {
            if entry.taken.new {
                new.push((*order, entry.identifier()));
            }
            if !entry.taken.added.is_empty() {
                lines.extend(entry.lines().map(|line| (*order, &*line.identifier.0)));
            }
        }
    }
    let twins = refunds::of_other_orders(tx, &new).await?;
    let line_twins = refunds::lines_of_other_orders(tx, &lines).await?;
    for (order, Changed { ledger, entries, .. }) in changed {
        for entry in entries {
            let path = entry.order.path();
            if entry.taken.new && twins.contains(&((*order).to_owned(), entry.identifier().to_owned())) {
                findings.warnings.push(wire_order::refund_of_another_order(&path, entry.at));
            }
            let sold: BTreeMap<&str, u32> = entry.order.order.items.0.iter().map(|line| (&*line.identifier.0, line.quantity.0)).collect();
            let beyond = overrefunded(entry.taken.added.keys().map(String::as_str), &sold, &ledger.covered());
            for (line_at, line) in entry.lines().enumerate().filter(|_| !entry.taken.added.is_empty()) {
                if line_twins.contains(&((*order).to_owned(), line.identifier.0.to_string())) {
                    findings.warnings.push(wire_order::remark(&path, entry.at, Remark::IdentifierReused { line: line_at }));
                }
                // The message alone may have shown it already.
                let warning = wire_order::overrefunded(&path, entry.at, line_at);
                if beyond.contains(&*line.order_item_identifier.0) && !entry.order.warnings.contains(&warning) {
                    findings.warnings.push(warning);
                }
            }
        }
    }
    Ok(())
}
