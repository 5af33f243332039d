//! `GET /warehouse`: the inbound ASNs of one merchant or of all, newest first.

use askama::Template;
use axum::response::Response;
use store::warehouse::across::{self, ListedAsn};

use super::by::{By, Viewer};
use super::count::grouped;
use super::error::ConsoleError;
use super::form::Query;
use super::frame::{Frame, Section};
use super::listing::{Choice, Filters, List, asn_state};
use super::page::render;
use super::return_found::asn_at;
use super::stamp::Stamp;

/// An ASN is receiving once something of it has arrived; it is stored as open until it is closed.
const STATES: &[Choice] =
    &[("open", "Open or receiving", &["open"]), ("closed", "Closed", &["closed"]), ("canceled", "Cancelled", &["canceled"])];

struct Row {
    at: String,
    asn: ListedAsn,
    state: (&'static str, &'static str),
    announced: String,
    created: Stamp,
    changed: Stamp,
}

#[derive(Template)]
#[template(path = "console/inbound.html")]
struct Page {
    frame: Frame,
    list: List,
    rows: Vec<Row>,
}

pub(super) async fn list(by: By<Viewer>, Query(filters): Query<Filters>) -> Result<Response, ConsoleError> {
    let (mut list, window) = List::read(&by, "/warehouse", STATES, filters).await?;
    let (merchant, states) = (list.merchant(), list.states());
    let found = list.find(&by, |store| across::asns(store, merchant, &states, &window), |asn| asn.id).await?;
    let row = |asn: ListedAsn| Row {
        at: asn_at(&asn.handle, &asn.number),
        state: asn_state(asn.state),
        announced: grouped(asn.announced),
        created: by.time(asn.created_at),
        changed: by.time(asn.updated_at),
        asn,
    };
    let rows = found.into_iter().map(row).collect();
    render(&Page { frame: by.frame(Section::Warehouse, "Inbound ASNs").with(list.notice()), list, rows })
}
