//! `GET /returns`: the returns of one merchant or of all, newest first.

use std::cmp::Reverse;

use askama::Template;
use axum::response::Response;
use chrono::{DateTime, Utc};
use domain::returns::rma::{ExchangeState, Status};
use serde::Deserialize;
use store::merchants::accounts::Merchant;
use store::returns::rma_pages::{self, Filter, Listed, ListedAcross};
use uuid::Uuid;
use wire::time;

use super::by::{By, Viewer};
use super::error::ConsoleError;
use super::failure_choice::merchant_of;
use super::form::Query;
use super::frame::{Frame, Notice, Section};
use super::page::render;
use super::return_found::{order_at, return_at};
use super::return_page::status_class;
use super::stamp::Stamp;
use crate::node::each_cell;

/// The rows of a page.
const PAGE: usize = 50;

/// The word for returns that are neither settled nor cancelled.
const OPEN: &str = "open";

/// The filters in the address.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Filters {
    merchant: String,
    status: String,
    order: String,
    tracking: String,
    since: String,
    until: String,
    before: Option<Uuid>,
}

impl Filters {
    fn is_set(&self) -> bool {
        [&self.merchant, &self.status, &self.order, &self.tracking, &self.since, &self.until].iter().any(|value| !value.is_empty())
    }

    /// The address of this list, from the return `before` on.
    fn at(&self, before: Uuid) -> String {
        let before = before.to_string();
        let fields = [
            ("merchant", &self.merchant),
            ("status", &self.status),
            ("order", &self.order),
            ("tracking", &self.tracking),
            ("since", &self.since),
            ("until", &self.until),
            ("before", &before),
        ];
        let set: Vec<_> = fields.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        format!("/returns?{}", serde_urlencoded::to_string(set).unwrap_or_default())
    }
}

struct Row {
    at: String,
    identifier: String,
    handle: String,
    merchant: String,
    order: String,
    order_at: String,
    status: (&'static str, &'static str),
    method: &'static str,
    units: i64,
    exchange: Option<&'static str>,
    started: Stamp,
    /// The class of the refund's state, its words, and the day that they end with.
    refund: (&'static str, &'static str, Option<Stamp>),
}

#[derive(Template)]
#[template(path = "console/returns.html")]
struct Page {
    frame: Frame,
    is_set: bool,
    filters: Filters,
    statuses: Vec<(&'static str, &'static str)>,
    rows: Vec<Row>,
    older: Option<String>,
    command: String,
}

/// The filters as they were understood, and what could not be.
struct Read {
    /// `None` for all.
    statuses: Option<Vec<Status>>,
    since: Option<DateTime<Utc>>,
    until: Option<DateTime<Utc>>,
    faults: Vec<&'static str>,
}

fn read(by: &By<Viewer>, filters: &Filters) -> Read {
    let mut faults = Vec::new();
    let since = by.parse_filter(&filters.since, "“Started since” cannot be read.", &mut faults);
    let until = by.parse_filter(&filters.until, "“Until” cannot be read.", &mut faults);
    let statuses = match filters.status.as_str() {
        "" => None,
        OPEN => Some(vec![Status::Created, Status::PartialRefund]),
        one => {
            let status = one.parse().ok();
            if status.is_none() {
                faults.push("There is no such status.");
            }
            status.map(|status| vec![status])
        }
    };
    Read { statuses, since, until, faults }
}

pub(super) async fn list(by: By<Viewer>, Query(filters): Query<Filters>) -> Result<Response, ConsoleError> {
    let mut read = read(&by, &filters);
    let merchant = match filters.merchant.trim() {
        "" => None,
        handle => match merchant_of(&by, handle).await {
            Ok(merchant) => Some(merchant),
            Err(ConsoleError::NotFound) => {
                read.faults.push("There is no merchant with this handle.");
                None
            }
            Err(error) => return Err(error),
        },
    };
    let needs_merchant = !filters.order.is_empty() || !filters.tracking.is_empty();
    let (rows, more) = match &merchant {
        Some(merchant) => of_merchant(&by, merchant, &filters, &read).await?,
        None if !filters.merchant.is_empty() => (Vec::new(), None),
        None if needs_merchant => {
            read.faults.push("An order or a tracking number is listed with its merchant only: name the merchant, or search for it above.");
            (Vec::new(), None)
        }
        None => of_all(&by, &filters, &read).await?,
    };
    let faults = read.faults.join(" ");
    let notice = (!faults.is_empty()).then(|| Notice::warn("A filter was left out.", &faults));
    let named = [(OPEN, "Open")].into_iter().chain(Status::ALL.iter().map(|status| (status.as_str(), status.as_str())));
    render(&Page {
        frame: by.frame(Section::Returns, "Returns").with(notice),
        is_set: filters.is_set(),
        statuses: named.collect(),
        older: more.map(|before| filters.at(before)),
        command: command(&filters, &read),
        rows,
        filters,
    })
}

fn command(filters: &Filters, read: &Read) -> String {
    let merchant = if filters.merchant.is_empty() { "HANDLE" } else { &filters.merchant };
    let status = read.statuses.as_deref().and_then(<[_]>::first).map(ToString::to_string);
    let options = [
        ("order", filters.order.clone()),
        ("tracking-number", filters.tracking.clone()),
        ("status", status.unwrap_or_default()),
        ("since", read.since.map(time::write).unwrap_or_default()),
    ];
    let set = options.into_iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| format!(" --{name} {value}"));
    format!("backhaul returns list --merchant {merchant}{}", set.collect::<String>())
}

async fn of_merchant(
    by: &By<Viewer>,
    merchant: &Merchant,
    filters: &Filters,
    read: &Read,
) -> Result<(Vec<Row>, Option<Uuid>), ConsoleError> {
    // A text with a zero byte is no identifier.
    let some = |text: &str| (!text.trim().is_empty()).then(|| text.trim().replace('\0', ""));
    let statuses = read.statuses.as_ref().map_or_else(|| vec![None], |statuses| statuses.iter().copied().map(Some).collect());
    let (mut found, mut more) = (Vec::new(), false);
    for status in statuses {
        let filter =
            Filter { order: some(&filters.order), tracking_number: some(&filters.tracking), status, from: read.since, to: read.until };
        let page = rma_pages::list(by.app.store(merchant.id), merchant.id, &filter, filters.before, PAGE).await?;
        more |= page.next.is_some();
        found.extend(page.returns);
    }
    found.sort_by_key(|listed| Reverse(listed.id));
    more |= found.len() > PAGE;
    found.truncate(PAGE);
    let next = found.last().map(|last| last.id).filter(|_| more);
    Ok((found.into_iter().map(|listed| row(by, &merchant.handle, &merchant.name, listed)).collect(), next))
}

async fn of_all(by: &By<Viewer>, filters: &Filters, read: &Read) -> Result<(Vec<Row>, Option<Uuid>), ConsoleError> {
    let statuses = read.statuses.as_deref().unwrap_or(Status::ALL);
    let most = i64::try_from(PAGE).unwrap_or(i64::MAX);
    let of_cell = |store| rma_pages::list_across(store, statuses, (read.since, read.until), filters.before, most + 1);
    let mut found = each_cell::list(&by.app, of_cell, |found| Reverse(found.listed.id)).await?;
    let more = found.len() > PAGE;
    found.truncate(PAGE);
    let next = found.last().map(|last| last.listed.id).filter(|_| more);
    let rows = found.into_iter().map(|ListedAcross { handle, merchant_name, listed }| row(by, &handle, &merchant_name, listed));
    Ok((rows.collect(), next))
}

fn row(by: &By<Viewer>, handle: &str, merchant: &str, listed: Listed) -> Row {
    Row {
        at: return_at(handle, &listed.identifier),
        order_at: order_at(handle, &listed.order),
        handle: handle.to_owned(),
        merchant: merchant.to_owned(),
        status: (status_class(listed.status), listed.status.as_str()),
        method: listed.method.as_str(),
        units: listed.units,
        exchange: listed.exchange.map(ExchangeState::as_str),
        started: by.time(listed.created_at),
        refund: refund(by, &listed),
        identifier: listed.identifier,
        order: listed.order,
    }
}

fn refund(by: &By<Viewer>, listed: &Listed) -> (&'static str, &'static str, Option<Stamp>) {
    match (listed.refund_due_at, listed.status) {
        (Some(due), _) if due <= by.now => ("bad", "overdue since", Some(by.day(due))),
        (Some(due), _) => ("warn", "due by", Some(by.day(due))),
        (None, Status::Refunded) => ("ok", "settled", None),
        (None, Status::Cancelled) => ("off", "none", None),
        (None, Status::PartialRefund) => ("run", "some units to come", None),
        (None, Status::Created) => ("off", "not due", None),
    }
}
