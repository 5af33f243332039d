//! `/failures/discard`: takes messages out of the failure queue for good, after a preview.

use askama::Template;
use axum::response::Response;
use domain::merchants::operator::Role;
use domain::merchants::operator::request::MOST_DISCARDED_ALONE;
use store::messages::failure_selection;
use uuid::Uuid;

use super::by::{Admin, By, Support};
use super::count::grouped;
use super::error::ConsoleError;
use super::failure_choice::{Choice, Named, field};
use super::figures::{counted, messages};
use super::form::{Form, Query};
use super::frame::{Frame, Section};
use super::page::render;
use crate::flow::merchants::operators::requests::{self, Asked, RequestError};
use crate::flow::messages::discard_failures::{Bound, DiscardFailuresError, discard_failures};
use crate::http::pages::see;

#[derive(Template)]
#[template(path = "console/discard-preview.html")]
struct Page {
    frame: Frame,
    choice: Choice,
    sentence: String,
    count: i64,
    /// Messages that a return waits for.
    pending: usize,
    too_many: bool,
    /// True if the person may ask for a second one.
    may_ask: bool,
    most: i64,
    command: Option<String>,
}

/// The preview.
pub(super) async fn show(by: By<Support>, Query(fields): Query<Named>) -> Result<Response, ConsoleError> {
    let choice = Choice::read(&by, &fields).await?;
    let (store, merchant) = (by.app.store(choice.merchant.id), choice.merchant.id);
    let open = failure_selection::count(store, merchant, &choice.selection()).await?.open;
    let too_many = open > MOST_DISCARDED_ALONE;
    let pending = if too_many { 0 } else { pending(&by, &choice).await? };
    let count = open - i64::try_from(pending).unwrap_or(0);
    let command = match choice.messages.as_slice() {
        [one] => Some(format!("backhaul failures discard {one} --merchant {}", choice.merchant.handle)),
        _ => None,
    };
    render(&Page {
        frame: by.frame(Section::Failures, &format!("Discard {}?", messages(count))),
        sentence: messages(count),
        count,
        pending,
        too_many,
        may_ask: too_many && by.may(Role::Admin),
        most: MOST_DISCARDED_ALONE,
        command,
        choice,
    })
}

/// The number of messages that a return waits for.
async fn pending(by: &By<Support>, choice: &Choice) -> Result<usize, ConsoleError> {
    let (store, merchant) = (by.app.store(choice.merchant.id), choice.merchant.id);
    let messages: Vec<Uuid> = if choice.messages.is_empty() {
        let begin = (chrono::DateTime::UNIX_EPOCH, Uuid::nil());
        let entries = failure_selection::list(store, merchant, (choice.endpoint, &choice.reason), begin, MOST_DISCARDED_ALONE).await?;
        entries.into_iter().map(|entry| entry.message_id).collect()
    } else {
        choice.messages.clone()
    };
    Ok(failure_selection::pending_exchanges(store, merchant, &messages).await?.len())
}

pub(super) async fn discard(by: By<Support>, Form(fields): Form<Named>) -> Result<Response, ConsoleError> {
    let choice = Choice::read(&by, &fields).await?;
    let expected: i64 = field(&fields, "expected").and_then(|text| text.parse().ok()).ok_or(ConsoleError::Foreign)?;
    if expected > MOST_DISCARDED_ALONE {
        return Err(ConsoleError::Refused(format!(
            "One person discards at most {MOST_DISCARDED_ALONE} messages at once. More takes an administrator and a second person. Nothing was discarded."
        )));
    }
    let bound = Bound { most: expected, expected: Some(expected) };
    let count = discard_failures(&by.app, &by.actor(), choice.merchant.id, &choice.selection(), bound).await?;
    let fields = [("merchant", choice.merchant.handle.as_str()), ("discarded", &count.to_string())];
    Ok(see(&format!("/failures?{}", serde_urlencoded::to_string(fields).unwrap_or_default())))
}

/// `POST /failures/discard/request`: asks a second person to decide on more than one person may discard.
pub(super) async fn ask(by: By<Admin>, Form(fields): Form<Named>) -> Result<Response, ConsoleError> {
    let choice = Choice::read(&by, &fields).await?;
    let (merchant, selection) = (choice.merchant.id, choice.selection());
    let count = failure_selection::count(by.app.store(merchant), merchant, &selection).await?.open;
    let asked = Asked::DiscardFailures { merchant, selection, count };
    match requests::ask(&by.app, &by.operator, &by.actor(), &asked, field(&fields, "why").unwrap_or_default()).await {
        Ok(request) => Ok(see(&format!("/requests/{request}"))),
        Err(RequestError::Failed(failed)) => Err(failed.into()),
        Err(error) => Err(ConsoleError::Refused(format!("{error} Nothing was asked for."))),
    }
}

impl From<DiscardFailuresError> for ConsoleError {
    fn from(error: DiscardFailuresError) -> Self {
        match error {
            DiscardFailuresError::NothingLeft => Self::Conflict(
                "None of these messages is in the failure queue any more: somebody has retried or discarded them, or they have arrived. Nothing was discarded.".to_owned(),
            ),
            DiscardFailuresError::Changed { now, expected } => Self::Conflict(format!(
                "The failure queue has changed since you looked: {} of the {} messages are still in it. Somebody has retried or discarded the others, or they have arrived. Nothing was discarded. Look at the group again.",
                counted(now),
                grouped(expected)
            )),
            DiscardFailuresError::Failed(failed) => failed.into(),
        }
    }
}
