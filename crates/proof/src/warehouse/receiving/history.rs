//! The checker: compares the answers to scanners, the calls to the merchant's systems and the database.
//!
//! Every answered unit must be stored and counted on its line, and every stored unit must be reported to the merchant once and
//! unaltered.

use std::collections::{BTreeSet, HashMap, HashSet};

use uuid::Uuid;

use super::scanner::{Answer, unit};
use super::stored::{Stored, StoredMessage};
use crate::messages::history::Arrival;

/// The records of a run.
#[derive(Clone)]
pub(super) struct History {
    /// The number of lines announced.
    pub(super) lines: usize,
    pub(super) answers: Vec<Answer>,
    /// The calls received, each with its unit.
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
    /// Its line's count differs from the units received on it.
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
    check_messages(history, &mut findings);
    findings
}

/// Every answered unit is stored, and at most one answer says that it was newly received.
fn check_answers(history: &History, findings: &mut Findings) {
    let received: HashSet<&str> = history.stored.receipts.iter().map(|(unit, _)| unit.as_str()).collect();
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
    for unit in (0..history.lines).map(unit).filter(|unit| !answered.contains(unit.as_str()) || !received.contains(unit.as_str())) {
        findings.add(Wrong::Lost, &unit);
    }
}

/// Every line counts the units received on it, which are the announced ones.
fn check_counts(history: &History, findings: &mut Findings) {
    let mut on_line: HashMap<&str, Vec<&str>> = HashMap::new();
    for (unit, line) in &history.stored.receipts {
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

/// Every received unit has one message, which arrived unaltered.
fn check_messages(history: &History, findings: &mut Findings) {
    let stored = &history.stored;
    let mut of_unit: HashMap<&str, Vec<&StoredMessage>> = HashMap::new();
    for message in &stored.messages {
        of_unit.entry(&message.unit).or_default().push(message);
    }
    let mut accepted: HashMap<Uuid, usize> = HashMap::new();
    let written: HashMap<Uuid, &StoredMessage> = stored.messages.iter().map(|message| (message.id, message)).collect();
    for (arrival, unit) in &history.arrivals {
        let same = written.get(&arrival.id).is_some_and(|message| message.digest == arrival.digest && message.unit == *unit);
        if !same {
            findings.add(Wrong::Altered, unit);
        }
        if arrival.accepted {
            *accepted.entry(arrival.id).or_default() += 1;
        }
    }
    findings.duplicates = accepted.values().map(|times| times - 1).sum();
    let mut seen: HashSet<&str> = HashSet::new();
    for (unit, _) in &stored.receipts {
        if !seen.insert(unit) {
            findings.add(Wrong::Doubled, unit);
        }
        match of_unit.remove(unit.as_str()).unwrap_or_default().as_slice() {
            [message] => {
                let settled = !stored.waiting.contains(&message.id) && !stored.failed.contains(&message.id);
                if !settled || !accepted.contains_key(&message.id) {
                    findings.add(Wrong::Lost, unit);
                }
            }
            [] => findings.add(Wrong::Lost, unit),
            _ => findings.add(Wrong::Doubled, unit),
        }
    }
    for unit in of_unit.into_keys() {
        findings.add(Wrong::Altered, unit);
    }
}
