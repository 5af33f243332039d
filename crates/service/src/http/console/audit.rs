//! `GET /audit`: who changed what, of one merchant or of all, newest first; `GET /audit.ndjson`: the same for other programs, one entry
//! a line.

use askama::Template;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use store::merchants::accounts::Merchant;
use store::merchants::audit::{self, LISTED, Recorded};
use uuid::Uuid;
use wire::time;

use super::by::{By, Manager};
use super::count::grouped;
use super::error::ConsoleError;
use super::form::Query;
use super::frame::{Frame, Notice, Section};
use super::listing::named_merchant;
use super::page::render;
use super::stamp::Stamp;
use crate::show::merchants::audit_entries;

/// The rows of a page.
const PAGE: usize = 50;
/// The most entries of a file.
const MOST_EXPORTED: usize = 10_000;

/// The filters in the address.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Filters {
    merchant: String,
    /// A part of the person's name.
    who: String,
    /// A part of the action.
    what: String,
    since: String,
    until: String,
    /// Continue after this entry: its time and its id.
    before: Option<DateTime<Utc>>,
    before_id: Option<Uuid>,
}

impl Filters {
    fn fields(&self) -> Vec<(&'static str, String)> {
        let fields =
            [("merchant", &self.merchant), ("who", &self.who), ("what", &self.what), ("since", &self.since), ("until", &self.until)];
        fields.into_iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| (name, value.clone())).collect()
    }

    /// The address of this list, after an entry.
    fn after(&self, (before, id): Place) -> String {
        let mut fields = self.fields();
        fields.extend([("before", before.to_rfc3339()), ("before_id", id.to_string())]);
        format!("/audit?{}", serde_urlencoded::to_string(fields).unwrap_or_default())
    }

    fn fits(&self, entry: &Recorded) -> bool {
        let holds = |text: &str, part: &str| text.to_lowercase().contains(&part.trim().to_lowercase());
        holds(&entry.actor, &self.who) && holds(&entry.action, &self.what)
    }
}

/// A place in the list: entries before this time, and before this id at the same time.
type Place = (DateTime<Utc>, Uuid);

/// What the filters ask for.
struct Asked {
    merchant: Option<Merchant>,
    since: DateTime<Utc>,
    from: Place,
    faults: Vec<&'static str>,
}

async fn read(by: &By<Manager>, filters: &Filters) -> Result<Asked, ConsoleError> {
    let mut faults = Vec::new();
    let merchant = named_merchant(by, &filters.merchant, &mut faults).await?;
    let since = by.parse_filter(&filters.since, "“Since” cannot be read.", &mut faults).unwrap_or(DateTime::UNIX_EPOCH);
    let until = by.parse_filter(&filters.until, "“Until” cannot be read.", &mut faults);
    // Other nodes' clocks may be a little ahead.
    let newest = by.now + chrono::TimeDelta::minutes(5);
    let from = match (filters.before, filters.before_id) {
        (Some(before), Some(id)) => (before, id),
        _ => (until.unwrap_or(newest), Uuid::max()),
    };
    Ok(Asked { merchant, since, from, faults })
}

/// Up to `most` entries that fit, and where to continue. A page looks at [`LISTED`] entries, whether they fit or not.
async fn find(
    by: &By<Manager>,
    filters: &Filters,
    asked: &Asked,
    from: Place,
    most: usize,
) -> Result<(Vec<Recorded>, Option<Place>), ConsoleError> {
    let looked_at = match &asked.merchant {
        Some(merchant) => audit::list(by.app.store(merchant.id), merchant.id, asked.since, from).await?,
        None => audit_entries::list_all(&by.app, asked.since, from).await?,
    };
    let place = |entry: &Recorded| (entry.done_at, entry.id);
    let last = looked_at.last().map(place).filter(|_| i64::try_from(looked_at.len()).is_ok_and(|count| count >= LISTED));
    let mut found: Vec<Recorded> = looked_at.into_iter().filter(|entry| filters.fits(entry)).collect();
    let more = found.len() > most;
    found.truncate(most);
    let next = if more { found.last().map(place) } else { last };
    Ok((found, next))
}

struct Row {
    entry: Recorded,
    done: Stamp,
}

#[derive(Template)]
#[template(path = "console/audit.html")]
struct Page {
    frame: Frame,
    filters: Filters,
    is_set: bool,
    rows: Vec<Row>,
    older: Option<String>,
    export: String,
    most_exported: String,
}

pub(super) async fn show(by: By<Manager>, Query(filters): Query<Filters>) -> Result<Response, ConsoleError> {
    let asked = read(&by, &filters).await?;
    let (found, next) = find(&by, &filters, &asked, asked.from, PAGE).await?;
    let notice = (!asked.faults.is_empty()).then(|| Notice::warn("A filter was left out.", &asked.faults.join(" ")));
    render(&Page {
        frame: by.frame(Section::Audit, "Audit").with(notice),
        is_set: !filters.fields().is_empty(),
        rows: found.into_iter().map(|entry| Row { done: by.time(entry.done_at), entry }).collect(),
        older: next.map(|place| filters.after(place)),
        export: format!("/audit.ndjson?{}", serde_urlencoded::to_string(filters.fields()).unwrap_or_default()),
        most_exported: grouped(i64::try_from(MOST_EXPORTED).unwrap_or(i64::MAX)),
        filters,
    })
}

/// An entry as other programs read it.
#[derive(Serialize)]
struct Line<'a> {
    at: String,
    id: Uuid,
    merchant: Option<&'a str>,
    actor: &'a str,
    action: &'a str,
    detail: &'a str,
    before: Option<&'a RawValue>,
    after: Option<&'a RawValue>,
    sequence: Option<i64>,
    previous_hash: Option<String>,
    hash: Option<String>,
}

pub(super) async fn export(by: By<Manager>, Query(filters): Query<Filters>) -> Result<Response, ConsoleError> {
    let asked = read(&by, &filters).await?;
    if !asked.faults.is_empty() {
        return Err(ConsoleError::Refused(asked.faults.join(" ")));
    }
    let (mut text, mut written, mut from) = (String::new(), 0, Some(asked.from));
    while let Some(place) = from.filter(|_| written < MOST_EXPORTED) {
        let (found, next) = find(&by, &filters, &asked, place, MOST_EXPORTED - written).await?;
        written += found.len();
        for entry in &found {
            text.push_str(&line(entry)?);
            text.push('\n');
        }
        from = next;
    }
    let name = "attachment; filename=\"audit.ndjson\"";
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson"), (header::CONTENT_DISPOSITION, name)], text).into_response())
}

/// The fields of a change, which are stored as JSON.
fn fields(text: Option<&str>) -> Option<&RawValue> {
    text.and_then(|text| serde_json::from_str(text).ok())
}

fn line(entry: &Recorded) -> Result<String, ConsoleError> {
    let Recorded { handle, id, actor, action, detail, before, after, done_at, sequence, previous_hash, hash } = entry;
    let hex = |hash: &Vec<u8>| hash.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    let line = Line {
        at: time::write(*done_at),
        id: *id,
        merchant: handle.as_deref(),
        actor,
        action,
        detail,
        before: fields(before.as_deref()),
        after: fields(after.as_deref()),
        sequence: *sequence,
        previous_hash: previous_hash.as_ref().map(hex),
        hash: hash.as_ref().map(hex),
    };
    serde_json::to_string(&line).map_err(|error| ConsoleError::Internal(error.to_string()))
}
