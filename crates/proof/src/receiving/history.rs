//! The checker: what scanners were answered, what the merchant's systems received, and what the database holds in the end.
//!
//! Whatever was answered is stored, whatever is stored was received: once, unaltered, and counted on its line.

use std::collections::{BTreeSet, HashMap, HashSet};

use uuid::Uuid;

use super::scanner::{Answer, unit};
use super::stored::{Stored, StoredMessage};
use crate::history::Arrival;

/// The records.
#[derive(Clone)]
pub(super) struct History {
    /// How many lines were announced.
    pub(super) lines: usize,
    pub(super) answers: Vec<Answer>,
    /// What arrived, each with the unit that it is about.
    pub(super) arrivals: Vec<(Arrival, String)>,
    pub(super) stored: Stored,
}

/// What can be wrong with a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wrong {
    /// It was answered and is not stored, or is stored and was not told.
    Lost,
    /// It was received or told twice.
    Doubled,
    /// Something arrived that was never said, or not so.
    Altered,
    /// Its line does not count what was received against it.
    Miscounted,
}

/// What is wrong with which units.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) wrong: BTreeSet<(Wrong, String)>,
    /// How often messages were accepted again, which is allowed.
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
    answered(history, &mut findings);
    counted(history, &mut findings);
    told(history, &mut findings);
    findings
}

/// What was answered is stored, and each unit was received in one answer at most.
fn answered(history: &History, findings: &mut Findings) {
    let received: HashSet<&str> = history.stored.receipts.iter().map(|(unit, _)| unit.as_str()).collect();
    let mut news: HashSet<&str> = HashSet::new();
    let mut heard: HashSet<&str> = HashSet::new();
    for Answer { unit, result } in &history.answers {
        heard.insert(unit);
        let stored = match result.as_str() {
            "received" => {
                if !news.insert(unit) {
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
    for unit in (0..history.lines).map(unit).filter(|unit| !heard.contains(unit.as_str()) || !received.contains(unit.as_str())) {
        findings.add(Wrong::Lost, &unit);
    }
}

/// A line counts what was received against it, which is the unit that it announces.
fn counted(history: &History, findings: &mut Findings) {
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

/// Each unit that was received has one message, which arrived as it was written.
fn told(history: &History, findings: &mut Findings) {
    let stored = &history.stored;
    let mut of_unit: HashMap<&str, Vec<&StoredMessage>> = HashMap::new();
    for message in &stored.messages {
        of_unit.entry(&message.unit).or_default().push(message);
    }
    let mut accepted: HashMap<Uuid, usize> = HashMap::new();
    let said: HashMap<Uuid, &StoredMessage> = stored.messages.iter().map(|message| (message.id, message)).collect();
    for (arrival, unit) in &history.arrivals {
        let same = said.get(&arrival.id).is_some_and(|message| message.digest == arrival.digest && message.unit == *unit);
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
