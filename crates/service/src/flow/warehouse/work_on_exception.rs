//! The operator works on a receiving exception: assigns it to a person, adds a note, or resolves it with a reason.

use domain::id::MerchantId;
use domain::merchants::operator::Role;
use store::Failed;
use store::merchants::audit::{self, Entry};
use store::merchants::operators;
use store::warehouse::exception_notes::{self, Note, NoteKind};
use store::warehouse::receiving_exceptions;
use uuid::Uuid;

use crate::app::App;

/// The longest note or reason, in characters.
pub const LONGEST_NOTE: usize = 2_000;

/// An action on an exception.
#[derive(Clone, Debug)]
pub enum ExceptionAction {
    /// The person with this e-mail address looks into it; empty: nobody does any more.
    Assign(String),
    AddNote(String),
    /// Nothing more is to be done, for this reason.
    Resolve(String),
}

/// The reasons an exception cannot be worked on.
#[derive(Debug, thiserror::Error)]
pub enum WorkOnExceptionError {
    #[error("the merchant has no receiving exception {0}; `backhaul exceptions list --merchant HANDLE` lists them")]
    Unknown(Uuid),
    #[error("the receiving exception {0} has been resolved, by a person or by what arrived; it only takes notes now")]
    Resolved(Uuid),
    #[error("{0} cannot look into exceptions: that takes an operator who is enabled and has the role support or above")]
    NoWorker(String),
    #[error("write between 1 and {LONGEST_NOTE} characters")]
    Text,
    #[error(transparent)]
    Failed(#[from] Failed),
}

impl ExceptionAction {
    /// The kind of the step in the exception's history, its name in the audit, and its text.
    fn step(&self) -> (NoteKind, &'static str, &str) {
        match self {
            Self::Assign(owner) => (NoteKind::Owner, "exception.assigned", owner.trim()),
            Self::AddNote(note) => (NoteKind::Note, "exception.noted", note.trim()),
            Self::Resolve(reason) => (NoteKind::Resolved, "exception.resolved", reason.trim()),
        }
    }

    async fn check(&self, app: &App) -> Result<(), WorkOnExceptionError> {
        let (_, _, text) = self.step();
        match self {
            Self::Assign(_) if text.is_empty() => Ok(()),
            Self::Assign(_) => {
                let account = operators::find(app.home(), &text.to_lowercase()).await?;
                let works = account.is_some_and(|account| account.disabled_at.is_none() && account.operator.role.allows(Role::Support));
                if works { Ok(()) } else { Err(WorkOnExceptionError::NoWorker(text.to_owned())) }
            }
            Self::AddNote(_) | Self::Resolve(_) if text.is_empty() || text.chars().count() > LONGEST_NOTE || text.contains('\0') => {
                Err(WorkOnExceptionError::Text)
            }
            Self::AddNote(_) | Self::Resolve(_) => Ok(()),
        }
    }
}

/// Applies actions to the exception `id`, all of them or none.
pub async fn work_on_exception(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    id: Uuid,
    actions: &[ExceptionAction],
) -> Result<(), WorkOnExceptionError> {
    for action in actions {
        action.check(app).await?;
    }
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    let resolved = receiving_exceptions::lock(&mut tx, id).await?.ok_or(WorkOnExceptionError::Unknown(id))?;
    for action in actions {
        let (kind, audited, text) = action.step();
        match action {
            ExceptionAction::AddNote(_) => {}
            ExceptionAction::Assign(_) | ExceptionAction::Resolve(_) if resolved => return Err(WorkOnExceptionError::Resolved(id)),
            ExceptionAction::Assign(_) => receiving_exceptions::save_owner(&mut tx, id, &text.to_lowercase()).await?,
            ExceptionAction::Resolve(_) => receiving_exceptions::resolve(&mut tx, id, text, now).await?,
        }
        let note = Note { id: app.mint(), made_at: now, actor: actor.to_owned(), kind: kind.as_str().to_owned(), text: text.to_owned() };
        exception_notes::insert(&mut tx, id, &note).await?;
        let detail = id.to_string();
        audit::record(&mut tx, Entry { id: app.mint(), actor, action: audited, detail: &detail, done_at: now }).await?;
    }
    Ok(app.commit(tx).await?)
}
