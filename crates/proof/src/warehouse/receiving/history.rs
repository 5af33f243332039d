//! The checker: compares the answers to scanners, the calls to the merchant's systems and the database.
//!
//! Every answered unit must be stored and counted on its line or in its return. Every unit of the ASN must be reported to the
//! merchant once and unaltered, and every arrival of a return by its next message.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use uuid::Uuid;

use super::returned::Returned;
use super::scanner::{Answer, unit};
use super::stored::{Stored, StoredMessage, StoredReceipt, StoredReturnMessage};
use crate::messages::history::Arrival;

/// The records of a run.
#[derive(Clone)]
pub(super) struct History {
    /// The number of lines announced.
    pub(super) lines: usize,
    /// The units that are received for their returns.
    pub(super) returned: Vec<Returned>,
    pub(super) answers: Vec<Answer>,
    /// The calls received, each with its unit or its return.
    pub(super) arrivals: Vec<(Arrival, String)>,
    pub(super) stored: Stored,
}

/// The possible faults of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wrong {
    /// It was answered but not stored, or stored but not reported.
    Lost,
    /// It was received or reported twice.
    Doubled,
    /// A call carried other bytes than its message, or belongs to no message.
    Altered,
    /// The count of its line or its return differs from the units received.
    Miscounted,
}

/// The faulty units, and the number of duplicates.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) wrong: BTreeSet<(Wrong, String)>,
    /// Repeated acceptances of a message, which are allowed.
    pub(super) duplicates: usize,
}

impl Findings {
    fn add(&mut self, wrong: Wrong, unit: &str) {
        self.wrong.insert((wrong, unit.to_owned()));
    }
}

/// Compares the records.
pub(super) fn check(history: &History) -> Findings {
    let mut findings = Findings::default();
    check_answers(history, &mut findings);
    check_counts(history, &mut findings);
    check_returns(history, &mut findings);
    check_messages(history, &mut findings);
    findings
}

/// Every answered unit is stored, and at most one answer says that it was newly received.
fn check_answers(history: &History, findings: &mut Findings) {
    let received: HashSet<&str> = history.stored.receipts.iter().map(|receipt| receipt.unit.as_str()).collect();
    let mut newly: HashSet<&str> = HashSet::new();
    let mut answered: HashSet<&str> = HashSet::new();
    for Answer { unit, result } in &history.answers {
        answered.insert(unit);
        let stored = match result.as_str() {
            "received" => {
                if !newly.insert(unit) {
                    findings.add(Wrong::Doubled, unit);
                }
                received.contains(unit.as_str())
            }
            "already_received" => received.contains(unit.as_str()),
            "exception" => history.stored.exceptions.contains(unit),
            _ => false,
        };
        if !stored {
            findings.add(Wrong::Lost, unit);
        }
    }
    let all = (0..history.lines).map(unit).chain(history.returned.iter().map(|of| of.unit.clone()));
    for unit in all.filter(|unit| !answered.contains(unit.as_str()) || !received.contains(unit.as_str())) {
        findings.add(Wrong::Lost, &unit);
    }
}

/// Every line counts the units received on it, which are the announced ones.
fn check_counts(history: &History, findings: &mut Findings) {
    let mut on_line: HashMap<&str, Vec<&str>> = HashMap::new();
    for StoredReceipt { unit, line, .. } in history.stored.receipts.iter().filter(|receipt| receipt.rma.is_none()) {
        on_line.entry(line).or_default().push(unit);
    }
    for line in &history.stored.lines {
        let units = on_line.remove(line.name.as_str()).unwrap_or_default();
        let announced = units.iter().all(|unit| *unit == line.unit);
        if usize::try_from(line.received).ok() != Some(units.len()) || line.received > line.quantity || !announced {
            findings.add(Wrong::Miscounted, &line.unit);
        }
    }
    for unit in on_line.into_values().flatten() {
        findings.add(Wrong::Miscounted, unit);
    }
}

/// Every return has received the units that were scanned for it, and each of its messages reports more of them, up to all.
fn check_returns(history: &History, findings: &mut Findings) {
    let stored = &history.stored;
    let of_unit: HashMap<&str, &str> = history.returned.iter().map(|of| (of.unit.as_str(), of.rma.as_str())).collect();
    let mut arrived: HashMap<&str, i64> = HashMap::new();
    for receipt in &stored.receipts {
        let Some(rma) = receipt.rma.as_deref() else { continue };
        *arrived.entry(rma).or_default() += 1;
        if of_unit.get(receipt.unit.as_str()) != Some(&rma) {
            findings.add(Wrong::Miscounted, &receipt.unit);
        }
    }
    let mut messages: HashMap<&str, BTreeMap<i64, Vec<&StoredReturnMessage>>> = HashMap::new();
    for message in &stored.return_messages {
        messages.entry(&message.rma).or_default().entry(message.sequence).or_default().push(message);
    }
    for kept in &stored.returns {
        if arrived.get(kept.name.as_str()).copied().unwrap_or_default() != kept.received || kept.received > kept.units {
            findings.add(Wrong::Miscounted, &kept.name);
        }
        let told = messages.remove(kept.name.as_str()).unwrap_or_default();
        let complete = told.keys().copied().eq(1..=i64::try_from(told.len()).unwrap_or_default());
        let counts: Vec<i64> = told.values().flatten().map(|message| message.received).collect();
        if !complete || counts.last() != Some(&kept.units) {
            findings.add(Wrong::Lost, &kept.name);
        }
        if !counts.is_sorted_by(|one, next| one < next) {
            findings.add(Wrong::Doubled, &kept.name);
        }
    }
}

/// Every unit that was received against the ASN has one message, no other unit has, and all messages arrived unaltered.
fn check_messages(history: &History, findings: &mut Findings) {
    let stored = &history.stored;
    let mut of_unit: HashMap<&str, Vec<&StoredMessage>> = HashMap::new();
    for message in &stored.messages {
        of_unit.entry(&message.unit).or_default().push(message);
    }
    let mut accepted: HashMap<Uuid, usize> = HashMap::new();
    let of_units = stored.messages.iter().map(|message| (message.id, (&message.digest, &message.unit)));
    let of_returns = stored.return_messages.iter().map(|message| (message.id, (&message.digest, &message.rma)));
    let written: HashMap<Uuid, _> = of_units.chain(of_returns).collect();
    for (arrival, subject) in &history.arrivals {
        if written.get(&arrival.id) != Some(&(&arrival.digest, subject)) {
            findings.add(Wrong::Altered, subject);
        }
        if arrival.accepted {
            *accepted.entry(arrival.id).or_default() += 1;
        }
    }
    findings.duplicates = accepted.values().map(|times| times - 1).sum();
    let arrived = |id: &Uuid| accepted.contains_key(id) && !stored.waiting.contains(id) && !stored.failed.contains(id);
    for message in stored.return_messages.iter().filter(|message| !arrived(&message.id)) {
        findings.add(Wrong::Lost, &message.rma);
    }
    let mut seen: HashSet<&str> = HashSet::new();
    for StoredReceipt { unit, rma, .. } in &stored.receipts {
        if !seen.insert(unit) {
            findings.add(Wrong::Doubled, unit);
        }
        if rma.is_some() {
            continue;
        }
        match of_unit.remove(unit.as_str()).unwrap_or_default().as_slice() {
            [message] if arrived(&message.id) => {}
            [_] | [] => findings.add(Wrong::Lost, unit),
            _ => findings.add(Wrong::Doubled, unit),
        }
    }
    for unit in of_unit.into_keys() {
        findings.add(Wrong::Altered, unit);
    }
}
