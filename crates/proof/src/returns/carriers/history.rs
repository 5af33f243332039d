//! The checker: compares the labels sold by carriers, the stored returns and the messages to the merchants.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::ensure;
use sandbox::carrier::Shipment;
use sandbox::merchant::Received;
use serde_json::{Value, json};
use sqlx::PgConnection;
use uuid::Uuid;

/// A return: its merchant and its identifier.
pub(super) type Key = (usize, String);

/// The states of a parcel, in order. Goods are accepted before or after their label, or scanned first.
const STATES: [&str; 5] = ["", "PRE_TRANSIT", "ACCEPTED", "TRANSIT", "DELIVERED"];

/// A carrier's record of a shipment.
#[derive(Clone, Debug)]
pub(super) struct Sold {
    key: Key,
    bought: u32,
    tracking_number: Option<String>,
}

impl Sold {
    pub(super) fn of(shop: usize, shipments: &[Shipment]) -> Vec<Self> {
        let sold = |shipment: &Shipment| Self {
            key: (shop, shipment.reference.clone().unwrap_or_default()),
            bought: shipment.bought,
            tracking_number: shipment.tracking_code.clone(),
        };
        shipments.iter().map(sold).collect()
    }
}

/// A message about a parcel that a merchant's systems accepted.
#[derive(Clone, Debug)]
pub(super) struct ParcelMessage {
    key: Key,
    id: Uuid,
    sequence: u64,
    parcel: String,
    /// It has a tracking number.
    numbered: bool,
}

impl ParcelMessage {
    pub(super) fn of(shop: usize, received: &Received) -> Self {
        let body = received.json();
        let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        Self {
            key: (shop, text("/rma_identifier")),
            id: received.message_id().and_then(|id| id.parse().ok()).unwrap_or_default(),
            sequence: received.sequence().unwrap_or_default(),
            parcel: text("/items/0/package_tracking_status"),
            numbered: !text("/items/0/tracking_number").is_empty(),
        }
    }
}

/// The stored returns, each with its tracking number and that of its label.
#[derive(Clone, Debug, Default)]
pub(super) struct Stored(BTreeMap<Key, (Option<String>, Option<String>)>);

impl Stored {
    /// Reads the database. A merchant's shop number is its position in `merchants`.
    pub(super) async fn read(connection: &mut PgConnection, merchants: &[Uuid]) -> anyhow::Result<Self> {
        let rows: Vec<(Uuid, String, Option<String>, Option<String>)> = sqlx::query_as(
            "select rma.merchant_id, identifier, rma_item.tracking_number, label.tracking_number \
            from rma join rma_item using (merchant_id, rma_id) left join label using (merchant_id, rma_id)",
        )
        .fetch_all(connection)
        .await?;
        let shop = |merchant: Uuid| merchants.iter().position(|known| *known == merchant).unwrap_or(usize::MAX);
        Ok(Self(rows.into_iter().map(|(merchant, rma, number, label)| ((shop(merchant), rma), (number, label))).collect()))
    }
}

/// The records of a run.
#[derive(Clone, Debug)]
pub(super) struct History {
    pub(super) sold: Vec<Sold>,
    pub(super) stored: Stored,
    /// In the order of arrival.
    pub(super) messages: Vec<ParcelMessage>,
    /// The returns whose drop-off was acknowledged as a change.
    pub(super) handed_over: Vec<Key>,
}

/// The checker's findings.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Findings {
    returns: usize,
    /// Returns with one label that has the carrier's tracking number.
    labelled: usize,
    /// Returns that were handed over before their label.
    handed_over_early: usize,
    bought_twice: BTreeSet<Key>,
    /// Returns whose merchants got no message about the label or the last scan.
    scans_lost: BTreeSet<Key>,
    /// Returns whose merchants were not told of an acknowledged drop-off.
    drop_offs_lost: BTreeSet<Key>,
    /// Returns with a newer message received before an older one.
    inversions: BTreeSet<Key>,
    /// Returns with two messages for the same state.
    told_twice: BTreeSet<Key>,
}

pub(super) fn check(history: &History) -> Findings {
    let mut bought: BTreeMap<&Key, (u32, Option<&str>)> = BTreeMap::new();
    for sold in &history.sold {
        let (times, number) = bought.entry(&sold.key).or_default();
        *times += sold.bought;
        *number = number.or(sold.tracking_number.as_deref());
    }
    let mut findings = Findings { returns: history.stored.0.len(), ..Findings::default() };
    findings.bought_twice = bought.iter().filter(|(_, (times, _))| *times > 1).map(|(key, _)| (*key).clone()).collect();
    for (key, (number, label)) in &history.stored.0 {
        let sold = bought.get(key).and_then(|(_, number)| *number);
        findings.labelled += usize::from(sold.is_some() && number.as_deref() == sold && label.as_deref() == sold);
        let messages: Vec<&ParcelMessage> = history.messages.iter().filter(|message| message.key == *key).collect();
        check_messages(key, &messages, &mut findings);
        if history.handed_over.contains(key) && !messages.iter().any(|message| message.parcel == "ACCEPTED") {
            findings.drop_offs_lost.insert(key.clone());
        }
    }
    findings
}

fn check_messages(key: &Key, messages: &[&ParcelMessage], findings: &mut Findings) {
    let mut states: BTreeMap<(&str, bool), BTreeSet<Uuid>> = BTreeMap::new();
    let mut newest = (0, (0, false));
    let mut seen = BTreeSet::new();
    for message in messages {
        states.entry((&message.parcel, message.numbered)).or_default().insert(message.id);
        // A repeat of an accepted message, whose answer was lost, is allowed.
        if seen.insert(message.id) {
            let place = STATES.iter().position(|state| *state == message.parcel).unwrap_or_default();
            if message.sequence <= newest.0 || (place, message.numbered) < newest.1 {
                findings.inversions.insert(key.clone());
            }
            newest = (message.sequence, (place, message.numbered));
        }
    }
    let early = states.contains_key(&("ACCEPTED", false));
    findings.handed_over_early += usize::from(early);
    let label = if early { "ACCEPTED" } else { "PRE_TRANSIT" };
    if ![("", false), (label, true), ("DELIVERED", true)].iter().all(|state| states.contains_key(state)) {
        findings.scans_lost.insert(key.clone());
    }
    if states.values().any(|messages| messages.len() > 1) {
        findings.told_twice.insert(key.clone());
    }
}

impl Findings {
    pub(super) fn result(&self, kills: u32, took: Duration) -> Value {
        json!({
            "chaos": "carriers", "kills": kills, "seconds": took.as_secs(), "returns": self.returns, "labelled": self.labelled,
            "handed_over_early": self.handed_over_early, "drop_offs_lost": self.drop_offs_lost.len(), "bought_twice": self.bought_twice.len(), "scans_lost": self.scans_lost.len(), "inversions": self.inversions.len(),
            "told_twice": self.told_twice.len(),
        })
    }

    /// Fails unless all `expected` returns have one label each and no faults.
    pub(super) fn ensure(&self, expected: usize, result: &Value) -> anyhow::Result<()> {
        ensure!(self.returns == expected && self.labelled == expected, "some returns have no label: {result}");
        ensure!(self.handed_over_early > 0, "no return was handed over before its label: {result}");
        let wrong = [&self.bought_twice, &self.scans_lost, &self.drop_offs_lost, &self.inversions, &self.told_twice];
        ensure!(wrong.iter().all(|found| found.is_empty()), "some returns are faulty: {wrong:?}: {result}");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Key {
        (1, "R-1".to_owned())
    }

    fn message(sequence: u64, parcel: &str) -> ParcelMessage {
        let numbered = !parcel.is_empty();
        ParcelMessage { key: key(), id: Uuid::from_u128(sequence.into()), sequence, parcel: parcel.to_owned(), numbered }
    }

    fn sound() -> History {
        let number = || Some("T-1".to_owned());
        History {
            sold: vec![Sold { key: key(), bought: 1, tracking_number: number() }],
            stored: Stored([(key(), (number(), number()))].into()),
            messages: vec![
                message(1, ""),
                message(2, "PRE_TRANSIT"),
                message(3, "TRANSIT"),
                message(3, "TRANSIT"),
                message(4, "DELIVERED"),
            ],
            handed_over: Vec::new(),
        }
    }

    /// Handed over before the label.
    fn early() -> History {
        let accepted = ParcelMessage { numbered: false, ..message(2, "ACCEPTED") };
        let messages = vec![message(1, ""), accepted, message(3, "ACCEPTED"), message(4, "TRANSIT"), message(5, "DELIVERED")];
        History { messages, handed_over: vec![key()], ..sound() }
    }

    #[test]
    fn nothing_is_found_where_nothing_is_wrong() {
        assert_eq!(check(&sound()), Findings { returns: 1, labelled: 1, ..Findings::default() });
        assert_eq!(check(&early()), Findings { returns: 1, labelled: 1, handed_over_early: 1, ..Findings::default() });
    }

    #[test]
    fn every_fault_is_found() {
        let found = |spoil: fn(&mut History)| {
            let mut history = sound();
            spoil(&mut history);
            let Findings { labelled, bought_twice, scans_lost, inversions, told_twice, .. } = check(&history);
            (labelled, bought_twice.len(), scans_lost.len(), inversions.len(), told_twice.len())
        };
        assert_eq!(found(|history| history.sold.push(history.sold[0].clone())), (1, 1, 0, 0, 0));
        assert_eq!(found(|history| history.sold[0].tracking_number = Some("T-2".to_owned())), (0, 0, 0, 0, 0));
        assert_eq!(found(|history| history.stored = Stored([(key(), (None, None))].into())), (0, 0, 0, 0, 0));
        assert_eq!(found(|history| drop(history.messages.pop())), (1, 0, 1, 0, 0));
        assert_eq!(found(|history| history.messages.swap(1, 2)), (1, 0, 0, 1, 0));
        assert_eq!(found(|history| history.messages.push(message(5, "DELIVERED"))), (1, 0, 0, 0, 1));
        assert_eq!(found(|history| history.messages.push(message(5, "TRANSIT"))), (1, 0, 0, 1, 1));
    }

    #[test]
    fn a_drop_off_that_nobody_was_told_of_and_a_number_that_was_taken_back_are_found() {
        let unheard = History { handed_over: vec![key()], ..sound() };
        assert_eq!(check(&unheard).drop_offs_lost, BTreeSet::from([key()]));
        let mut backwards = early();
        backwards.messages.swap(1, 2);
        assert_eq!(check(&backwards).inversions, BTreeSet::from([key()]));
        let mut without_its_number = early();
        without_its_number.messages.remove(2);
        assert_eq!(check(&without_its_number).scans_lost, BTreeSet::from([key()]));
    }
}
