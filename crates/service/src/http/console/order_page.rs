//! `GET /merchants/{handle}/orders/{id}`: an order as its merchant last sent it, with its warnings, refunds and returns.
//! `POST …/shopper` shows it with the shopper's name and address, and `POST …/export` sends everything about it as a file; the audit
//! records both.

use askama::Template;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use domain::merchants::operator::Role;
use domain::money::Cents;
use store::merchants::accounts::Merchant;
use store::orders::refunds::Recorded;
use store::orders::snapshots::{self, Stored};
use store::returns::rma_pages::Listed;
use wire::fault::Warning;
use wire::merchants::shopper_export::ShopperExport;

use super::amount::Currency;
use super::by::{Admin, By, Permission, Support, Viewer};
use super::error::ConsoleError;
use super::failure_choice::merchant_of;
use super::form::Path;
use super::frame::{Frame, Section};
use super::page::render;
use super::return_found::{order_at, return_at};
use super::return_page::status_class;
use super::stamp::Stamp;
use crate::flow::merchants::export_shopper::export_order;
use crate::flow::orders::view_shopper::{Shopper, view_shopper};
use crate::show::orders::order::{self, Line as SoldLine};

/// The variable parts of the address: the merchant's handle, and the order's identifier.
type At = (String, String);

/// A line of the order.
struct Line {
    identifier: String,
    sku: String,
    title: String,
    price: String,
    ordered: u32,
    shipped: u32,
    cancelled: u32,
    returned: usize,
    refunded: u64,
    tracking: Option<String>,
}

/// What the snapshot says.
struct Content {
    lines: Vec<Line>,
    /// The parts of the total, each with its sign.
    sums: Vec<(&'static str, String)>,
    adds_up: String,
    total: String,
    is_right: bool,
    placed: Stamp,
    updated: Stamp,
    original: Option<(String, String)>,
}

struct RefundRow {
    identifier: String,
    total: String,
    at: Stamp,
    units: u64,
    rma: Option<(String, String)>,
}

struct ReturnRow {
    identifier: String,
    at: String,
    status: (&'static str, &'static str),
    units: i64,
    started: Stamp,
    due: Option<(bool, Stamp)>,
}

#[derive(Template)]
#[template(path = "console/order.html")]
struct Page {
    frame: Frame,
    merchant: Merchant,
    identifier: String,
    here: String,
    status: (&'static str, &'static str),
    revision: i64,
    received: Stamp,
    warnings: Vec<Warning>,
    /// `None` if the snapshot cannot be read.
    content: Option<Content>,
    refunds: Vec<RefundRow>,
    returns: Vec<ReturnRow>,
    shopper: Option<Shopper>,
    may_act: bool,
    may_export: bool,
    command: String,
}

async fn find<P: Permission>(by: &By<P>, (handle, identifier): &At) -> Result<(Merchant, Stored), ConsoleError> {
    let merchant = merchant_of(by, handle).await?;
    if identifier.contains('\0') {
        return Err(ConsoleError::NotFound);
    }
    let stored = snapshots::find(by.app.store(merchant.id), merchant.id, identifier).await?.ok_or(ConsoleError::NotFound)?;
    Ok((merchant, stored))
}

pub(super) async fn show(by: By<Viewer>, Path(at): Path<At>) -> Result<Response, ConsoleError> {
    let (merchant, stored) = find(&by, &at).await?;
    page(&by, merchant, stored, None).await
}

/// Shows the shopper, too.
pub(super) async fn show_shopper(by: By<Support>, Path(at): Path<At>) -> Result<Response, ConsoleError> {
    let (merchant, stored) = find(&by, &at).await?;
    let shopper = view_shopper(&by.app, &by.actor(), merchant.id, &stored.identifier).await?;
    let shopper = shopper
        .ok_or_else(|| ConsoleError::Refused("The shopper was erased from the order. Ask the merchant for the address.".to_owned()))?;
    page(&by, merchant, stored, Some(shopper)).await
}

/// Sends everything that is stored about the order as a file for the shopper.
pub(super) async fn export(by: By<Admin>, Path(at): Path<At>) -> Result<Response, ConsoleError> {
    let (merchant, stored) = find(&by, &at).await?;
    let mut export = ShopperExport::new(&merchant.handle, by.now);
    if !export_order(&by.app, &by.actor(), merchant.id, &stored.identifier, &mut export).await? {
        return Err(ConsoleError::NotFound);
    }
    let text = serde_json::to_string_pretty(&export).unwrap_or_default();
    let name = "attachment; filename=\"shopper.json\"";
    Ok(([(header::CONTENT_TYPE, "application/json"), (header::CONTENT_DISPOSITION, name)], text).into_response())
}

async fn page<P: Permission>(by: &By<P>, merchant: Merchant, stored: Stored, shopper: Option<Shopper>) -> Result<Response, ConsoleError> {
    let order = order::show(&by.app, merchant.id, stored).await?;
    let currency = Currency(order.content.as_ref().map(|content| content.currency.clone()).unwrap_or_default());
    render(&Page {
        frame: by.frame(Section::Orders, &format!("Order {}", order.identifier)),
        here: order_at(&merchant.handle, &order.identifier),
        status: order.content.as_ref().map_or(("off", "Unreadable"), |content| shown(content.status.as_str())),
        revision: order.revision,
        received: by.time(order.received_at),
        warnings: order.warnings,
        content: order.content.map(|content| content_of(by, &merchant, &currency, content)),
        refunds: order.refunds.iter().map(|refund| refund_row(by, &merchant, &currency, refund)).collect(),
        returns: order.returns.into_iter().map(|listed| return_row(by, &merchant, listed)).collect(),
        shopper,
        may_act: by.may(Role::Support),
        may_export: by.may(Role::Admin),
        command: format!("backhaul orders show {} --merchant {}", order.identifier, merchant.handle),
        identifier: order.identifier,
        merchant,
    })
}

/// A status of an order with its class.
pub(super) fn shown(status: &str) -> (&'static str, &'static str) {
    match status {
        "Shipped" => ("ok", "Shipped"),
        "Cancelled" => ("off", "Cancelled"),
        _ => ("run", "Created"),
    }
}

fn content_of<P: Permission>(by: &By<P>, merchant: &Merchant, currency: &Currency, content: order::Content) -> Content {
    let (sums, adds_up) = (content.sums, content.sums.adds_up_to());
    let as_cents = i64::try_from(adds_up).ok().and_then(Cents::new);
    Content {
        lines: content.lines.into_iter().map(|line| line_row(line, currency)).collect(),
        sums: vec![
            ("Product", currency.tell(sums.product)),
            ("− Discount", currency.tell(sums.discount)),
            ("+ Tax", currency.tell(sums.tax)),
            ("+ Shipping", currency.tell(sums.shipping)),
            ("+ Shipping tax", currency.tell(sums.shipping_tax)),
        ],
        adds_up: as_cents.map_or_else(|| "less than nothing".to_owned(), |cents| currency.tell(cents)),
        total: currency.tell(content.total),
        is_right: adds_up == i128::from(content.total.get()),
        placed: by.time(content.placed_at),
        updated: by.time(content.updated_at),
        original: content.original.map(|original| (original.clone(), order_at(&merchant.handle, &original))),
    }
}

fn line_row(line: SoldLine, currency: &Currency) -> Line {
    Line {
        price: currency.tell(line.unit_price),
        identifier: line.identifier,
        sku: line.sku,
        title: line.title,
        ordered: line.ordered,
        shipped: line.shipped,
        cancelled: line.cancelled,
        returned: line.returned,
        refunded: line.refunded,
        tracking: line.tracking_number,
    }
}

fn refund_row<P: Permission>(by: &By<P>, merchant: &Merchant, currency: &Currency, recorded: &Recorded) -> RefundRow {
    let rma = recorded.refund.rma_identifier.clone();
    RefundRow {
        identifier: recorded.identifier.clone(),
        total: currency.tell(recorded.refund.total),
        at: by.time(recorded.refund.refunded_at),
        units: recorded.refund.lines.iter().map(|line| u64::from(line.quantity)).sum(),
        rma: rma.map(|rma| (return_at(&merchant.handle, &rma), rma)).map(|(at, rma)| (rma, at)),
    }
}

fn return_row<P: Permission>(by: &By<P>, merchant: &Merchant, listed: Listed) -> ReturnRow {
    ReturnRow {
        at: return_at(&merchant.handle, &listed.identifier),
        status: (status_class(listed.status), listed.status.as_str()),
        units: listed.units,
        started: by.time(listed.created_at),
        due: listed.refund_due_at.map(|due| (due <= by.now, by.day(due))),
        identifier: listed.identifier,
    }
}
