//! `GET /intake`: order messages that were refused, newest first. `GET /merchants/{handle}/refused/{id}`: one with its faults beside its lines.

use askama::Template;
use axum::response::Response;
use store::merchants::accounts::Merchant;
use store::orders::refusals::{self, ListedRefusal, Refusal};
use uuid::Uuid;
use wire::fault::Warning;
use wire::orders::order::{ExcerptLine, read_excerpt};

use super::by::{By, Viewer};
use super::error::ConsoleError;
use super::failure_choice::merchant_of;
use super::form::{Path, Query};
use super::frame::{Frame, Section};
use super::listing::{Filters, List};
use super::page::render;
use super::stamp::Stamp;

/// The identifiers of orders that a row names.
const NAMED: usize = 3;

struct Row {
    refusal: ListedRefusal,
    orders: String,
    /// The first fault, if the message could be read.
    fault: Option<Warning>,
    faults: usize,
    at: Stamp,
}

#[derive(Template)]
#[template(path = "console/refused.html")]
struct Page {
    frame: Frame,
    list: List,
    rows: Vec<Row>,
    command: String,
}

pub(super) async fn list(by: By<Viewer>, Query(filters): Query<Filters>) -> Result<Response, ConsoleError> {
    let (mut list, window) = List::read(&by, "/intake", &[], filters).await?;
    let merchant = list.merchant();
    let found = list.find(&by, |store| refusals::list_across(store, merchant, &window), |refusal| refusal.id).await?;
    let rows = found.into_iter().map(|refusal| row(&by, refusal)).collect();
    let command = format!("backhaul orders refused --merchant {}", list.handle());
    render(&Page { frame: by.frame(Section::Intake, "Refused messages").with(list.notice()), list, rows, command })
}

fn row(by: &By<Viewer>, refusal: ListedRefusal) -> Row {
    let faults = Warning::read_stored(&refusal.faults);
    let named = refusal.order_identifiers.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = refusal.order_identifiers.len().saturating_sub(NAMED);
    Row {
        orders: if more > 0 { format!("{named} and {more} more") } else { named },
        faults: faults.len(),
        fault: faults.into_iter().next(),
        at: by.log_time(refusal.refused_at),
        refusal,
    }
}

/// A line of the message, indented as it is shown.
struct Line {
    text: String,
    faults: Vec<String>,
}

#[derive(Template)]
#[template(path = "console/refused-message.html")]
struct One {
    frame: Frame,
    merchant: Merchant,
    refusal: Refusal,
    at: Stamp,
    lines: Vec<Line>,
    faults: Vec<Warning>,
    command: String,
}

pub(super) async fn show(by: By<Viewer>, Path((handle, id)): Path<(String, Uuid)>) -> Result<Response, ConsoleError> {
    let merchant = merchant_of(&by, &handle).await?;
    let refusal = refusals::find(by.app.store(merchant.id), merchant.id, id).await?.ok_or(ConsoleError::NotFound)?;
    let line = |line: ExcerptLine| Line { text: format!("{}{}", "  ".repeat(line.depth), line.text), faults: line.faults };
    render(&One {
        frame: by.frame(Section::Intake, "Refused message"),
        at: by.log_time(refusal.refused_at),
        lines: refusal.excerpt.as_deref().map(read_excerpt).unwrap_or_default().into_iter().map(line).collect(),
        faults: Warning::read_stored(&refusal.faults),
        command: format!("backhaul orders refused --merchant {}", merchant.handle),
        merchant,
        refusal,
    })
}
