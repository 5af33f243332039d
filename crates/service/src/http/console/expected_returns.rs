//! `GET /warehouse/returns`: returns of which the warehouse waits for units, newest first.

use askama::Template;
use axum::response::Response;
use store::warehouse::across::{self, ExpectedReturn};

use super::by::{By, Viewer};
use super::error::ConsoleError;
use super::form::Query;
use super::frame::{Frame, Section};
use super::listing::{Filters, List};
use super::page::render;
use super::return_found::{order_at, return_at};
use super::stamp::Stamp;

struct Row {
    at: String,
    order_at: String,
    expected: ExpectedReturn,
    state: (&'static str, &'static str),
    started: Stamp,
}

#[derive(Template)]
#[template(path = "console/expected-returns.html")]
struct Page {
    frame: Frame,
    list: List,
    rows: Vec<Row>,
}

/// The class and the words of where the goods are.
const fn state(expected: &ExpectedReturn) -> (&'static str, &'static str) {
    match (expected.closed, expected.under_way) {
        (true, _) => ("warn", "Receiving closed, units missing"),
        (false, _) if expected.waiting < expected.units => ("run", "Partly received"),
        (false, true) => ("run", "With the carrier"),
        (false, false) => ("off", "Not handed over yet"),
    }
}

pub(super) async fn list(by: By<Viewer>, Query(filters): Query<Filters>) -> Result<Response, ConsoleError> {
    let (mut list, window) = List::read(&by, "/warehouse/returns", &[], filters).await?;
    let merchant = list.merchant();
    let found = list.find(&by, |store| across::expected_returns(store, merchant, &window), |expected| expected.id).await?;
    let row = |expected: ExpectedReturn| Row {
        at: return_at(&expected.handle, &expected.identifier),
        order_at: order_at(&expected.handle, &expected.order),
        state: state(&expected),
        started: by.ago(expected.created_at),
        expected,
    };
    let rows = found.into_iter().map(row).collect();
    render(&Page { frame: by.frame(Section::Warehouse, "Expected returns").with(list.notice()), list, rows })
}
