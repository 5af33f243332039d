//! The checker: compares the answers to shoppers with the stored returns, drafts and messages, and the messages received.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::ensure;
use sandbox::merchant::Received;
use serde_json::{Value, json};
use sqlx::{PgConnection, Row as _};
use uuid::Uuid;

/// The event of a new return.
const CREATED: &str = "rma.created";

/// An order, by its merchant and its identifier.
pub(super) type Key = (usize, String);

/// The answers to a shopper.
#[derive(Clone, Debug)]
pub(super) struct Confirmed {
    pub(super) shop: usize,
    pub(super) order: String,
    /// The draft on the check page.
    pub(super) draft: String,
    /// The returns that were shown as confirmed.
    pub(super) returns: BTreeSet<String>,
}

/// A message that a merchant got about a new return.
#[derive(Clone, Debug)]
pub(super) struct ReceivedMessage {
    pub(super) id: Uuid,
    pub(super) rma: String,
}

impl ReceivedMessage {
    /// Reads a request. `None` if it is about something else.
    pub(super) fn of(request: &Received) -> Option<Self> {
        let rma = request.json().get("rma_identifier").and_then(Value::as_str)?.to_owned();
        let created = request.header("x-service-event") == Some(CREATED);
        Some(Self { id: request.message_id()?.parse().ok()?, rma }).filter(|_| created)
    }
}

/// A draft in the database.
#[derive(Clone, Debug)]
pub(super) struct StoredDraft {
    pub(super) id: String,
    /// The return that it became.
    pub(super) rma: Option<String>,
}

/// The records in the database.
#[derive(Clone, Debug, Default)]
pub(super) struct Stored {
    pub(super) returns: BTreeMap<Key, Vec<String>>,
    pub(super) drafts: BTreeMap<Key, Vec<StoredDraft>>,
    /// The messages about new returns, by merchant and return.
    pub(super) messages: BTreeMap<Key, Vec<Uuid>>,
}

impl Stored {
    /// Reads the database. A merchant's shop number is its position in `merchants`.
    pub(super) async fn read(connection: &mut PgConnection, merchants: &[Uuid]) -> anyhow::Result<Self> {
        let shop = |merchant: Uuid| merchants.iter().position(|known| *known == merchant).unwrap_or(usize::MAX);
        let mut stored = Self::default();
        for row in sqlx::query("select merchant_id, order_identifier, identifier from rma").fetch_all(&mut *connection).await? {
            stored.returns.entry((shop(row.get(0)), row.get(1))).or_default().push(row.get(2));
        }
        let drafts = "select merchant_id, order_identifier, draft_id::text, rma_identifier from return_draft";
        for row in sqlx::query(drafts).fetch_all(&mut *connection).await? {
            let draft = StoredDraft { id: row.get(2), rma: row.get(3) };
            stored.drafts.entry((shop(row.get(0)), row.get(1))).or_default().push(draft);
        }
        let messages = "select merchant_id, subject, message_id from message where event = $1";
        for row in sqlx::query(messages).bind(CREATED).fetch_all(connection).await? {
            stored.messages.entry((shop(row.get(0)), row.get(1))).or_default().push(row.get(2));
        }
        Ok(stored)
    }
}

/// The records of a run.
#[derive(Clone, Debug)]
pub(super) struct History {
    pub(super) confirmed: Vec<Confirmed>,
    pub(super) stored: Stored,
    pub(super) received: Vec<ReceivedMessage>,
}

/// The possible faults of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wrong {
    /// The return, its draft or its message is missing, or the shopper was shown another return.
    Lost,
    /// There is a second return, draft or message.
    Doubled,
}

/// The checker's findings.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) wrong: BTreeSet<(Wrong, Key)>,
    shoppers: usize,
    returns: usize,
    messages: usize,
}

/// Compares all records.
pub(super) fn check(history: &History) -> Findings {
    let stored = &history.stored;
    let mut findings = Findings {
        shoppers: history.confirmed.len(),
        returns: stored.returns.values().map(Vec::len).sum(),
        messages: stored.messages.values().map(Vec::len).sum(),
        ..Findings::default()
    };
    for confirmed in &history.confirmed {
        let key = (confirmed.shop, confirmed.order.clone());
        for wrong in of_shopper(history, confirmed, &key) {
            findings.wrong.insert((wrong, key.clone()));
        }
    }
    // Nobody else has a return.
    let known: BTreeSet<Key> = history.confirmed.iter().map(|confirmed| (confirmed.shop, confirmed.order.clone())).collect();
    findings.wrong.extend(stored.returns.keys().filter(|key| !known.contains(*key)).map(|key| (Wrong::Doubled, key.clone())));
    findings
}

fn of_shopper(history: &History, confirmed: &Confirmed, key: &Key) -> Vec<Wrong> {
    let stored = &history.stored;
    let returns = stored.returns.get(key).map(Vec::as_slice).unwrap_or_default();
    let drafts = stored.drafts.get(key).map(Vec::as_slice).unwrap_or_default();
    let mut wrong = Vec::new();
    if returns.len() > 1 || drafts.len() > 1 || confirmed.returns.len() > 1 {
        wrong.push(Wrong::Doubled);
    }
    let Some(rma) = returns.first().filter(|rma| confirmed.returns.contains(*rma)) else {
        wrong.push(Wrong::Lost);
        return wrong;
    };
    if !drafts.iter().any(|draft| draft.id == confirmed.draft && draft.rma.as_ref() == Some(rma)) {
        wrong.push(Wrong::Lost);
    }
    let messages = stored.messages.get(&(key.0, rma.clone())).map(Vec::as_slice).unwrap_or_default();
    let received: BTreeSet<Uuid> = history.received.iter().filter(|message| message.rma == *rma).map(|message| message.id).collect();
    if messages.len() > 1 || received.len() > 1 {
        wrong.push(Wrong::Doubled);
    }
    if messages.is_empty() || messages.iter().any(|message| !received.contains(message)) {
        wrong.push(Wrong::Lost);
    }
    wrong
}

impl Findings {
    /// The result as JSON. Fails if something was wrong, or if the checker missed a seeded fault.
    pub(super) fn result(&self, kills: usize, (caught, seeded): (usize, usize), took: Duration) -> anyhow::Result<Value> {
        let count = |wanted: Wrong| self.wrong.iter().filter(|(wrong, _)| *wrong == wanted).count();
        let result = json!({
            "chaos": "portal", "shoppers": self.shoppers, "kills": kills, "returns": self.returns, "messages": self.messages,
            "doubled": count(Wrong::Doubled), "lost": count(Wrong::Lost), "seeded_caught": caught, "seeded": seeded,
            "seconds": took.as_secs(),
        });
        ensure!(self.wrong.is_empty(), "some returns are faulty: {:?}: {result}", self.wrong);
        ensure!(seeded > 0 && caught == seeded, "the checker missed a seeded fault: {result}");
        ensure!(kills > 0, "no kill came while shoppers confirmed: {result}");
        Ok(result)
    }
}
