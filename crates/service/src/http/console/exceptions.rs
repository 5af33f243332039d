//! `GET /exceptions`: what warehouses found that does not match, as a work list of one merchant or of all.

use askama::Template;
use axum::response::Response;
use serde::Deserialize;
use store::warehouse::exception_pages::{self, Shown, WorkedException};
use uuid::Uuid;

use super::asn_page::exception_at;
use super::by::{By, Viewer};
use super::count::{Count, MOST_COUNTED};
use super::error::ConsoleError;
use super::form::Query;
use super::frame::{Frame, Notice, Section};
use super::listing::{Tabs, named_merchant, scanned_for, tabs};
use super::page::render;
use super::stamp::Stamp;

/// The rows of a page.
const PAGE: usize = 50;

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Filters {
    /// `open`, `mine`, `unassigned` or `resolved`.
    show: String,
    merchant: String,
    after: Option<Uuid>,
    /// An exception has just been resolved.
    resolved: bool,
}

impl Filters {
    /// The address of this list, after the exception `after`.
    fn at(&self, after: Uuid) -> String {
        let after = after.to_string();
        let fields = [("show", &self.show), ("merchant", &self.merchant), ("after", &after)];
        let set: Vec<_> = fields.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        format!("/exceptions?{}", serde_urlencoded::to_string(set).unwrap_or_default())
    }
}

struct Row {
    at: String,
    exception: WorkedException,
    /// What the unit was scanned for: its kind, its name, and its page.
    target: (&'static str, String, Option<String>),
    found: Stamp,
    resolved: Option<Stamp>,
}

#[derive(Template)]
#[template(path = "console/exceptions.html")]
struct Page {
    frame: Frame,
    tabs: Tabs,
    filters: Filters,
    /// Value, name and whether it is shown.
    shows: [(&'static str, &'static str, bool); 4],
    is_resolved: bool,
    rows: Vec<Row>,
    more: Option<String>,
    command: String,
}

pub(super) async fn list(by: By<Viewer>, Query(filters): Query<Filters>) -> Result<Response, ConsoleError> {
    let mut faults = Vec::new();
    let merchant = named_merchant(&by, &filters.merchant, &mut faults).await?;
    let is_nobodys = merchant.is_none() && !filters.merchant.trim().is_empty();
    let (value, name, shown) = match filters.show.as_str() {
        "mine" => ("mine", "Receiving exceptions that you look into", Shown::OwnedBy(by.operator.email.clone())),
        "unassigned" => ("unassigned", "Receiving exceptions that nobody looks into", Shown::OwnedBy(String::new())),
        "resolved" => ("resolved", "Resolved receiving exceptions", Shown::Resolved),
        _ => ("open", "Receiving exceptions", Shown::Open),
    };
    let page = if is_nobodys {
        exception_pages::Page { exceptions: Vec::new(), next: None }
    } else {
        exception_pages::list(by.app.cell(), merchant.as_ref().map(|merchant| merchant.id), &shown, filters.after, PAGE).await?
    };
    let heading = match (&merchant, &shown) {
        (Some(merchant), _) => format!("{name}: {}", merchant.name),
        (None, Shown::Resolved) => name.to_owned(),
        (None, Shown::Open) => format!("{name}: {}", count(&by, None).await?),
        (None, Shown::OwnedBy(owner)) => format!("{name}: {}", count(&by, Some(owner)).await?),
    };
    let notice = match (faults.first(), filters.resolved) {
        (Some(fault), _) => Some(Notice::warn("A filter was left out.", fault)),
        (None, true) => Some(Notice::ok("The exception is resolved.", "Its page keeps the reason, and the audit log names you.")),
        (None, false) => None,
    };
    let choices = [("open", "Open"), ("mine", "Mine"), ("unassigned", "Unassigned"), ("resolved", "Resolved")];
    let handle = if filters.merchant.is_empty() { "HANDLE" } else { &filters.merchant };
    let option = if value == "open" { String::new() } else { format!(" --show {value}") };
    render(&Page {
        frame: by.frame(Section::Warehouse, &heading).with(notice),
        tabs: tabs("/exceptions"),
        shows: choices.map(|(other, name)| (other, name, other == value)),
        is_resolved: shown == Shown::Resolved,
        more: page.next.map(|after| filters.at(after)),
        rows: page.exceptions.into_iter().map(|exception| row(&by, exception)).collect(),
        command: format!("backhaul exceptions list --merchant {handle}{option}"),
        filters,
    })
}

async fn count(by: &By<Viewer>, owner: Option<&str>) -> Result<Count, ConsoleError> {
    let (count, _) = exception_pages::count(by.app.cell(), owner, MOST_COUNTED).await?;
    Ok(Count::of(count))
}

fn row(by: &By<Viewer>, exception: WorkedException) -> Row {
    Row {
        at: exception_at(&exception.handle, exception.id),
        target: scanned_for(&exception.handle, &exception.exception, &exception.scanned_for),
        found: by.ago(exception.found_at),
        resolved: exception.resolved_at.map(|at| by.time(at)),
        exception,
    }
}
