//! The checker's report on a run.

use anyhow::ensure;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use super::faults;
use super::findings::{History, Key, Wrong};
use super::history::check;
use crate::messages::witness::SEED;

/// The checker's findings and the counts of a run.
#[derive(Default)]
pub(super) struct Report {
    returns: usize,
    closed: usize,
    messages: usize,
    received: usize,
    duplicates: usize,
    wrong: Vec<(Wrong, Key)>,
    caught: usize,
    seeded: usize,
}

impl Report {
    pub(super) fn new(history: &History) -> Self {
        let findings = check(history);
        let (caught, seeded) = faults::seed(history, &mut StdRng::seed_from_u64(SEED));
        Self {
            returns: history.clients.len(),
            closed: findings.closed,
            messages: history.stored.messages.len(),
            received: history.receipts.len(),
            duplicates: findings.duplicates,
            wrong: findings.wrong.into_iter().collect(),
            caught,
            seeded,
        }
    }

    /// Joins the reports of parallel scenes.
    pub(super) fn join(reports: Vec<Self>) -> Self {
        let mut joined = Self::default();
        for report in reports {
            joined.returns += report.returns;
            joined.closed += report.closed;
            joined.messages += report.messages;
            joined.received += report.received;
            joined.duplicates += report.duplicates;
            joined.wrong.extend(report.wrong);
            joined.caught += report.caught;
            joined.seeded += report.seeded;
        }
        joined
    }

    /// The JSON result of the run `chaos`: its own figures in `own`, plus the report's.
    pub(super) fn result(&self, chaos: &str, mut own: Value) -> Value {
        let count = |wrong| self.wrong.iter().filter(|(found, _)| *found == wrong).count();
        let found = json!({
            "chaos": chaos, "returns": self.returns, "closed": self.closed, "messages": self.messages, "received": self.received,
            "duplicates": self.duplicates, "lost": count(Wrong::Lost), "inversions": count(Wrong::Inverted),
            "altered": count(Wrong::Altered), "gaps": count(Wrong::Gapped), "doubled": count(Wrong::Doubled),
            "double_refunds": count(Wrong::RefundedTwice), "closed_without_refund": count(Wrong::Unrefunded),
            "strangers": count(Wrong::Strange), "seeded_caught": self.caught, "seeded": self.seeded,
        });
        if let (Value::Object(own), Value::Object(found)) = (&mut own, found) {
            own.extend(found);
        }
        own
    }

    /// Fails unless every return is closed and without faults, and the checker found all seeded faults.
    pub(super) fn ensure(&self, result: &Value) -> anyhow::Result<()> {
        ensure!(self.wrong.is_empty(), "some returns are faulty: {:?}: {result}", self.wrong);
        ensure!(self.closed == self.returns, "some returns are not closed: {result}");
        ensure!(self.seeded > 0 && self.caught == self.seeded, "the checker missed a seeded fault: {result}");
        Ok(())
    }
}
