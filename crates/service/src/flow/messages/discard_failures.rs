//! The operator discards many entries of the failure queue: their messages are never delivered.

use domain::id::MerchantId;
use store::Failed;
use store::merchants::audit::{self, Entry};
use store::messages::failure_notes::{self, NewNote, NoteKind};
use store::messages::failure_selection::{self, Selection};
use store::messages::{deliveries, failures};

use crate::app::App;
use crate::flow::messages::work_on_failures::describe;

/// The most entries that one transaction discards.
pub const MOST_AT_ONCE: i64 = 1_000;

/// The reasons entries cannot be discarded.
#[derive(Debug, thiserror::Error)]
pub enum DiscardFailuresError {
    #[error("none of these messages can be discarded any more: somebody has retried or discarded them")]
    NothingLeft,
    /// Carries how many there are now, and how many the person saw.
    #[error("the failure queue has changed: {now} of the {expected} messages can still be discarded")]
    Changed { now: i64, expected: i64 },
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// The entries to discard in one transaction.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// The most entries, up to [`MOST_AT_ONCE`].
    pub most: i64,
    /// The number that the person has seen: nothing happens if there are fewer now.
    pub expected: Option<i64>,
}

/// Discards the oldest entries of `selection`, as many as `bound` allows, and returns their number. Messages that a return waits for are
/// left out. A caller that may discard more calls again until there is nothing left.
pub async fn discard_failures(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    selection: &Selection,
    bound: Bound,
) -> Result<usize, DiscardFailuresError> {
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    let messages = failure_selection::lock(&mut tx, selection, bound.most.clamp(1, MOST_AT_ONCE), true).await?;
    let found = i64::try_from(messages.len()).unwrap_or(i64::MAX);
    if let Some(expected) = bound.expected.filter(|expected| found < *expected) {
        return Err(DiscardFailuresError::Changed { now: found, expected });
    }
    if messages.is_empty() {
        return Err(DiscardFailuresError::NothingLeft);
    }
    failures::discard_all(&mut tx, &messages).await?;
    // Retries under way end too.
    deliveries::discard_all(&mut tx, &messages).await?;
    let note = NewNote { id: app.mint(), made_at: now, actor, kind: NoteKind::Discarded, text: None };
    failure_notes::insert(&mut tx, &messages, note).await?;
    let detail = describe(selection, messages.len());
    audit::record(&mut tx, Entry { id: app.mint(), actor, action: "failures.discarded", detail: &detail, done_at: now }).await?;
    app.commit(tx).await?;
    Ok(messages.len())
}
