//! `/merchants/{handle}/exceptions/{id}`: a receiving exception, and the work on it.

use std::slice;

use askama::Template;
use axum::response::Response;
use domain::merchants::operator::{Operator, Role};
use serde::Deserialize;
use store::merchants::accounts::Merchant;
use store::merchants::operators;
use store::warehouse::exception_notes;
use store::warehouse::exception_pages::{self, WorkedException};
use uuid::Uuid;
use wire::warehouse::receiving::explain;

use super::asn_page::exception_at;
use super::by::{By, Permission, Support, Viewer};
use super::error::ConsoleError;
use super::exceptions::name_owners;
use super::failure_choice::merchant_of;
use super::form::{Form, Path};
use super::frame::{Frame, Section};
use super::listing::scanned_for;
use super::page::render;
use super::stamp::Stamp;
use crate::flow::warehouse::work_on_exception::{ExceptionAction, LONGEST_NOTE, WorkOnExceptionError, work_on_exception};
use crate::http::pages::see;

/// The steps of the history that a page shows.
const STEPS: i64 = 50;

struct Step {
    at: Stamp,
    actor: String,
    words: &'static str,
    text: String,
}

#[derive(Template)]
#[template(path = "console/exception.html")]
struct Page {
    frame: Frame,
    merchant: Merchant,
    at: String,
    exception: WorkedException,
    means: &'static str,
    target: (&'static str, String, Option<String>),
    found: Stamp,
    resolved: Option<Stamp>,
    history: Vec<Step>,
    may_act: bool,
    me: String,
    people: Vec<Operator>,
    longest: usize,
    command: String,
}

async fn find<P: Permission>(by: &By<P>, handle: &str, id: Uuid) -> Result<(Merchant, WorkedException), ConsoleError> {
    let merchant = merchant_of(by, handle).await?;
    let found = exception_pages::find(by.app.store(merchant.id), merchant.id, id).await?;
    let mut found = found.ok_or(ConsoleError::NotFound)?;
    name_owners(&by.app, slice::from_mut(&mut found)).await?;
    Ok((merchant, found))
}

pub(super) async fn show(by: By<Viewer>, Path((handle, id)): Path<(String, Uuid)>) -> Result<Response, ConsoleError> {
    let (merchant, exception) = find(&by, &handle, id).await?;
    let notes = exception_notes::list(by.app.store(merchant.id), merchant.id, id, STEPS).await?;
    let may_act = by.may(Role::Support);
    let people = if may_act && exception.resolved_at.is_none() { operators::list_workers(by.app.home()).await? } else { Vec::new() };
    render(&Page {
        frame: by.frame(Section::Warehouse, &format!("Receiving exception {}", exception.exception)),
        at: exception_at(&merchant.handle, id),
        means: exception.exception.parse().map_or("", explain),
        target: scanned_for(&merchant.handle, &exception.exception, &exception.scanned_for),
        found: by.ago(exception.found_at),
        resolved: exception.resolved_at.map(|at| by.time(at)),
        history: notes.into_iter().map(|note| step(&by, note)).collect(),
        may_act,
        me: by.operator.email.clone(),
        people,
        longest: LONGEST_NOTE,
        command: format!("backhaul exceptions show {id} --merchant {}", merchant.handle),
        exception,
        merchant,
    })
}

fn step(by: &By<Viewer>, note: exception_notes::Note) -> Step {
    let words = match note.kind.as_str() {
        "owner" if note.text.is_empty() => "took the owner off",
        "owner" => "assigned it to",
        "resolved" => "resolved it:",
        _ => "noted:",
    };
    Step { at: by.log_time(note.made_at), actor: note.actor, words, text: note.text }
}

/// The fields of the forms.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Work {
    owner: Option<String>,
    note: String,
    reason: String,
}

/// Assigns the exception, adds a note, or both.
pub(super) async fn work(
    by: By<Support>,
    Path((handle, id)): Path<(String, Uuid)>,
    Form(work): Form<Work>,
) -> Result<Response, ConsoleError> {
    let (merchant, exception) = find(&by, &handle, id).await?;
    let mut actions = Vec::new();
    actions.extend(work.owner.filter(|owner| *owner != exception.owner).map(ExceptionAction::Assign));
    actions.extend((!work.note.trim().is_empty()).then_some(ExceptionAction::AddNote(work.note)));
    if actions.is_empty() {
        return Err(ConsoleError::Refused(
            "Nothing was changed, so nothing was saved. Go back and choose somebody else, or write a note.".to_owned(),
        ));
    }
    work_on_exception(&by.app, &by.actor(), merchant.id, id, &actions).await?;
    Ok(see(&exception_at(&merchant.handle, id)))
}

#[derive(Template)]
#[template(path = "console/exception-resolve.html")]
struct Preview {
    frame: Frame,
    merchant: Merchant,
    at: String,
    exception: WorkedException,
    means: &'static str,
    longest: usize,
    command: String,
}

/// The preview of resolving, with a field for the reason.
pub(super) async fn ask_to_resolve(by: By<Support>, Path((handle, id)): Path<(String, Uuid)>) -> Result<Response, ConsoleError> {
    let (merchant, exception) = find(&by, &handle, id).await?;
    if exception.resolved_at.is_some() {
        return Ok(see(&exception_at(&merchant.handle, id)));
    }
    render(&Preview {
        frame: by.frame(Section::Warehouse, "Resolve this exception?"),
        at: exception_at(&merchant.handle, id),
        means: exception.exception.parse().map_or("", explain),
        longest: LONGEST_NOTE,
        command: format!("backhaul exceptions resolve {id} --merchant {} REASON", merchant.handle),
        exception,
        merchant,
    })
}

pub(super) async fn resolve(
    by: By<Support>,
    Path((handle, id)): Path<(String, Uuid)>,
    Form(work): Form<Work>,
) -> Result<Response, ConsoleError> {
    let (merchant, _) = find(&by, &handle, id).await?;
    work_on_exception(&by.app, &by.actor(), merchant.id, id, &[ExceptionAction::Resolve(work.reason)]).await?;
    Ok(see("/exceptions?resolved=true"))
}

impl From<WorkOnExceptionError> for ConsoleError {
    fn from(error: WorkOnExceptionError) -> Self {
        match error {
            WorkOnExceptionError::Unknown(_) => Self::NotFound,
            WorkOnExceptionError::Resolved(_) => Self::Conflict(
                "The exception has been resolved meanwhile, by somebody else or because the unit arrived after all. Nothing was changed; its page says how it ended."
                    .to_owned(),
            ),
            WorkOnExceptionError::NoWorker(_) => Self::Refused(
                "The exception was not assigned: that takes somebody who is enabled and has the role support or above. Go back and choose another person."
                    .to_owned(),
            ),
            WorkOnExceptionError::Text => Self::Refused(format!(
                "Nothing was saved: a note and a reason have between 1 and {LONGEST_NOTE} characters. Go back and write one."
            )),
            WorkOnExceptionError::Failed(failed) => failed.into(),
        }
    }
}
