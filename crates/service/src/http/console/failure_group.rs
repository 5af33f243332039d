//! `GET /failures/group`: the messages that failed for one reason at one endpoint, and the work on them.

use askama::Template;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use chrono::DateTime;
use domain::merchants::operator::Role;
use store::messages::failures::Entry;
use store::messages::{failure_groups, failure_notes, failure_selection};
use uuid::Uuid;
use wire::messages::csv;
use wire::time;

use super::by::{By, Viewer};
use super::error::ConsoleError;
use super::failure_choice::{Choice, Named, field};
use super::figures::{counted, messages, tint};
use super::form::Query;
use super::frame::{Frame, Section};
use super::long_id::LongId;
use super::page::render;
use super::stamp::Stamp;
use super::view::View;

/// The messages on a page.
const LISTED: i64 = 50;

struct Row {
    id: Uuid,
    shown: LongId,
    failed_at: Stamp,
    event: String,
    subject: String,
    sequence: i64,
    state: (&'static str, &'static str),
    owner: String,
    note: String,
}

struct Step {
    at: Stamp,
    actor: String,
    words: String,
    text: String,
    many: bool,
    entries: i64,
}

#[derive(Template)]
#[template(path = "console/failure-group.html")]
struct Page {
    frame: Frame,
    choice: Choice,
    tint: &'static str,
    contacted: bool,
    count: String,
    sentence: String,
    oldest: Option<Stamp>,
    newest: Option<Stamp>,
    rows: Vec<Row>,
    next: Option<String>,
    history: Vec<Step>,
    may_act: bool,
    me: String,
    retry_at: String,
    discard_at: String,
    csv_at: String,
    command: String,
}

pub(super) async fn show(by: By<Viewer>, Query(fields): Query<Named>) -> Result<Response, ConsoleError> {
    let choice = Choice::read(&by, &fields).await?;
    let (store, merchant) = (by.app.store(choice.merchant.id), choice.merchant.id);
    let after = field(&fields, "after").and_then(read_place).unwrap_or((DateTime::UNIX_EPOCH, Uuid::nil()));
    let tally = failure_groups::tally(store, &choice.key()).await?;
    let entries = failure_selection::list(store, merchant, (choice.endpoint, &choice.reason), after, LISTED).await?;
    let ids: Vec<Uuid> = entries.iter().map(|entry| entry.message_id).collect();
    let history = failure_notes::list(store, merchant, &ids).await?;
    let full = i64::try_from(entries.len()).unwrap_or(i64::MAX) == LISTED;
    let next = entries.last().filter(|_| full).map(|last| {
        let place = [("after", format!("{}.{}", last.failed_at.timestamp_micros(), last.message_id))];
        format!("{}&{}", choice.group_at(), serde_urlencoded::to_string(place).unwrap_or_default())
    });
    let (count, contacted) = tally.as_ref().map_or((0, 0), |tally| (tally.count, tally.contacted));
    let heading = format!("{} · {} · {}", choice.merchant.name, choice.facts.interface, choice.reason);
    render(&Page {
        frame: by.frame(Section::Failures, &heading),
        tint: tint(&choice.reason),
        contacted: count > 0 && count == contacted,
        count: counted(count),
        sentence: messages(count),
        oldest: tally.as_ref().map(|tally| by.ago(tally.oldest)),
        newest: tally.as_ref().map(|tally| by.time(tally.newest)),
        rows: entries.into_iter().map(|entry| row(&by, entry)).collect(),
        next,
        history: history.into_iter().map(|note| step(&by, note)).collect(),
        may_act: by.may(Role::Support),
        me: by.operator.name.clone(),
        retry_at: choice.at("/failures/retry"),
        discard_at: choice.at("/failures/discard"),
        csv_at: choice.at("/failures/group.csv"),
        command: format!("backhaul failures list --merchant {} --interface {}", choice.merchant.handle, choice.facts.interface),
        choice,
    })
}

fn row(view: &View, entry: Entry) -> Row {
    Row {
        id: entry.message_id,
        shown: LongId(entry.message_id),
        failed_at: view.log_time(entry.failed_at),
        event: entry.event,
        subject: entry.subject,
        sequence: entry.sequence,
        state: if entry.state == "contacted" { ("run", "Contacted") } else { ("warn", "Open") },
        owner: entry.owner.unwrap_or_default(),
        note: entry.note.unwrap_or_default(),
    }
}

fn step(view: &View, note: failure_notes::Note) -> Step {
    let words = match note.kind.as_str() {
        "owner" => "made the owner",
        "contacted" => "contacted the merchant",
        "discarded" => "discarded it",
        _ => "noted",
    };
    Step {
        at: view.log_time(note.made_at),
        actor: note.actor,
        words: words.to_owned(),
        text: note.text.unwrap_or_default(),
        many: note.entries > 1,
        entries: note.entries,
    }
}

/// Reads a place among the entries: microseconds and message.
fn read_place(text: &str) -> Option<(DateTime<chrono::Utc>, Uuid)> {
    let (micros, id) = text.split_once('.')?;
    Some((DateTime::from_timestamp_micros(micros.parse().ok()?)?, id.parse().ok()?))
}

/// The most lines of an export, and the entries that are read at once for it.
const MOST_EXPORTED: usize = 10_000;
const BATCH: i64 = 250;

/// `GET /failures/group.csv`: the group as comma-separated values, with times in UTC.
pub(super) async fn export(by: By<Viewer>, Query(fields): Query<Named>) -> Result<Response, ConsoleError> {
    let choice = Choice::read(&by, &fields).await?;
    let (store, merchant) = (by.app.store(choice.merchant.id), choice.merchant.id);
    let heads = [
        "message_id",
        "given_up_at",
        "interface",
        "event",
        "subject",
        "sequence",
        "attempts",
        "reason",
        "state",
        "owner",
        "note",
        "contacted_at",
    ];
    let mut text = csv::line(heads);
    let mut after = (DateTime::UNIX_EPOCH, Uuid::nil());
    let mut lines = 0;
    loop {
        let entries = failure_selection::list(store, merchant, (choice.endpoint, &choice.reason), after, BATCH).await?;
        let read = i64::try_from(entries.len()).unwrap_or(i64::MAX);
        for entry in entries {
            after = (entry.failed_at, entry.message_id);
            lines += 1;
            text.push_str(&csv::line([
                entry.message_id.to_string().as_str(),
                &time::write(entry.failed_at),
                &entry.kind,
                &entry.event,
                &entry.subject,
                &entry.sequence.to_string(),
                &entry.attempts.to_string(),
                &entry.reason,
                &entry.state,
                entry.owner.as_deref().unwrap_or_default(),
                entry.note.as_deref().unwrap_or_default(),
                &entry.contacted_at.map(time::write).unwrap_or_default(),
            ]));
        }
        if read < BATCH {
            break;
        }
        if lines >= MOST_EXPORTED {
            text.push_str(&csv::line(["The export ends here, after 10,000 messages. There may be more in the group."]));
            break;
        }
    }
    let name = format!("attachment; filename=\"failures-{}-{}.csv\"", choice.merchant.handle, choice.facts.interface);
    Ok(([(header::CONTENT_TYPE, "text/csv; charset=utf-8"), (header::CONTENT_DISPOSITION, name.as_str())], text).into_response())
}
