//! The witness of a fault run: it records the messages owed and the calls received. In the end the checker in `history.rs`
//! compares both with the database.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::ensure;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use sandbox::merchant::{Answer, Merchant, Received};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::messages::history::{self, Arrival, Findings, Owed, SEEDED, Stored};

/// The percentage of calls that fail in most runs.
pub(crate) const FAILING: u8 = 30;
/// The seed that decides which calls fail.
pub(crate) const SEED: u64 = 7;

/// The messages owed and the calls received.
#[derive(Default)]
pub(crate) struct Witness {
    owed: Mutex<Vec<Owed>>,
    arrivals: Mutex<Vec<Arrival>>,
}

impl Witness {
    fn owed(&self) -> MutexGuard<'_, Vec<Owed>> {
        self.owed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn arrivals(&self) -> MutexGuard<'_, Vec<Arrival>> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a message that a flow has committed.
    pub(crate) fn owe(&self, id: Uuid, subject: u64, sequence: i64, body: &str) {
        self.owed().push(Owed { id, subject, sequence, digest: Sha256::digest(body).into() });
    }

    /// Records a call. Returns the id of its message.
    pub(crate) fn arrive(&self, received: &Received, accepted: bool) -> Option<Uuid> {
        let id = received.message_id().and_then(|id| id.parse().ok())?;
        self.arrivals().push(Arrival { number: received.number(), id, digest: received.digest(), accepted });
        Some(id)
    }

    /// The number of calls received.
    pub(crate) fn calls(&self) -> usize {
        self.arrivals().len()
    }

    /// The subjects with a message accepted after the first `calls` calls.
    pub(crate) fn accepted_after(&self, calls: usize) -> HashSet<u64> {
        let accepted: HashSet<Uuid> =
            self.arrivals().iter().skip(calls).filter(|arrival| arrival.accepted).map(|arrival| arrival.id).collect();
        self.owed().iter().filter(|owed| accepted.contains(&owed.id)).map(|owed| owed.subject).collect()
    }

    /// Records the calls to `path` of `systems`, and makes `failing` of 100 fail.
    pub(crate) fn watch(self: &Arc<Self>, systems: &Merchant, path: &str, failing: u8) {
        systems.keep_bodies(false);
        let witness = Arc::clone(self);
        systems.answer_by(path, move |received| {
            let (accepted, answer) = answer_by_chance(received, failing);
            witness.arrive(received, accepted);
            answer
        });
    }

    /// Compares the messages owed with the calls received and the database.
    pub(crate) async fn check(&self, connection: &mut PgConnection) -> anyhow::Result<Report> {
        let ids = |rows: Vec<Uuid>| rows.into_iter().collect::<HashSet<_>>();
        let stored = Stored {
            waiting: ids(sqlx::query_scalar("select message_id from delivery").fetch_all(&mut *connection).await?),
            failed: ids(sqlx::query_scalar("select message_id from failure").fetch_all(connection).await?),
        };
        Ok(Report::new(self.owed().clone(), self.arrivals().clone(), stored))
    }
}

/// Chooses the answer to a call so that `failing` of 100 fail. It depends only on the message, the attempt and the seed.
/// Returns whether the call is accepted, and the answer.
pub(crate) fn answer_by_chance(received: &Received, failing: u8) -> (bool, Answer) {
    let [chance, manner, delay] = draw(received);
    let accepted = chance >= failing;
    let answer = match (accepted, manner % 4) {
        (true, _) => Answer::ok(),
        (false, 0) => Answer::reset(),
        (false, 1) => Answer::close(),
        (false, 2) => Answer::status(503),
        (false, _) => Answer::status(500),
    };
    // Some answers are slow, so that faults hit calls in flight.
    (accepted, answer.delay(Duration::from_millis(u64::from(delay % 20))))
}

/// Three pseudo-random numbers from the message, the attempt and the seed; the first is below 100.
fn draw(received: &Received) -> [u8; 3] {
    let text = format!("{SEED} {} {}", received.message_id().unwrap_or_default(), received.attempt().unwrap_or_default());
    let digest: [u8; 32] = Sha256::digest(text).into();
    // The first two bytes, reduced nearly evenly to a number below 100.
    let chance = u16::from_be_bytes([digest[0], digest[1]]) % 100;
    [u8::try_from(chance).unwrap_or_default(), digest[2], digest[3]]
}

/// The checker's report.
pub(crate) struct Report {
    pub(crate) owed: Vec<Owed>,
    pub(crate) arrivals: Vec<Arrival>,
    pub(crate) stored: Stored,
    pub(crate) found: Findings,
}

impl Report {
    fn new(owed: Vec<Owed>, arrivals: Vec<Arrival>, stored: Stored) -> Self {
        let found = history::check(&owed, &arrivals, &stored);
        Self { owed, arrivals, stored, found }
    }

    /// Joins the reports of parallel stages, whose subjects differ.
    pub(crate) fn join(reports: Vec<Self>) -> Self {
        let (mut owed, mut arrivals, mut stored) = (Vec::new(), Vec::new(), Stored::default());
        for report in reports {
            owed.extend(report.owed);
            arrivals.extend(report.arrivals);
            stored.waiting.extend(report.stored.waiting);
            stored.failed.extend(report.stored.failed);
        }
        Self::new(owed, arrivals, stored)
    }

    /// The JSON result of the run `chaos`: its own figures in `own`, plus the checker's.
    pub(crate) fn result(&self, chaos: &str, mut own: Value) -> Value {
        let caught = history::seed(&self.owed, &self.arrivals, &self.stored, &mut StdRng::seed_from_u64(SEED));
        let refused = self.arrivals.iter().filter(|arrival| !arrival.accepted).count();
        let found = json!({
            "chaos": chaos, "owed": self.owed.len(), "sent": self.arrivals.len(), "refused": refused,
            "lost": self.found.lost.len(), "inversions": self.found.inverted.len(), "altered": self.found.altered.len(),
            "duplicates": self.found.duplicates, "in_failure_queue": self.stored.failed.len(), "waiting": self.stored.waiting.len(),
            "seeded_caught": caught, "seeded": SEEDED,
        });
        if let (Value::Object(own), Value::Object(found)) = (&mut own, found) {
            own.extend(found);
        }
        own
    }

    /// Fails unless every message arrived in order and unaltered, and the checker found all seeded faults.
    pub(crate) fn ensure(&self, result: &Value) -> anyhow::Result<()> {
        ensure!(self.found.lost.is_empty(), "messages were lost: {result}");
        ensure!(self.found.inverted.is_empty(), "messages of a subject were delivered out of order: {result}");
        ensure!(self.found.altered.is_empty(), "messages were altered: {result}");
        ensure!(result.get("seeded_caught") == Some(&json!(SEEDED)), "the checker missed a seeded fault: {result}");
        Ok(())
    }
}
