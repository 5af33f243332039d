//! `GET /warehouse/drop-ship`: orders that warehouses ship to shoppers, newest first. `GET /merchants/{handle}/drop-ship/{id}`: one order.

use askama::Template;
use axum::response::Response;
use domain::warehouse::drop_ship::Status;
use store::merchants::accounts::Merchant;
use store::warehouse::across::{self, ListedDropShip};
use store::warehouse::{drop_ship_orders, drop_shipments};

use super::by::{By, Viewer};
use super::error::ConsoleError;
use super::failure_choice::merchant_of;
use super::form::{Path, Query};
use super::frame::{Frame, Section};
use super::listing::{Choice, Filters, List};
use super::message_row::subject_at;
use super::page::render;
use super::return_found::drop_ship_at;
use super::stamp::Stamp;
use crate::show::warehouse::drop_ship::{content, shipment_content};

const STATES: &[Choice] = &[
    ("accepted", "Accepted", &["accepted"]),
    ("partially_shipped", "Partly shipped", &["partially_shipped"]),
    ("shipped", "Shipped", &["shipped"]),
    ("cancelled", "Cancelled", &["cancelled"]),
    ("rejected", "Rejected", &["rejected"]),
];

/// The class and the word of a status.
const fn shown(status: Status) -> (&'static str, &'static str) {
    match status {
        Status::Accepted => ("off", "Accepted"),
        Status::PartiallyShipped => ("run", "Partly shipped"),
        Status::Shipped => ("ok", "Shipped"),
        Status::Cancelled => ("off", "Cancelled"),
        Status::Rejected => ("bad", "Rejected"),
    }
}

struct Row {
    at: String,
    order: ListedDropShip,
    status: (&'static str, &'static str),
    created: Stamp,
    changed: Stamp,
}

#[derive(Template)]
#[template(path = "console/drop-ships.html")]
struct Page {
    frame: Frame,
    list: List,
    rows: Vec<Row>,
}

pub(super) async fn list(by: By<Viewer>, Query(filters): Query<Filters>) -> Result<Response, ConsoleError> {
    let (mut list, window) = List::read(&by, "/warehouse/drop-ship", STATES, filters).await?;
    let (merchant, states) = (list.merchant(), list.states());
    let found = list.find(&by, |store| across::drop_ship_orders(store, merchant, &states, &window), |order| order.id).await?;
    let row = |order: ListedDropShip| Row {
        at: drop_ship_at(&order.handle, &order.client_identifier),
        status: order.status.parse().map_or(("off", "Unknown"), shown),
        created: by.time(order.created_at),
        changed: by.time(order.updated_at),
        order,
    };
    let rows = found.into_iter().map(row).collect();
    render(&Page { frame: by.frame(Section::Warehouse, "Drop-ship orders").with(list.notice()), list, rows })
}

struct Item {
    identifier: String,
    sku: String,
    ordered: u32,
    shipped: u32,
    cancelled: u32,
    open: u32,
}

struct Sent {
    identifier: String,
    carrier: String,
    tracking_number: Option<String>,
    units: u32,
    at: Stamp,
}

#[derive(Template)]
#[template(path = "console/drop-ship.html")]
struct One {
    frame: Frame,
    merchant: Merchant,
    identifier: String,
    status: (&'static str, &'static str),
    reject_reason: Option<String>,
    created: Stamp,
    changed: Stamp,
    items: Vec<Item>,
    shipments: Vec<Sent>,
    messages_at: String,
}

pub(super) async fn show(by: By<Viewer>, Path((handle, id)): Path<(String, String)>) -> Result<Response, ConsoleError> {
    let merchant = merchant_of(&by, &handle).await?;
    if id.contains('\0') {
        return Err(ConsoleError::NotFound);
    }
    let store = by.app.store(merchant.id);
    let kept = drop_ship_orders::find(store, merchant.id, &id).await?.ok_or(ConsoleError::NotFound)?;
    let ordered = content(&kept)?;
    let items = kept.order.items.iter().zip(&ordered.order_items).map(|(item, content)| Item {
        identifier: content.client_identifier.clone(),
        sku: content.sku.clone(),
        ordered: item.ordered,
        shipped: item.shipped,
        cancelled: item.cancelled,
        open: item.open(),
    });
    let mut shipments = Vec::new();
    for shipment in drop_shipments::list(store, merchant.id, kept.id).await? {
        let reported = shipment_content(&shipment)?;
        shipments.push(Sent {
            identifier: shipment.identifier,
            carrier: reported.carrier.unwrap_or_default(),
            tracking_number: reported.tracking_number,
            units: shipment.items.iter().map(|item| item.quantity).sum(),
            at: by.time(shipment.created_at),
        });
    }
    render(&One {
        frame: by.frame(Section::Warehouse, &format!("Drop-ship order {id}")),
        status: shown(kept.order.status()),
        reject_reason: kept.reject_reason.clone(),
        created: by.time(kept.created_at),
        changed: by.time(kept.updated_at),
        items: items.collect(),
        shipments,
        messages_at: subject_at(&merchant.handle, &kept.client_identifier),
        identifier: kept.client_identifier,
        merchant,
    })
}
