//! `GET /merchants/{handle}/asns/{number}`: an inbound ASN with its lines and how far receiving has come.

use askama::Template;
use axum::response::Response;
use domain::warehouse::inbound::Target;
use serde::Deserialize;
use store::merchants::accounts::Merchant;
use store::warehouse::inbound_asn_pages::{self, ReceivedUnit};
use store::warehouse::inbound_asns::{self, Line, StoredAsn};
use store::warehouse::receiving_exceptions;
use uuid::Uuid;

use super::by::{By, Viewer};
use super::count::{Count, grouped};
use super::error::ConsoleError;
use super::failure_choice::merchant_of;
use super::form::{Path, Query};
use super::frame::{Frame, Section};
use super::listing::asn_state;
use super::message_row::subject_at;
use super::page::render;
use super::return_found::{asn_at, return_at};
use super::stamp::Stamp;

/// The lines, the received units and the exceptions that a page shows.
const LINES: usize = 100;
const UNITS: i64 = 50;
const EXCEPTIONS: usize = 20;

/// Received units are counted up to here.
const MOST_COUNTED: i64 = 5_000;

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct From {
    /// The last line of the page before.
    after: String,
}

struct LineRow {
    line: Line,
    carton: String,
    /// What is announced: a unit, or a SKU.
    what: String,
    /// The document that it belongs to, and its page.
    reference: Option<(String, Option<String>)>,
    state: (&'static str, &'static str),
}

struct UnitRow {
    unit: ReceivedUnit,
    /// What the merchant was told of it.
    messages_at: String,
    received: Stamp,
}

struct ExceptionRow {
    at: String,
    kind: &'static str,
    what: String,
    quantity: u32,
    found: Stamp,
    state: (&'static str, &'static str),
}

#[derive(Template)]
#[template(path = "console/asn.html")]
struct Page {
    frame: Frame,
    merchant: Merchant,
    kept: StoredAsn,
    state: (&'static str, &'static str),
    created: Stamp,
    changed: Stamp,
    ships: Option<Stamp>,
    received: Count,
    announced: i64,
    announced_words: String,
    lines: Vec<LineRow>,
    more: Option<String>,
    units: Vec<UnitRow>,
    exceptions: Vec<ExceptionRow>,
    more_exceptions: bool,
}

impl Page {
    /// The width of the bar's part that has arrived.
    fn arrived(&self) -> i64 {
        self.received.count.min(self.announced)
    }

    fn width(&self) -> i64 {
        self.announced.max(1)
    }
}

pub(super) async fn show(
    by: By<Viewer>,
    Path((handle, number)): Path<(String, String)>,
    Query(from): Query<From>,
) -> Result<Response, ConsoleError> {
    let merchant = merchant_of(&by, &handle).await?;
    if number.contains('\0') || from.after.contains('\0') {
        return Err(ConsoleError::NotFound);
    }
    let store = by.app.store(merchant.id);
    let kept = inbound_asns::find_head(store, merchant.id, &number).await?.ok_or(ConsoleError::NotFound)?;
    let most = i64::try_from(LINES).unwrap_or(i64::MAX);
    let mut lines = inbound_asn_pages::list_lines(store, merchant.id, kept.id, &from.after, most + 1).await?;
    let more = lines.len() > LINES;
    lines.truncate(LINES);
    let next = lines.last().filter(|_| more).map(|last| {
        let after = serde_urlencoded::to_string([("after", &last.identifier)]).unwrap_or_default();
        format!("{}?{after}", asn_at(&merchant.handle, &number))
    });
    let (units, received) = inbound_asn_pages::list_received(store, merchant.id, kept.id, UNITS, MOST_COUNTED).await?;
    let target = Some(Target::Asn(&number));
    let (exceptions, more_exceptions) = receiving_exceptions::list(store, merchant.id, target, None, EXCEPTIONS).await?;
    let announced = inbound_asn_pages::announced(store, merchant.id, kept.id).await?;
    render(&Page {
        frame: by.frame(Section::Warehouse, &format!("ASN {number}")),
        state: asn_state(kept.state),
        created: by.time(kept.created_at),
        changed: by.time(kept.updated_at),
        ships: kept.asn.ship_date.map(|date| by.day(date)),
        received: Count { count: received, bound: MOST_COUNTED },
        announced,
        announced_words: grouped(announced),
        lines: lines.into_iter().map(|line| line_row(&merchant.handle, line)).collect(),
        more: next,
        units: units.into_iter().map(|unit| unit_row(&by, &merchant.handle, unit)).collect(),
        exceptions: exceptions.into_iter().map(|exception| exception_row(&by, &merchant.handle, exception)).collect(),
        more_exceptions,
        merchant,
        kept,
    })
}

fn line_row(handle: &str, line: Line) -> LineRow {
    let what = [&line.unit, &line.client_unit, &line.sku].into_iter().flatten().next().cloned().unwrap_or_default();
    let rma_at = line.rma().map(|rma| return_at(handle, rma));
    LineRow {
        carton: line.carton_identifier.clone().unwrap_or_else(|| format!("{}", line.carton + 1)),
        what,
        reference: line.reference.as_ref().map(|reference| (format!("{} {}", reference.kind, reference.identifier), rma_at)),
        state: match line.received {
            0 => ("off", "Nothing yet"),
            received if received < line.quantity => ("run", "Partly"),
            _ => ("ok", "Complete"),
        },
        line,
    }
}

fn unit_row(by: &By<Viewer>, handle: &str, unit: ReceivedUnit) -> UnitRow {
    UnitRow { messages_at: subject_at(handle, &unit.unit), received: by.time(unit.received_at), unit }
}

fn exception_row(by: &By<Viewer>, handle: &str, exception: receiving_exceptions::Listed) -> ExceptionRow {
    ExceptionRow {
        at: exception_at(handle, exception.id),
        kind: exception.exception.as_str(),
        what: exception.unit.or(exception.line).unwrap_or_default(),
        quantity: exception.quantity,
        found: by.time(exception.found_at),
        state: if exception.resolved_at.is_some() { ("ok", "Resolved") } else { ("warn", "Open") },
    }
}

/// The address of an exception's page.
pub(super) fn exception_at(handle: &str, exception: Uuid) -> String {
    format!("/merchants/{handle}/exceptions/{exception}")
}
