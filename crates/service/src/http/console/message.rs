//! `GET /merchants/{handle}/messages/{id}`: a message with every attempt, and what it changed.

use askama::Template;
use axum::response::Response;
use chrono::{DateTime, TimeDelta, Utc};
use domain::merchants::operator::Role;
use domain::messages::message::Kind;
use store::merchants::accounts::Merchant;
use store::messages::attempts::{self, Attempt};
use store::messages::endpoints::{self, Endpoint};
use store::messages::failures::Entry;
use store::messages::log::{self, MessageDetail, State};
use store::messages::recent::{self, Neighbour};
use store::messages::{failure_notes, failure_selection, failures};
use uuid::Uuid;

use super::by::{By, Permission, Viewer};
use super::error::ConsoleError;
use super::failure_choice::{group_at, merchant_of};
use super::figures::tint;
use super::form::Path;
use super::frame::{Frame, Section};
use super::long_id::LongId;
use super::messages::{state, subject_at};
use super::page::render;
use super::stamp::Stamp;
use super::view::span;
use crate::delivery::transports::answer::KnownSecrets;
use crate::delivery::transports::shown::{ShownHeader, ShownMessage, headers_of};
use crate::show::messages::deliveries::known_secrets;
use crate::show::messages::payload::{Difference, curl, differences, indent};

/// One attempt.
struct Try {
    number: i16,
    outcome: String,
    tint: &'static str,
    at: Stamp,
    after: String,
    took: String,
    reason: String,
    answer: Option<String>,
}

/// A step of the work on it.
struct Step {
    at: Stamp,
    actor: String,
    kind: String,
    text: String,
}

/// The message as those see it who may read shoppers' data.
struct Content {
    lines: Vec<String>,
    bytes: usize,
    curl: Option<String>,
    changes: Option<(Vec<Difference>, usize)>,
}

/// The entry of the failure queue.
struct Queued {
    group: String,
    /// The form's fields: endpoint and reason.
    endpoint: String,
    reason: String,
    discard: String,
    owner: String,
    contacted_at: Option<Stamp>,
}

#[derive(Template)]
#[template(path = "console/message.html")]
struct Page {
    frame: Frame,
    merchant: Merchant,
    id: Uuid,
    shown: LongId,
    event: String,
    kind: String,
    subject: String,
    subject_at: String,
    sequence: i64,
    state: (&'static str, &'static str),
    written_at: Stamp,
    next_attempt: Option<(Stamp, String)>,
    behind: Option<Uuid>,
    retry: Result<String, &'static str>,
    erased: bool,
    attempts: Vec<Try>,
    more_attempts: bool,
    headers: Vec<ShownHeader>,
    url: Option<String>,
    content: Option<Content>,
    before: Option<Neighbour>,
    after: Option<Neighbour>,
    queued: Option<Queued>,
    history: Vec<Step>,
    may_act: bool,
    me: String,
    command: String,
}

/// A message that a path names.
pub(super) struct Found {
    pub(super) merchant: Merchant,
    pub(super) message: MessageDetail,
    kind: Option<Kind>,
    /// The endpoint that it goes to now.
    pub(super) endpoint: Option<Endpoint>,
    /// The messages of its subject just before and just after it.
    before: Option<Neighbour>,
    pub(super) after: Option<Neighbour>,
}

/// The message `id` of the merchant whose handle is `handle`.
pub(super) async fn find<P: Permission>(by: &By<P>, handle: &str, id: Uuid) -> Result<Found, ConsoleError> {
    let merchant = merchant_of(by, handle).await?;
    let store = by.app.store(merchant.id);
    let message = log::find(store, merchant.id, id).await?.ok_or(ConsoleError::NotFound)?;
    let kind: Option<Kind> = message.kind.parse().ok();
    let endpoint = endpoints::list(store, merchant.id).await?.into_iter().find(|endpoint| endpoint.interface == message.kind);
    let (before, after) = match kind {
        Some(Kind::Of(_)) => recent::neighbours(store, merchant.id, (&message.kind, &message.subject), id).await?,
        Some(Kind::Internal(_) | Kind::EndpointTest) | None => (None, None),
    };
    Ok(Found { merchant, message, kind, endpoint, before, after })
}

pub(super) async fn show(by: By<Viewer>, Path((handle, id)): Path<(String, Uuid)>) -> Result<Response, ConsoleError> {
    let Found { merchant, message: found, kind, endpoint, before, after } = find(&by, &handle, id).await?;
    let store = by.app.store(merchant.id);
    let calls = attempts::page(store, merchant.id, id, None, attempts::MOST_LISTED).await?;
    let may_act = by.may(Role::Support);
    let secrets = if may_act { Some(known_secrets(&by.app, merchant.id).await?) } else { None };
    let last = calls.attempts.last();
    let headers = endpoint.as_ref().map(|endpoint| headers_of_attempt(&by, &merchant, endpoint, &found, last)).unwrap_or_default();
    let entry = failures::find(store, merchant.id, id).await?;
    let queued = match (entry, failure_selection::group_of(store, merchant.id, id).await?) {
        (Some(entry), Some(group)) => Some(queued(&by, &merchant, &entry, &group)),
        _ => None,
    };
    let history = failure_notes::list(store, merchant.id, &[id]).await?;
    let history = history.into_iter().map(|note| Step {
        at: by.log_time(note.made_at),
        actor: note.actor,
        kind: note.kind,
        text: note.text.unwrap_or_default(),
    });
    let content = may_act.then(|| content(&found, endpoint.as_ref(), &headers, before.as_ref()));
    render(&Page {
        frame: by.frame(Section::Messages, &found.event),
        shown: LongId(id),
        written_at: by.log_time(log::written_at(id)),
        state: state(found.state()),
        next_attempt: found.owed.and_then(|owed| owed.due_at).map(|due| (by.log_time(due), span(due - by.now))),
        behind: found.owed.and_then(|owed| owed.behind),
        retry: retry(&merchant.handle, id, kind, &found),
        erased: found.erased,
        attempts: tries(&by, &calls.attempts, secrets.as_ref()),
        more_attempts: calls.next.is_some(),
        headers,
        url: endpoint.as_ref().map(|endpoint| endpoint.url.clone()),
        content,
        before,
        after,
        queued,
        history: history.collect(),
        may_act,
        me: by.operator.name.clone(),
        command: format!("backhaul messages show --merchant {} {id}", merchant.handle),
        subject_at: subject_at(&merchant.handle, &found.subject),
        event: found.event,
        kind: found.kind,
        subject: found.subject,
        sequence: found.sequence,
        merchant,
        id,
    })
}

/// The address of the retry, or why there is none.
fn retry(handle: &str, id: Uuid, kind: Option<Kind>, found: &MessageDetail) -> Result<String, &'static str> {
    match (kind, found.state()) {
        (Some(Kind::EndpointTest), _) => Err("A test message is not retried; send a new one."),
        _ if found.erased => Err("Its content was erased with a shopper's data, so it cannot be sent again."),
        (_, State::Owed) => Err("Still owed: it is tried again by itself."),
        (_, State::Failed | State::Discarded | State::Unsent | State::Delivered) => Ok(format!("/merchants/{handle}/messages/{id}/retry")),
    }
}

fn queued(by: &By<Viewer>, merchant: &Merchant, entry: &Entry, (endpoint, reason): &(domain::id::EndpointId, String)) -> Queued {
    let id = entry.message_id.to_string();
    let fields = [("merchant", merchant.handle.as_str()), ("endpoint", &endpoint.0.to_string()), ("reason", reason), ("id", &id)];
    Queued {
        group: group_at(&merchant.handle, *endpoint, reason),
        endpoint: endpoint.0.to_string(),
        reason: reason.clone(),
        discard: format!("/failures/discard?{}", serde_urlencoded::to_string(fields).unwrap_or_default()),
        owner: entry.owner.clone().unwrap_or_default(),
        contacted_at: entry.contacted_at.map(|at| by.time(at)),
    }
}

/// Seconds with three digits after the point.
fn seconds(millis: i32) -> String {
    format!("{}.{:03} s", millis / 1_000, millis % 1_000)
}

/// The attempts; their answers only to those who know the secrets that must be left out.
fn tries(by: &By<Viewer>, attempts: &[Attempt], secrets: Option<&KnownSecrets>) -> Vec<Try> {
    let mut last: Option<DateTime<Utc>> = None;
    let mut tries = Vec::with_capacity(attempts.len());
    for attempt in attempts {
        let after = last.map_or_else(|| "at once".to_owned(), |last| span((attempt.started_at - last).max(TimeDelta::zero())));
        last = Some(attempt.started_at);
        let answer = attempt.answer.as_ref().zip(secrets).map(|(answer, secrets)| secrets.mask(&String::from_utf8_lossy(answer)));
        tries.push(Try {
            number: attempt.number,
            tint: tint(&attempt.outcome),
            outcome: attempt.outcome.clone(),
            at: by.log_time(attempt.started_at),
            after,
            took: seconds(attempt.took_ms),
            reason: attempt.reason.clone().unwrap_or_default(),
            answer,
        });
    }
    tries
}

/// The headers of the newest attempt, as the endpoint is set now.
fn headers_of_attempt(
    by: &By<Viewer>,
    merchant: &Merchant,
    endpoint: &Endpoint,
    found: &MessageDetail,
    last: Option<&Attempt>,
) -> Vec<ShownHeader> {
    let message = ShownMessage {
        id: found.id,
        event: &found.event,
        sequence: found.sequence,
        attempt: last.map_or(1, |last| last.number),
        at: last.map_or(by.now, |last| last.started_at),
    };
    // Settings that cannot be used have no headers.
    headers_of(&by.app, merchant.id, endpoint, message).unwrap_or_default()
}

/// A header of the command, with a placeholder for what is secret.
fn placeholder(header: &ShownHeader) -> (String, String) {
    let secret = header.masked.map(|words| words.to_uppercase().replace(' ', "_")).unwrap_or_default();
    (header.name.clone(), format!("{}{secret}", header.value))
}

fn content(found: &MessageDetail, endpoint: Option<&Endpoint>, headers: &[ShownHeader], before: Option<&Neighbour>) -> Content {
    let headers: Vec<(String, String)> = headers.iter().map(placeholder).collect();
    Content {
        lines: indent(&found.body).lines().map(str::to_owned).collect(),
        bytes: found.body.len(),
        curl: endpoint.map(|endpoint| curl(&endpoint.url, &headers, &found.body)),
        changes: before.and_then(|before| differences(&before.body, &found.body)),
    }
}
