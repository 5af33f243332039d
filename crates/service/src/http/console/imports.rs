//! `GET /intake/imports`: history imports, newest first. `GET /merchants/{handle}/imports/{id}`: one with its progress and refused lines.

use askama::Template;
use axum::response::Response;
use serde::Deserialize;
use store::merchants::accounts::Merchant;
use store::orders::imports::{self, Import, ListedImport, RefusedLine, State};
use uuid::Uuid;
use wire::fault::Warning;

use super::by::{By, Viewer};
use super::count::grouped;
use super::error::ConsoleError;
use super::failure_choice::merchant_of;
use super::form::{Path, Query};
use super::frame::{Frame, Section};
use super::listing::{Filters, List};
use super::long_id::LongId;
use super::page::render;
use super::return_found::order_at;
use super::stamp::Stamp;
use super::view::View;

/// The refused lines of a page.
const LINES: usize = 50;

/// The class and the word of a state. A run whose lease is over was killed, and can be resumed like one that broke off.
fn state(view: &View, import: &Import) -> (&'static str, &'static str) {
    match import.state {
        State::Running if is_running(view, import) => ("run", "Runs"),
        State::Running | State::Interrupted => ("warn", "Broke off"),
        State::Done => ("ok", "Done"),
    }
}

fn is_running(view: &View, import: &Import) -> bool {
    import.state == State::Running && import.leased_until.is_some_and(|until| until > view.now)
}

/// The numbers of an import, as they are shown.
struct Numbers {
    lines: String,
    created: String,
    updated: String,
    unchanged: String,
    stale: String,
    refused: String,
}

impl Numbers {
    fn of(import: &Import) -> Self {
        let counts = import.counts;
        Self {
            lines: grouped(counts.lines),
            created: grouped(counts.created),
            updated: grouped(counts.updated),
            unchanged: grouped(counts.unchanged),
            stale: grouped(counts.stale),
            refused: grouped(counts.refused),
        }
    }
}

struct Row {
    shown: LongId,
    listed: ListedImport,
    state: (&'static str, &'static str),
    numbers: Numbers,
    started: Stamp,
    progressed: Stamp,
}

#[derive(Template)]
#[template(path = "console/imports.html")]
struct Page {
    frame: Frame,
    list: List,
    rows: Vec<Row>,
    command: String,
}

pub(super) async fn list(by: By<Viewer>, Query(filters): Query<Filters>) -> Result<Response, ConsoleError> {
    let (mut list, window) = List::read(&by, "/intake/imports", &[], filters).await?;
    let merchant = list.merchant();
    let found = list.find(&by, |store| imports::list_across(store, merchant, &window), |listed| listed.import.id).await?;
    let row = |listed: ListedImport| Row {
        shown: LongId(listed.import.id),
        state: state(&by, &listed.import),
        numbers: Numbers::of(&listed.import),
        started: by.time(listed.import.started_at),
        progressed: by.time(listed.import.updated_at),
        listed,
    };
    let rows = found.into_iter().map(row).collect();
    let command = format!("backhaul orders import --merchant {} FILE", list.handle());
    render(&Page { frame: by.frame(Section::Intake, "Imports").with(list.notice()), list, rows, command })
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct From {
    /// The last line of the page before.
    after: i64,
}

struct LineRow {
    line: String,
    order: Option<(String, String)>,
    faults: Vec<Warning>,
}

#[derive(Template)]
#[template(path = "console/import.html")]
struct One {
    frame: Frame,
    merchant: Merchant,
    import: Import,
    state: (&'static str, &'static str),
    numbers: Numbers,
    started: Stamp,
    progressed: Stamp,
    lines: Vec<LineRow>,
    more: Option<String>,
    command: String,
}

pub(super) async fn show(
    by: By<Viewer>,
    Path((handle, id)): Path<(String, Uuid)>,
    Query(from): Query<From>,
) -> Result<Response, ConsoleError> {
    let merchant = merchant_of(&by, &handle).await?;
    let store = by.app.store(merchant.id);
    let import = imports::find(store, merchant.id, id).await?.ok_or(ConsoleError::NotFound)?;
    let most = i64::try_from(LINES).unwrap_or(i64::MAX);
    let mut lines = imports::list_refusals(store, merchant.id, id, from.after, most + 1).await?;
    let more = lines.len() > LINES;
    lines.truncate(LINES);
    let next = lines.last().filter(|_| more).map(|last| format!("/merchants/{}/imports/{id}?after={}", merchant.handle, last.line));
    let row = |line: RefusedLine| LineRow {
        line: grouped(line.line),
        order: line.order_identifier.map(|order| (order_at(&merchant.handle, &order), order)),
        faults: Warning::read_stored(&line.faults),
    };
    let mut frame = by.frame(Section::Intake, &format!("Import of {}", merchant.name));
    if is_running(&by, &import) {
        frame = frame.renewing(2);
    }
    render(&One {
        frame,
        state: state(&by, &import),
        numbers: Numbers::of(&import),
        started: by.log_time(import.started_at),
        progressed: by.log_time(import.updated_at),
        lines: lines.into_iter().map(row).collect(),
        more: next,
        command: format!("backhaul orders import-report {id} --merchant {}", merchant.handle),
        merchant,
        import,
    })
}
