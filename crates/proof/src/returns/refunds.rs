//! The part of the checker that deals with refunds.

use std::collections::{BTreeSet, HashMap};

use uuid::Uuid;

use super::SOLD;
use super::client::{Client, Refunding};
use super::findings::{Findings, History, Key, Wrong};
use super::stored::{Stored, StoredReturn};

/// The final statuses of a return.
pub(super) const REFUNDED: &str = "REFUNDED";
const CANCELLED: &str = "CANCELED";

/// Checks that every unit is refunded once, and that every closed return was refunded before.
pub(super) fn check(history: &History, returns: &HashMap<Key, &StoredReturn>, findings: &mut Findings) {
    let mut covered: HashMap<Key, i64> = HashMap::new();
    let mut of_order: HashMap<Key, i64> = HashMap::new();
    for refund in &history.stored.refunds {
        // A refund by amount covers whatever its return has.
        *covered.entry((refund.shop, refund.refund.clone())).or_default() += refund.quantity.unwrap_or(SOLD);
        *of_order.entry((refund.shop, refund.order.clone())).or_default() += refund.quantity.unwrap_or_default();
    }
    check_units(&history.stored, &covered, &of_order, findings);
    check_ends(history, returns, &covered, findings);
}

/// No unit is in two returns, and no refund settles more than it covers.
fn check_units(stored: &Stored, covered: &HashMap<Key, i64>, of_order: &HashMap<Key, i64>, findings: &mut Findings) {
    let mut settled: HashMap<Key, i64> = HashMap::new();
    let mut units: BTreeSet<(usize, &str, i32)> = BTreeSet::new();
    for of in &stored.returns {
        if of_order.get(&(of.shop, of.order.clone())).is_some_and(|units| *units > SOLD) {
            findings.add(Wrong::RefundedTwice, of.shop, &of.rma);
        }
        for unit in &of.units {
            if !units.insert((of.shop, &of.order, unit.unit)) {
                findings.add(Wrong::RefundedTwice, of.shop, &of.rma);
            }
            let Some(refund) = &unit.refund else { continue };
            let settled = settled.entry((of.shop, refund.clone())).or_default();
            *settled += 1;
            if *settled > covered.get(&(of.shop, refund.clone())).copied().unwrap_or_default() {
                findings.add(Wrong::RefundedTwice, of.shop, &of.rma);
            }
        }
    }
}

/// Every closed return was refunded before, and its refund was reported once.
fn check_ends(history: &History, returns: &HashMap<Key, &StoredReturn>, covered: &HashMap<Key, i64>, findings: &mut Findings) {
    let reported = |status: &str| {
        let mut messages: HashMap<Key, BTreeSet<Uuid>> = HashMap::new();
        for receipt in history.receipts.iter().filter(|receipt| receipt.accepted && receipt.status == status) {
            messages.entry((receipt.shop, receipt.rma.clone())).or_default().insert(receipt.id);
        }
        messages
    };
    let closed =
        |status: &str| -> BTreeSet<Key> { returns.iter().filter(|(_, of)| of.status == status).map(|(key, _)| key.clone()).collect() };
    let (reported_refunded, reported_cancelled) = (reported(REFUNDED), reported(CANCELLED));
    let (refunded, cancelled) = (closed(REFUNDED), closed(CANCELLED));
    let clients: HashMap<Key, &Client> =
        history.clients.iter().filter_map(|client| Some(((client.shop, client.rma.clone()?), client))).collect();
    for key in reported_refunded.keys().chain(&refunded) {
        let paid = returns.get(key).is_some_and(|of| of.units.iter().all(|unit| unit.refund.is_some()))
            && clients.get(key).is_some_and(|client| client.is_refunding() && covered.contains_key(&(client.shop, client.refund.clone())));
        if !paid {
            findings.add(Wrong::Unrefunded, key.0, &key.1);
        }
    }
    for receipt in history.receipts.iter().filter(|receipt| receipt.status == REFUNDED) {
        let client = clients.get(&(receipt.shop, receipt.rma.clone()));
        if client.is_some_and(|client| receipt.number <= client.received_before_refund) {
            findings.add(Wrong::Unrefunded, receipt.shop, &receipt.rma);
        }
    }
    for ((shop, rma), ids) in &reported_refunded {
        if ids.len() > 1 {
            findings.add(Wrong::RefundedTwice, *shop, rma);
        }
    }
    let is_closed = |(key, client): &(&Key, &&Client)| match client.refunding {
        Refunding::Never => cancelled.contains(*key) && reported_cancelled.contains_key(*key),
        Refunding::Ahead | Refunding::Sent | Refunding::Acknowledged => refunded.contains(*key) && reported_refunded.contains_key(*key),
    };
    findings.closed = clients.iter().filter(is_closed).count();
}
