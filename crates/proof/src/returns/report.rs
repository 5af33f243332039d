//! What the checker says of a run.

use anyhow::ensure;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use super::faults;
use super::history::{History, Key, Wrong, check};
use crate::witness::SEED;

/// What was found, in numbers.
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

    /// The report of scenes beside each other.
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

    /// The result of the run `chaos`: what this run alone has to say, and what was found.
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

    /// Fails unless every return is closed, nothing is wrong with any, and the checker found what was seeded, by this result.
    pub(super) fn ensure(&self, result: &Value) -> anyhow::Result<()> {
        ensure!(self.wrong.is_empty(), "returns are wrong: {:?}: {result}", self.wrong);
        ensure!(self.closed == self.returns, "returns are not closed: {result}");
        ensure!(self.seeded > 0 && self.caught == self.seeded, "the checker missed a seeded fault: {result}");
        Ok(())
    }
}
