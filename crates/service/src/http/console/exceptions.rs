//! `GET /exceptions`: what warehouses found that does not match, as a work list of one merchant or of all.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use askama::Template;
use axum::response::Response;
use domain::id::MerchantId;
use serde::Deserialize;
use store::merchants::operators;
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
use crate::app::App;
use crate::node::each_cell;

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
        find(&by, merchant.as_ref().map(|merchant| merchant.id), &shown, filters.after).await?
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

/// A page of the exceptions of all cells, in the order of the list.
async fn find(
    by: &By<Viewer>,
    merchant: Option<MerchantId>,
    shown: &Shown,
    after: Option<Uuid>,
) -> Result<exception_pages::Page, ConsoleError> {
    let of_cells = each_cell::each(&by.app, |store| exception_pages::list(store, merchant, shown, after, PAGE)).await?;
    let of_cells = of_cells.into_iter().map(|page| (page.exceptions, page.next));
    let (mut exceptions, mut next) = match shown {
        Shown::Open | Shown::OwnedBy(_) => each_cell::pages(of_cells.collect(), |exception| exception.id),
        Shown::Resolved => {
            let newest_first = of_cells.map(|(exceptions, next)| (exceptions, next.map(Reverse))).collect();
            let (exceptions, next) = each_cell::pages(newest_first, |exception: &WorkedException| Reverse(exception.id));
            (exceptions, next.map(|Reverse(next)| next))
        }
    };
    if exceptions.len() > PAGE {
        exceptions.truncate(PAGE);
        next = exceptions.last().map(|last| last.id);
    }
    name_owners(&by.app, &mut exceptions).await?;
    Ok(exception_pages::Page { exceptions, next })
}

/// Names the owners of exceptions of other cells: people are in the first one.
pub(super) async fn name_owners(app: &App, exceptions: &mut [WorkedException]) -> Result<(), ConsoleError> {
    if !app.has_several_cells() {
        return Ok(());
    }
    let mut names: BTreeMap<String, Option<String>> = BTreeMap::new();
    for exception in exceptions.iter_mut().filter(|exception| !exception.owner.is_empty() && exception.owner_name.is_none()) {
        if !names.contains_key(&exception.owner) {
            let owner = operators::find(app.home(), &exception.owner).await?;
            names.insert(exception.owner.clone(), owner.map(|owner| owner.operator.name));
        }
        exception.owner_name = names.get(&exception.owner).cloned().flatten();
    }
    Ok(())
}

async fn count(by: &By<Viewer>, owner: Option<&str>) -> Result<Count, ConsoleError> {
    let counted = each_cell::each(&by.app, |store| exception_pages::count(store, owner, MOST_COUNTED)).await?;
    Ok(Count::sum(counted.into_iter().map(|(count, _)| count)))
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
