//! Records the refunds of a message. Each is recorded once; its amounts and lines never change afterwards.

use std::collections::{BTreeMap, HashMap, HashSet};

use domain::orders::refund::{self, Covered, Note, Refund};
use store::Tx;
use store::orders::refunds;
use store::returns::rmas;
use wire::orders::order::{self as wire_order, ReceivedOrder};
use wire::shape::Text;

use super::findings::{Findings, Placed};
use super::returns::{self, Settling};
use crate::app::App;

/// A refund as the message states it.
struct Stated<'m> {
    order: &'m ReceivedOrder<'m>,
    at: usize,
    identifier: &'m str,
    refund: Refund,
}

/// Records new refunds, and compares known ones with the record.
pub(in crate::flow::orders) async fn record_refunds(
    app: &App,
    tx: &mut Tx,
    round: &[Placed<'_>],
    findings: &mut Findings,
) -> Result<(), store::Failed> {
    let mut stated: Vec<Stated<'_>> = round.iter().flat_map(|(_, received)| stated_refunds(received)).collect();
    if stated.is_empty() {
        return Ok(());
    }
    stated.sort_by(|a, b| a.identifier.cmp(b.identifier));
    let all: Vec<(&str, &Refund)> = stated.iter().map(|stated| (stated.identifier, &stated.refund)).collect();
    let new: HashSet<String> = refunds::insert(tx, &all, app.now()).await?.into_iter().collect();
    // If two orders of the message share an identifier, the first one gets it.
    let mut claimed = HashSet::new();
    let (fresh, known): (Vec<&Stated<'_>>, Vec<&Stated<'_>>) =
        stated.iter().partition(|stated| new.contains(stated.identifier) && claimed.insert(stated.identifier));
    record_lines(tx, &fresh, findings).await?;
    let mut settling: Vec<Settling> = fresh.iter().map(|stated| stated.settling(None)).collect();
    settling.extend(compare_with_record(tx, &known, findings).await?);
    if findings.faults.is_empty() {
        returns::settle(app, tx, &settling, findings).await?;
    }
    findings.new_refunds += fresh.len() as u64;
    Ok(())
}

impl Stated<'_> {
    /// The part of the refund that may settle returns: without the units that it has `settled` already.
    fn settling(&self, settled: Option<&BTreeMap<String, u32>>) -> Settling {
        let late = settled.is_some();
        let settled = |line: &str| settled.and_then(|settled| settled.get(line)).copied().unwrap_or_default();
        let mut covered: BTreeMap<&str, u32> = BTreeMap::new();
        for line in &self.refund.lines {
            *covered.entry(&line.order_line).or_default() += line.quantity;
        }
        Settling {
            path: self.order.path(),
            at: self.at,
            order: self.refund.order.clone(),
            identifier: self.identifier.to_owned(),
            covered: covered.into_iter().map(|(line, units)| (line.to_owned(), units.saturating_sub(settled(line)))).collect(),
            named: self.refund.rma_identifier.clone(),
            late,
        }
    }
}

fn stated_refunds<'m>(received: &'m ReceivedOrder<'m>) -> impl Iterator<Item = Stated<'m>> {
    received.order.refunds.0.iter().enumerate().map(move |(at, refund)| {
        let covered = refund.refund_line_items.0.iter().map(|line| Covered {
            identifier: line.identifier.0.to_string(),
            order_line: line.order_item_identifier.0.to_string(),
            quantity: line.quantity.0,
        });
        let text = |text: &Option<Text<'_>>| text.as_ref().map(|Text(text)| text.to_string());
        let stated = Refund {
            order: received.order.identifier.0.to_string(),
            total: refund.total_refund_amount_cents.0,
            lines: covered.collect(),
            refunded_at: refund.created_at.0,
            note: text(&refund.note).map(Note),
            rma_identifier: text(&refund.rma_identifier),
        };
        Stated { order: received, at, identifier: &refund.identifier.0, refund: stated }
    })
}

async fn record_lines(tx: &mut Tx, fresh: &[&Stated<'_>], findings: &mut Findings) -> Result<(), store::Failed> {
    if fresh.is_empty() {
        return Ok(());
    }
    let refunds_of: Vec<(&str, &Refund)> = fresh.iter().map(|stated| (stated.identifier, &stated.refund)).collect();
    let mut recorded: HashSet<String> = refunds::insert_lines(tx, &refunds_of).await?.into_iter().collect();
    for stated in fresh {
        for (line_at, line) in stated.refund.lines.iter().enumerate() {
            if !recorded.remove(&line.identifier) {
                findings.faults.push(wire_order::reused_refund_line(&stated.order.path(), stated.at, line_at));
            }
        }
    }
    // Together with earlier messages, more units may now be refunded than the line has.
    let orders: HashSet<&str> = fresh.iter().map(|stated| stated.refund.order.as_str()).collect();
    for order in orders {
        let refunded = refunds::refunded_units(tx, order).await?;
        for stated in fresh.iter().filter(|stated| stated.refund.order == order) {
            let ordered: BTreeMap<&str, u32> =
                stated.order.order.items.0.iter().map(|line| (&*line.identifier.0, line.quantity.0)).collect();
            let beyond: HashSet<&str> = refund::overrefunded(&ordered, &refunded).collect();
            let lines = stated.refund.lines.iter().enumerate().filter(|(_, line)| beyond.contains(line.order_line.as_str()));
            findings.faults.extend(lines.map(|(line_at, _)| wire_order::overrefunded(&stated.order.path(), stated.at, line_at)));
        }
    }
    Ok(())
}

/// Compares known refunds with the record. Returns those that name their return only now.
async fn compare_with_record(tx: &mut Tx, known: &[&Stated<'_>], findings: &mut Findings) -> Result<Vec<Settling>, store::Failed> {
    let mut named_late = Vec::new();
    if known.is_empty() {
        return Ok(named_late);
    }
    let identifiers: Vec<&str> = known.iter().map(|stated| stated.identifier).collect();
    let recorded = refunds::lock(tx, &identifiers).await?;
    let recorded: HashMap<&str, &Refund> = recorded.iter().map(|recorded| (recorded.identifier.as_str(), &recorded.refund)).collect();
    for stated in known {
        let Some(recorded) = recorded.get(stated.identifier) else { continue };
        match refund::compare(recorded, &stated.refund) {
            Err(conflict) => findings.faults.push(wire_order::conflict(&stated.order.path(), stated.at, conflict)),
            Ok(additions) => {
                if additions.note.is_some() || additions.rma_identifier.is_some() {
                    refunds::amend(tx, stated.identifier, additions.note.as_ref(), additions.rma_identifier.as_deref()).await?;
                }
                if additions.rma_identifier.is_some() {
                    let settled = rmas::settled_by(tx, &stated.refund.order, stated.identifier).await?.into_iter().collect();
                    named_late.push(stated.settling(Some(&settled)));
                }
                if additions.other_rma {
                    findings.warnings.push(wire_order::rma_differs(&stated.order.path(), stated.at));
                }
                if additions.other_time {
                    findings.warnings.push(wire_order::time_differs(&stated.order.path(), stated.at));
                }
            }
        }
    }
    Ok(named_late)
}
