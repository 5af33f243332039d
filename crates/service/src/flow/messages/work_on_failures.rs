//! The operator works on many entries of the failure queue at once: assigns an owner, adds a note, or marks the merchant as contacted.

use domain::id::MerchantId;
use store::Failed;
use store::merchants::audit::{self, Entry};
use store::messages::failure_notes::{self, NewNote, NoteKind};
use store::messages::failure_selection::{self, Selection};
use store::messages::failures::{self, Work};

use crate::app::App;

/// The most entries that one action changes.
pub const MOST: i64 = 1_000;

/// The longest owner, in characters.
pub const LONGEST_OWNER: usize = 100;
/// The longest note, in characters.
pub const LONGEST_NOTE: usize = 2_000;

/// An action on entries of the failure queue.
#[derive(Clone, Debug)]
pub enum WorkAction {
    AssignOwner(String),
    AddNote(String),
    /// The merchant's technical contact has been informed.
    MarkContacted,
}

impl WorkAction {
    fn check(&self) -> Result<(), WorkOnFailuresError> {
        let fits = |text: &str, most: usize| !text.trim().is_empty() && text.chars().count() <= most;
        match self {
            Self::AssignOwner(owner) if !fits(owner, LONGEST_OWNER) => Err(WorkOnFailuresError::Owner),
            Self::AddNote(note) if !fits(note, LONGEST_NOTE) => Err(WorkOnFailuresError::Note),
            Self::AssignOwner(_) | Self::AddNote(_) | Self::MarkContacted => Ok(()),
        }
    }
}

/// The reasons entries cannot be worked on.
#[derive(Debug, thiserror::Error)]
pub enum WorkOnFailuresError {
    #[error("none of these messages is in the failure queue any more")]
    NothingLeft,
    #[error("write an owner of at most {LONGEST_OWNER} characters")]
    Owner,
    #[error("write a note of at most {LONGEST_NOTE} characters")]
    Note,
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Applies actions to the entries of `selection`, the oldest [`MOST`]. Returns their number.
pub async fn work_on_failures(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    selection: &Selection,
    actions: &[WorkAction],
) -> Result<usize, WorkOnFailuresError> {
    let now = app.now();
    actions.iter().try_for_each(WorkAction::check)?;
    let mut tx = app.begin(merchant).await?;
    let messages = failure_selection::lock(&mut tx, selection, MOST, false).await?;
    if messages.is_empty() {
        return Err(WorkOnFailuresError::NothingLeft);
    }
    let detail = describe(selection, messages.len());
    for action in actions {
        let (audit_action, kind, text, work) = match action {
            WorkAction::AssignOwner(owner) => {
                ("failures.owned", NoteKind::Owner, Some(owner), Work { owner: Some(owner.clone()), ..Work::default() })
            }
            WorkAction::AddNote(note) => {
                ("failures.noted", NoteKind::Note, Some(note), Work { note: Some(note.clone()), ..Work::default() })
            }
            WorkAction::MarkContacted => {
                ("failures.contacted", NoteKind::Contacted, None, Work { contacted_at: Some(now), ..Work::default() })
            }
        };
        failures::save_all(&mut tx, &messages, &work).await?;
        let note = NewNote { id: app.mint(), made_at: now, actor, kind, text: text.map(String::as_str) };
        failure_notes::insert(&mut tx, &messages, note).await?;
        audit::record(&mut tx, Entry { id: app.mint(), actor, action: audit_action, detail: &detail, done_at: now }).await?;
    }
    app.commit(tx).await?;
    Ok(messages.len())
}

/// The selection in the audit trail, with the number of entries that were changed.
pub(super) fn describe(selection: &Selection, count: usize) -> String {
    match selection {
        Selection::Messages(messages) => {
            let ids: Vec<String> = messages.iter().map(ToString::to_string).collect();
            format!("{count}: {}", ids.join(" "))
        }
        Selection::Group { endpoint, reason, .. } => format!("{count} of endpoint {} with {reason}", endpoint.0),
    }
}
