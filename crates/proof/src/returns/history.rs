//! The checker: compares the answers to clients, the calls to merchants' systems and the database.
//!
//! Every acknowledged change must be stored. Every stored message must be received in order, unaltered, and only by its own
//! merchant. No unit may be refunded twice, and no return may be closed without its refund.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use uuid::Uuid;

use super::client::{Refunding, sku};
use super::findings::{Findings, History, Key, Wrong};
use super::record::Receipt;
use super::refunds;
use super::stored::{StoredMessage, StoredReturn};
use crate::messages::history::{self as deliveries, Arrival, Owed};

/// Compares the three records.
pub(super) fn check(history: &History) -> Findings {
    let mut findings = Findings::default();
    let returns: HashMap<Key, &StoredReturn> =
        history.stored.returns.iter().map(|stored| ((stored.shop, stored.rma.clone()), stored)).collect();
    check_acknowledged(history, &returns, &mut findings);
    check_sequences(history, &returns, &mut findings);
    check_received(history, &mut findings);
    refunds::check(history, &returns, &mut findings);
    findings
}

/// Every acknowledged change is stored, and nothing that was not requested.
fn check_acknowledged(history: &History, returns: &HashMap<Key, &StoredReturn>, findings: &mut Findings) {
    let mut known: BTreeSet<Key> = BTreeSet::new();
    for client in &history.clients {
        let (shop, name) = (client.shop, client.rma.as_deref().unwrap_or(&client.tracking_number));
        if client.order_acknowledged && !history.stored.orders.contains(&(shop, client.order.clone())) {
            findings.add(Wrong::Lost, shop, name);
        }
        if client.answered_differently {
            findings.add(Wrong::Altered, shop, name);
        }
        let Some(rma) = &client.rma else {
            findings.add(Wrong::Lost, shop, name);
            continue;
        };
        if client.answered_of_another || !known.insert((shop, rma.clone())) {
            findings.add(Wrong::Strange, shop, rma);
        }
        let Some(stored) = returns.get(&(shop, rma.clone())).filter(|stored| stored.order == client.order) else {
            findings.add(Wrong::Lost, shop, rma);
            continue;
        };
        if stored.sequence < client.least || stored.units.len() != client.units {
            findings.add(Wrong::Lost, shop, rma);
        }
        if stored.sequence > client.most {
            findings.add(Wrong::Doubled, shop, rma);
        }
        if client.labelled && stored.units.iter().any(|unit| unit.tracking_number.as_ref() != Some(&client.tracking_number)) {
            findings.add(Wrong::Lost, shop, rma);
        }
        let covers = |unit: &Option<String>| unit.as_ref() == Some(&client.refund);
        if client.refunding == Refunding::Acknowledged && !stored.units.iter().all(|unit| covers(&unit.refund)) {
            findings.add(Wrong::Lost, shop, rma);
        }
    }
    for (shop, rma) in returns.keys().filter(|key| !known.contains(*key)) {
        findings.add(Wrong::Doubled, *shop, rma);
    }
}

/// Every change has one message, with the next sequence.
fn check_sequences(history: &History, returns: &HashMap<Key, &StoredReturn>, findings: &mut Findings) {
    let mut messages: BTreeMap<Key, Vec<&StoredMessage>> = BTreeMap::new();
    for message in &history.stored.messages {
        messages.entry((message.shop, message.rma.clone())).or_default().push(message);
    }
    for ((shop, rma), messages) in &mut messages {
        messages.sort_by_key(|message| message.sequence);
        if !returns.contains_key(&(*shop, rma.clone())) {
            findings.add(Wrong::Strange, *shop, rma);
        }
        if messages.iter().filter(|message| message.event == "rma.refunded").count() > 1 {
            findings.add(Wrong::RefundedTwice, *shop, rma);
        }
    }
    for ((shop, rma), stored) in returns {
        let sequences = messages.get(&(*shop, rma.clone())).into_iter().flatten().map(|message| message.sequence);
        if !sequences.eq(1..=stored.sequence) {
            findings.add(Wrong::Gapped, *shop, rma);
        }
    }
}

/// Every message was received by its merchant, in order and unaltered.
fn check_received(history: &History, findings: &mut Findings) {
    let messages: HashMap<Uuid, &StoredMessage> = history.stored.messages.iter().map(|message| (message.id, message)).collect();
    let mut subjects: HashMap<Key, u64> = HashMap::new();
    let owed = history.stored.messages.iter().map(|message| {
        let next = subjects.len() as u64;
        let subject = *subjects.entry((message.shop, message.rma.clone())).or_insert(next);
        Owed { id: message.id, subject, sequence: message.sequence, digest: message.digest }
    });
    let owed: Vec<Owed> = owed.collect();
    let arrivals = history.receipts.iter().map(|receipt| Arrival {
        number: receipt.number,
        id: receipt.id,
        digest: receipt.digest,
        accepted: receipt.accepted,
    });
    let arrivals: Vec<Arrival> = arrivals.collect();
    // No message may be given up in these runs, so those in the failure queue count as lost.
    let waiting = history.stored.waiting.union(&history.stored.failed).copied().collect();
    let found = deliveries::check(&owed, &arrivals, &deliveries::Stored { waiting, ..deliveries::Stored::default() });
    findings.duplicates = found.duplicates;
    for (wrong, ids) in [(Wrong::Lost, &found.lost), (Wrong::Inverted, &found.inverted), (Wrong::Altered, &found.altered)] {
        for id in ids {
            let message = messages.get(id);
            findings.add(wrong, message.map_or(usize::MAX, |message| message.shop), message.map_or("", |message| &message.rma));
        }
    }
    let mut latest: HashMap<Key, i64> = HashMap::new();
    let mut receipts: Vec<&Receipt> = history.receipts.iter().collect();
    receipts.sort_by_key(|receipt| receipt.number);
    for receipt in receipts {
        let Some(message) = messages.get(&receipt.id) else { continue };
        if receipt.shop != message.shop || receipt.skus.iter().any(|of| *of != sku(receipt.shop)) {
            findings.add(Wrong::Strange, message.shop, &message.rma);
        }
        if receipt.sequence != message.sequence || receipt.rma != message.rma {
            findings.add(Wrong::Altered, message.shop, &message.rma);
        }
        // A message's first receipt must have the next sequence; a repeat has an earlier one.
        let latest = latest.entry((message.shop, message.rma.clone())).or_default();
        if message.sequence > *latest + 1 {
            findings.add(Wrong::Inverted, message.shop, &message.rma);
        }
        *latest = message.sequence.max(*latest);
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn nothing_is_found_in_records_that_agree() {
        let history = sample::history(60);
        assert_eq!(check(&history), Findings { closed: 60, ..Findings::default() });
    }

    #[test]
    fn a_message_that_comes_again_unaltered_is_counted_and_allowed() {
        let mut history = sample::history(3);
        let again = Receipt { number: 1_000, ..history.receipts[0].clone() };
        history.receipts.push(again);
        assert_eq!(check(&history), Findings { closed: 3, duplicates: 1, ..Findings::default() });
    }

    #[test]
    fn a_change_whose_answer_was_lost_may_be_there_or_not() {
        let mut history = sample::history(1);
        history.clients[0].least = 3;
        history.clients[0].refunding = Refunding::Sent;
        assert_eq!(check(&history).wrong, BTreeSet::new());
    }

    #[test]
    fn a_return_that_nobody_was_told_of_is_lost_to_its_client_and_doubled() {
        let mut history = sample::history(1);
        history.clients[0].rma = None;
        let found = check(&history).wrong;
        assert!(found.contains(&(Wrong::Lost, (0, "T-0-0".to_owned()))), "{found:?}");
        assert!(found.contains(&(Wrong::Doubled, (0, "R-0".to_owned()))), "{found:?}");
    }

    #[test]
    fn a_refused_message_out_of_order_is_an_inversion_by_first_receipt() {
        let mut history = sample::history(1);
        let early = Receipt { number: 1, accepted: false, ..history.receipts[2].clone() };
        history.receipts.iter_mut().for_each(|receipt| receipt.number += 1);
        history.receipts.push(early);
        assert_eq!(check(&history).wrong, BTreeSet::from([(Wrong::Inverted, (0, "R-0".to_owned()))]));
    }
}
