//! `/failures/work`: owner, note and contact for messages of the failure queue.

use askama::Template;
use axum::response::Response;
use store::messages::failure_selection;

use super::by::{By, Support};
use super::error::ConsoleError;
use super::failure_choice::{Choice, Named, field};
use super::figures::messages;
use super::form::{Form, Query};
use super::frame::{Frame, Section};
use super::page::render;
use crate::flow::messages::work_on_failures::{LONGEST_NOTE, LONGEST_OWNER, WorkAction, WorkOnFailuresError, work_on_failures};
use crate::http::pages::see;

#[derive(Template)]
#[template(path = "console/failure-work.html")]
struct Page {
    frame: Frame,
    choice: Choice,
    sentence: String,
    me: String,
    longest_owner: usize,
    longest_note: usize,
}

/// The form for messages that were ticked.
pub(super) async fn show(by: By<Support>, Query(fields): Query<Named>) -> Result<Response, ConsoleError> {
    let choice = Choice::read(&by, &fields).await?;
    let counted = failure_selection::count(by.app.store(choice.merchant.id), choice.merchant.id, &choice.selection()).await?;
    render(&Page {
        frame: by.frame(Section::Failures, "Work on failures"),
        sentence: messages(counted.open),
        me: by.operator.name.clone(),
        longest_owner: LONGEST_OWNER,
        longest_note: LONGEST_NOTE,
        choice,
    })
}

pub(super) async fn save(by: By<Support>, Form(fields): Form<Named>) -> Result<Response, ConsoleError> {
    let choice = Choice::read(&by, &fields).await?;
    let mut actions = Vec::new();
    actions.extend(field(&fields, "owner").map(|owner| WorkAction::AssignOwner(owner.to_owned())));
    actions.extend(field(&fields, "note").map(|note| WorkAction::AddNote(note.to_owned())));
    actions.extend(field(&fields, "contacted").map(|_| WorkAction::MarkContacted));
    if actions.is_empty() {
        return Err(ConsoleError::Refused("Nothing was filled in, so nothing was saved. Go back and name an owner, write a note, or tick that the merchant was contacted.".to_owned()));
    }
    work_on_failures(&by.app, &by.actor(), choice.merchant.id, &choice.selection(), &actions).await?;
    Ok(see(&choice.group_at()))
}

impl From<WorkOnFailuresError> for ConsoleError {
    fn from(error: WorkOnFailuresError) -> Self {
        match error {
            WorkOnFailuresError::NothingLeft => Self::Conflict(
                "None of these messages is in the failure queue any more: they were delivered, retried or discarded meanwhile. Nothing was changed.".to_owned(),
            ),
            WorkOnFailuresError::Owner => Self::Refused(format!("An owner is a name of at most {LONGEST_OWNER} characters. Nothing was saved.")),
            WorkOnFailuresError::Note => Self::Refused(format!("A note has at most {LONGEST_NOTE} characters. Nothing was saved.")),
            WorkOnFailuresError::Failed(failed) => failed.into(),
        }
    }
}
