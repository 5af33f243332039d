//! `GET /warehouse/shipments`: what leaves warehouses, newest first. `GET /merchants/{handle}/shipments/{number}`: one shipment.

use askama::Template;
use axum::response::Response;
use domain::warehouse::shipment::State;
use serde::Deserialize;
use store::merchants::accounts::Merchant;
use store::warehouse::across::{self, ListedShipment};
use store::warehouse::shipment_unit_pages::{self, PackedUnit};
use store::warehouse::shipments::{self, Shipment};

use super::by::{By, Viewer};
use super::count::grouped;
use super::error::ConsoleError;
use super::failure_choice::merchant_of;
use super::form::{Path, Query};
use super::frame::{Frame, Section};
use super::listing::{Choice, Filters, List};
use super::message_row::subject_at;
use super::page::render;
use super::return_found::{asn_at, shipment_at};
use super::stamp::Stamp;

const STATES: &[Choice] = &[
    ("open", "Open", &["open"]),
    ("announced", "Announced", &["announced"]),
    ("shipped", "Shipped", &["shipped"]),
    ("delivered", "Delivered", &["delivered"]),
    ("canceled", "Cancelled", &["canceled"]),
];

/// The units of a page.
const UNITS: usize = 100;

/// The class and the word of a state.
const fn shown(state: State) -> (&'static str, &'static str) {
    match state {
        State::Open => ("off", "Open"),
        State::Announced => ("run", "Announced"),
        State::Shipped => ("run", "Shipped"),
        State::Delivered => ("ok", "Delivered"),
        State::Cancelled => ("off", "Cancelled"),
    }
}

struct Row {
    at: String,
    shipment: ListedShipment,
    state: (&'static str, &'static str),
    units: String,
    ships: Stamp,
    created: Stamp,
}

#[derive(Template)]
#[template(path = "console/shipments.html")]
struct Page {
    frame: Frame,
    list: List,
    rows: Vec<Row>,
}

pub(super) async fn list(by: By<Viewer>, Query(filters): Query<Filters>) -> Result<Response, ConsoleError> {
    let (mut list, window) = List::read(&by, "/warehouse/shipments", STATES, filters).await?;
    let (merchant, states) = (list.merchant(), list.states());
    let found = list.find(&by, |store| across::shipments(store, merchant, &states, &window), |shipment| shipment.id).await?;
    let row = |shipment: ListedShipment| Row {
        at: shipment_at(&shipment.handle, &shipment.number),
        state: shipment.state.parse().map_or(("off", "Unknown"), shown),
        units: grouped(shipment.units.into()),
        ships: by.time(shipment.ship_date),
        created: by.time(shipment.created_at),
        shipment,
    };
    let rows = found.into_iter().map(row).collect();
    render(&Page { frame: by.frame(Section::Warehouse, "Outbound shipments").with(list.notice()), list, rows })
}

/// The place in the list of units: after this carton and position.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct From {
    carton: i32,
    position: i32,
}

struct UnitRow {
    asn_at: Option<String>,
    unit: PackedUnit,
}

#[derive(Template)]
#[template(path = "console/shipment.html")]
struct One {
    frame: Frame,
    merchant: Merchant,
    shipment: Shipment,
    state: (&'static str, &'static str),
    ships: Stamp,
    created: Stamp,
    changed: Stamp,
    units: Vec<UnitRow>,
    more: Option<String>,
    messages_at: String,
}

pub(super) async fn show(
    by: By<Viewer>,
    Path((handle, number)): Path<(String, String)>,
    Query(after): Query<From>,
) -> Result<Response, ConsoleError> {
    let merchant = merchant_of(&by, &handle).await?;
    if number.contains('\0') {
        return Err(ConsoleError::NotFound);
    }
    let store = by.app.store(merchant.id);
    let shipment = shipments::find(store, merchant.id, &number).await?.ok_or(ConsoleError::NotFound)?;
    let most = i64::try_from(UNITS).unwrap_or(i64::MAX);
    let mut units = shipment_unit_pages::list(store, merchant.id, shipment.id, (after.carton, after.position), most + 1).await?;
    let more = units.len() > UNITS;
    units.truncate(UNITS);
    let at = shipment_at(&merchant.handle, &number);
    let next = units.last().filter(|_| more).map(|last| format!("{at}?carton={}&position={}", last.carton, last.position));
    let row = |unit: PackedUnit| UnitRow { asn_at: unit.inbound_asn.as_deref().map(|asn| asn_at(&merchant.handle, asn)), unit };
    render(&One {
        frame: by.frame(Section::Warehouse, &format!("Shipment {number}")),
        state: shown(shipment.state),
        ships: by.time(shipment.ship_date),
        created: by.time(shipment.created_at),
        changed: by.time(shipment.updated_at),
        units: units.into_iter().map(row).collect(),
        more: next,
        messages_at: subject_at(&merchant.handle, &number),
        merchant,
        shipment,
    })
}
