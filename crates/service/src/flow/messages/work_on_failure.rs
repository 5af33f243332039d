//! The operator works on an entry of the failure queue: assigns an owner, adds a note, marks the merchant as contacted, or discards it.

use domain::id::MerchantId;
use domain::returns::rma::ExchangeState;
use store::Failed;
use store::merchants::audit::{self, Entry};
use store::messages::failure_notes::{self, NewNote, NoteKind};
use store::messages::failures::Work;
use store::messages::{deliveries, failures};
use store::returns::exchange_orders;
use uuid::Uuid;

use crate::app::App;
use crate::flow::messages::work_on_failures::{LONGEST_NOTE, LONGEST_OWNER};

/// The reasons an entry cannot be worked on.
#[derive(Debug, thiserror::Error)]
pub enum WorkOnFailureError {
    /// Also when the entry has been resolved.
    #[error("the message {0} is not in the failure queue; `backhaul failures list --merchant HANDLE` lists its entries")]
    NotInQueue(Uuid),
    #[error(
        "the message cannot be discarded because a return waits for this exchange order; record the order with `backhaul returns exchange-placed --merchant HANDLE` or refund the units with `backhaul returns convert-exchange --merchant HANDLE`, which both discard the message"
    )]
    ExchangePending,
    #[error("write an owner of at most {LONGEST_OWNER} characters")]
    Owner,
    #[error("write a note of at most {LONGEST_NOTE} characters")]
    Note,
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// An action on an entry of the failure queue.
#[derive(Clone, Debug)]
pub enum FailureAction {
    AssignOwner(String),
    AddNote(String),
    /// The merchant's technical contact has been informed.
    MarkContacted,
    Discard,
}

impl FailureAction {
    const fn audit_action(&self) -> &'static str {
        match self {
            Self::AssignOwner(_) => "failure.owned",
            Self::AddNote(_) => "failure.noted",
            Self::MarkContacted => "failure.contacted",
            Self::Discard => "failure.discarded",
        }
    }

    fn check(&self) -> Result<(), WorkOnFailureError> {
        let fits = |text: &str, most: usize| !text.trim().is_empty() && text.chars().count() <= most;
        match self {
            Self::AssignOwner(owner) if !fits(owner, LONGEST_OWNER) => Err(WorkOnFailureError::Owner),
            Self::AddNote(note) if !fits(note, LONGEST_NOTE) => Err(WorkOnFailureError::Note),
            Self::AssignOwner(_) | Self::AddNote(_) | Self::MarkContacted | Self::Discard => Ok(()),
        }
    }

    /// The kind of the step in the entry's history, and its text.
    fn note(&self) -> (NoteKind, Option<String>) {
        match self {
            Self::AssignOwner(owner) => (NoteKind::Owner, Some(owner.clone())),
            Self::AddNote(note) => (NoteKind::Note, Some(note.clone())),
            Self::MarkContacted => (NoteKind::Contacted, None),
            Self::Discard => (NoteKind::Discarded, None),
        }
    }
}

/// Applies an action to the entry of `message`.
pub async fn work_on_failure(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    message: Uuid,
    action: FailureAction,
) -> Result<(), WorkOnFailureError> {
    let now = app.now();
    action.check()?;
    let mut tx = app.begin(merchant).await?;
    let audit_action = action.audit_action();
    let (kind, text) = action.note();
    let done = match action {
        FailureAction::AssignOwner(owner) => failures::save(&mut tx, message, &Work { owner: Some(owner), ..Work::default() }).await?,
        FailureAction::AddNote(note) => failures::save(&mut tx, message, &Work { note: Some(note), ..Work::default() }).await?,
        FailureAction::MarkContacted => failures::save(&mut tx, message, &Work { contacted_at: Some(now), ..Work::default() }).await?,
        FailureAction::Discard => {
            let exchange = exchange_orders::of_message(&mut tx, message).await?;
            if exchange.is_some_and(|exchange| exchange.state == ExchangeState::Pending) {
                return Err(WorkOnFailureError::ExchangePending);
            }
            let discarded = failures::discard(&mut tx, message).await?;
            // A retry under way ends too.
            if discarded {
                deliveries::discard(&mut tx, message).await?;
            }
            discarded
        }
    };
    if !done {
        return Err(WorkOnFailureError::NotInQueue(message));
    }
    let note = NewNote { id: app.mint(), made_at: now, actor, kind, text: text.as_deref() };
    failure_notes::insert(&mut tx, &[message], note).await?;
    let detail = message.to_string();
    audit::record(&mut tx, Entry { id: app.mint(), actor, action: audit_action, detail: &detail, done_at: now }).await?;
    Ok(app.commit(tx).await?)
}
