//! `/failures/retry`: retries a group of failures, or messages that were ticked, after a preview.

use askama::Template;
use axum::response::Response;
use chrono::TimeDelta;
use store::messages::failure_selection::{self, Counted};
use store::messages::failures::{Entry, MOST_COUNTED};
use store::messages::retry_jobs::{MOST_SELECTED, Part};
use store::messages::{endpoints, failures};
use wire::time;

use super::by::{By, Support};
use super::error::ConsoleError;
use super::failure_choice::{Choice, Named, field};
use super::figures::{counted, messages};
use super::form::{Form, Query};
use super::frame::{Frame, Section};
use super::page::render;
use super::stamp::Stamp;
use super::view::span;
use crate::flow::messages::retry_failures::{RetryFailuresError, RetryRequest, retry_part};
use crate::http::pages::see;

/// The messages that a preview shows.
const SHOWN: i64 = 5;

struct First {
    failed_at: Stamp,
    event: String,
    subject: String,
    next: i16,
}

#[derive(Template)]
#[template(path = "console/retry-preview.html")]
struct Page {
    frame: Frame,
    choice: Choice,
    /// The messages that would be retried.
    sentence: String,
    any: bool,
    expected: Option<i64>,
    erased: i64,
    owed: i64,
    /// The address of the endpoint that is there now.
    url: Option<String>,
    paused: bool,
    per_second: i32,
    most_per_second: i32,
    takes: String,
    since: String,
    first: Vec<First>,
    command: String,
}

/// The preview.
pub(super) async fn show(by: By<Support>, Query(fields): Query<Named>) -> Result<Response, ConsoleError> {
    let choice = Choice::read(&by, &fields).await?;
    let (store, merchant) = (by.app.store(choice.merchant.id), choice.merchant.id);
    if choice.messages.len() > MOST_SELECTED {
        return Err(ConsoleError::Refused(format!("Tick at most {MOST_SELECTED} messages, or retry the whole group.")));
    }
    let Counted { open, erased, owed } = failure_selection::count(store, merchant, &choice.selection()).await?;
    let sent = open - erased - owed;
    let now_there = endpoints::list(store, merchant).await?.into_iter().find(|endpoint| endpoint.interface == choice.facts.interface);
    let most_per_second = now_there.as_ref().map_or(choice.facts.per_second, |endpoint| endpoint.per_second);
    let per_second = (most_per_second / 2).max(1);
    let url =
        if choice.facts.internal { Some(choice.facts.interface.clone()) } else { now_there.as_ref().map(|endpoint| endpoint.url.clone()) };
    let first = first(&by, &choice).await?;
    let handle = &choice.merchant.handle;
    let command = if choice.messages.is_empty() {
        let since = choice.since.map(|since| format!(" --since {}", time::write(since))).unwrap_or_default();
        let (interface, reason) = (&choice.facts.interface, &choice.reason);
        format!("backhaul failures retry --endpoint {interface} --reason '{reason}'{since} --per-second {per_second} --merchant {handle}")
    } else {
        let ids: Vec<String> = choice.messages.iter().map(ToString::to_string).collect();
        format!("backhaul failures retry {} --merchant {handle}", ids.join(" "))
    };
    render(&Page {
        frame: by.frame(Section::Failures, &format!("Retry {}?", messages(sent))),
        sentence: messages(sent),
        any: sent > 0,
        expected: (open < MOST_COUNTED).then_some(sent),
        erased,
        owed,
        url,
        paused: now_there.is_some_and(|endpoint| endpoint.paused_at.is_some()),
        per_second,
        most_per_second,
        takes: span(TimeDelta::seconds(sent / i64::from(per_second) + 1)),
        since: choice.since.map(|since| by.field(since)).unwrap_or_default(),
        first,
        command,
        choice,
    })
}

/// The first messages of the choice.
async fn first(by: &By<Support>, choice: &Choice) -> Result<Vec<First>, ConsoleError> {
    let (store, merchant) = (by.app.store(choice.merchant.id), choice.merchant.id);
    let entries: Vec<Entry> = if choice.messages.is_empty() {
        let after = (choice.since.unwrap_or(chrono::DateTime::UNIX_EPOCH), uuid::Uuid::nil());
        failure_selection::list(store, merchant, (choice.endpoint, &choice.reason), after, SHOWN).await?
    } else {
        let mut entries = Vec::new();
        for id in choice.messages.iter().take(usize::try_from(SHOWN).unwrap_or(0)) {
            entries.extend(failures::find(store, merchant, *id).await?);
        }
        entries
    };
    let first = entries.into_iter().map(|entry| First {
        failed_at: by.log_time(entry.failed_at),
        event: entry.event,
        subject: entry.subject,
        next: entry.attempts.saturating_add(1),
    });
    Ok(first.collect())
}

pub(super) async fn start(by: By<Support>, Form(fields): Form<Named>) -> Result<Response, ConsoleError> {
    let choice = Choice::read(&by, &fields).await?;
    let number = |name: &str| field(&fields, name).map(|text| text.parse::<i64>().map_err(|_| RetryFailuresError::Rate)).transpose();
    let per_second = number("per_second")?.map(i32::try_from).transpose().map_err(|_| RetryFailuresError::Rate)?;
    let expected = field(&fields, "expected").and_then(|text| text.parse().ok());
    let request = RetryRequest { kind: choice.kind()?, since: choice.since.filter(|_| choice.messages.is_empty()), per_second };
    let part = if choice.messages.is_empty() {
        Part::Reason { reason: &choice.reason, at: Some(choice.endpoint) }
    } else {
        Part::Selected(&choice.messages)
    };
    let (job, _) = retry_part(&by.app, &by.actor(), choice.merchant.id, request, part, expected).await?;
    Ok(see(&format!("/merchants/{}/jobs/{job}", choice.merchant.handle)))
}

impl From<RetryFailuresError> for ConsoleError {
    fn from(error: RetryFailuresError) -> Self {
        match error {
            RetryFailuresError::NoEndpoint(kind) => {
                Self::Refused(format!("The merchant has no endpoint for {kind} now, so there is nowhere to send these messages. Set one, then retry."))
            }
            RetryFailuresError::JobRunning => Self::Conflict(
                "Another retry of this endpoint is running: somebody may have started it meanwhile. Nothing was started. Look at the jobs, and wait for it or cancel it.".to_owned(),
            ),
            RetryFailuresError::Changed { now, expected } => Self::Conflict(format!(
                "The failure queue has changed since you looked: {} of the {} messages can still be retried. Somebody has retried or discarded the others, or they have arrived. Nothing was started. Look at the group again.",
                counted(now),
                counted(expected)
            )),
            RetryFailuresError::TooMany => Self::Refused(format!("Tick at most {MOST_SELECTED} messages, or retry the whole group.")),
            RetryFailuresError::Rate => Self::Refused("The rate must be 1 to 100,000 messages a second. Nothing was started.".to_owned()),
            RetryFailuresError::NoSuchJob(_) => {
                Self::Conflict("The job is not running any more: it has ended, or somebody has cancelled it. Nothing was changed.".to_owned())
            }
            RetryFailuresError::Failed(failed) => failed.into(),
        }
    }
}
