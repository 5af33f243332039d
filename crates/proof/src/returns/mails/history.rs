//! What was owed and what arrived, the checker, and the faults that it must find.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::ensure;
use sandbox::mailbox::Received;
use serde_json::{Value, json};
use sqlx::{PgConnection, Row as _};

/// A mail that reached the mail server.
#[derive(Clone)]
pub(super) struct Arrived {
    /// The Message-ID without brackets and domain.
    pub(super) id: String,
    /// Everything but the time of sending.
    pub(super) content: Vec<u8>,
    pub(super) accepted: bool,
}

impl Arrived {
    pub(super) fn of(mail: &Received) -> Self {
        let id = mail.message_id().and_then(|id| id.strip_prefix('<')?.split('@').next()).unwrap_or_default().to_owned();
        let dated = |line: &&[u8]| !line.starts_with(b"Date: ");
        let content = mail.raw().split(|byte| *byte == b'\n').filter(dated).collect::<Vec<_>>().concat();
        Self { id, content, accepted: mail.is_accepted() }
    }
}

/// The records of a run.
#[derive(Clone)]
pub(super) struct History {
    /// The merchant and name of each return.
    returns: BTreeSet<String>,
    /// The returns that were handed over.
    handed_over: BTreeSet<String>,
    /// Each stored mail: its id, its return and its name.
    stored: Vec<(String, String, String)>,
    arrived: Vec<Arrived>,
    /// Mails that were refused as often as they are tried. They wait in the failure queue for a person.
    given_up: BTreeSet<String>,
}

impl History {
    pub(super) async fn read(connection: &mut PgConnection, arrived: Vec<Arrived>) -> anyhow::Result<Self> {
        let returns = "select merchant_id || ' ' || identifier from rma";
        let returns = sqlx::query_scalar(returns).fetch_all(&mut *connection).await?.into_iter().collect();
        let moved =
            "select distinct merchant_id || ' ' || identifier from rma join rma_item using (merchant_id, rma_id) where parcel = 'ACCEPTED'";
        let handed_over = sqlx::query_scalar(moved).fetch_all(&mut *connection).await?.into_iter().collect();
        let mails = "select message_id::text, merchant_id || ' ' || subject, event from message where kind = 'mail'";
        let rows = sqlx::query(mails).fetch_all(&mut *connection).await?;
        let stored = rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect();
        let given_up = "select message_id::text from failure where kind = 'mail' and state = 'open'";
        let given_up = sqlx::query_scalar(given_up).fetch_all(&mut *connection).await?.into_iter().collect();
        Ok(Self { returns, handed_over, stored, arrived, given_up })
    }
}

/// What is wrong with a history.
#[derive(Default)]
pub(super) struct Findings {
    /// Mails that should have been owed and were not, or were owed and did not arrive.
    lost: usize,
    /// Mails that were owed twice.
    doubled: usize,
    /// Mails that arrived and were never owed.
    invented: usize,
    /// Repeats that are not the same mail.
    altered: usize,
}

/// Compares what was owed with what arrived.
pub(super) fn check(history: &History) -> Findings {
    let mut findings = Findings::default();
    let owed = |of: &BTreeSet<String>, mail: &str| -> (usize, usize) {
        let count = |rma: &String| history.stored.iter().filter(|stored| stored.1 == *rma && stored.2 == mail).count();
        let counts: Vec<usize> = of.iter().map(count).collect();
        (counts.iter().filter(|count| **count == 0).count(), counts.iter().filter(|count| **count > 1).count())
    };
    for (of, mail) in [(&history.returns, "mail.confirmed"), (&history.handed_over, "mail.on_its_way")] {
        let (missing, repeated) = owed(of, mail);
        findings.lost += missing;
        findings.doubled += repeated;
    }
    let mut copies: BTreeMap<&str, Vec<&Arrived>> = BTreeMap::new();
    for mail in &history.arrived {
        copies.entry(&mail.id).or_default().push(mail);
    }
    for (id, ..) in &history.stored {
        let accepted = copies.get(id.as_str()).is_some_and(|copies| copies.iter().any(|copy| copy.accepted));
        findings.lost += usize::from(!accepted && !history.given_up.contains(id));
    }
    let known: BTreeSet<&str> = history.stored.iter().map(|stored| stored.0.as_str()).collect();
    findings.invented = copies.keys().filter(|id| !known.contains(*id)).count();
    let differ = |copies: &&Vec<&Arrived>| copies.iter().any(|copy| copies.first().is_some_and(|first| first.content != copy.content));
    findings.altered = copies.values().filter(differ).count();
    findings
}

/// Adds each fault to a copy of the history. Returns how many the checker finds, and how many there are.
pub(super) fn caught(history: &History) -> (usize, usize) {
    let found = [
        fault(history, |history| drop(history.stored.pop()), |findings| findings.lost > 0),
        fault(history, forget_first, |findings| findings.lost > 0),
        fault(history, |history| history.stored.extend(history.stored.first().cloned()), |findings| findings.doubled > 0),
        fault(history, invent, |findings| findings.invented > 0),
        fault(history, alter, |findings| findings.altered > 0),
    ];
    (found.iter().filter(|found| **found).count(), found.len())
}

fn fault(history: &History, add: impl FnOnce(&mut History), finds: impl FnOnce(&Findings) -> bool) -> bool {
    let mut history = history.clone();
    add(&mut history);
    finds(&check(&history))
}

fn forget_first(history: &mut History) {
    if let Some((id, ..)) = history.stored.first().cloned() {
        history.arrived.retain(|mail| mail.id != id);
        history.given_up.remove(&id);
    }
}

fn invent(history: &mut History) {
    if let Some(mail) = history.arrived.first().cloned() {
        history.arrived.push(Arrived { id: "never-owed".to_owned(), ..mail });
    }
}

fn alter(history: &mut History) {
    if let Some(mail) = history.arrived.first().cloned() {
        history.arrived.push(Arrived { content: b"another text".to_vec(), ..mail });
    }
}

impl Findings {
    /// The result of a run; an error if anything is wrong or a fault was not found.
    pub(super) fn result(
        &self,
        history: &History,
        (kills, postfix): (u32, bool),
        (found, seeded): (usize, usize),
        took: Duration,
    ) -> anyhow::Result<Value> {
        let Self { lost, doubled, invented, altered } = self;
        let repeats = history.arrived.len().saturating_sub(history.arrived.iter().map(|mail| &mail.id).collect::<BTreeSet<_>>().len());
        let result = json!({
            "proof": "chaos-mails", "returns": history.returns.len(), "mails": history.stored.len(), "kills": kills, "postfix": postfix, "repeats": repeats, "given_up": history.given_up.len(),
            "lost": lost, "doubled": doubled, "invented": invented, "altered": altered,
            "seeded_caught": format!("{found}/{seeded}"), "seconds": took.as_secs(),
        });
        // A mail server that fails makes repeats; Postfix need not.
        ensure!(lost + doubled + invented + altered == 0 && found == seeded && (repeats > 0 || postfix), "{result}");
        Ok(result)
    }
}
