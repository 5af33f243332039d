//! `GET /refunds`: returns whose goods came back longer ago than their merchant promises to refund them.

use askama::Template;
use axum::response::Response;
use chrono::DateTime;
use serde::Deserialize;
use store::returns::overdue_refunds::{self, OverdueRefund};
use uuid::Uuid;

use super::by::{By, Viewer};
use super::count::{Count, MOST_COUNTED};
use super::error::ConsoleError;
use super::form::Query;
use super::frame::{Frame, Section};
use super::page::render;
use super::stamp::Stamp;
use crate::node::each_cell;

/// The rows of a page.
const PAGE: usize = 50;

#[derive(Deserialize)]
pub(super) struct Filter {
    /// The due time and the id of the last return of the page before, in microseconds.
    due: Option<i64>,
    rma: Option<Uuid>,
}

struct Row {
    refund: OverdueRefund,
    due: Stamp,
}

#[derive(Template)]
#[template(path = "console/refunds.html")]
struct Page {
    frame: Frame,
    rows: Vec<Row>,
    more: Option<(i64, Uuid)>,
}

pub(super) async fn list(by: By<Viewer>, Query(filter): Query<Filter>) -> Result<Response, ConsoleError> {
    let wanted = i64::try_from(PAGE).unwrap_or(i64::MAX);
    let due = filter.due.and_then(DateTime::from_timestamp_micros).unwrap_or(DateTime::UNIX_EPOCH);
    let after = (due, filter.rma.unwrap_or_default());
    let of_cell = |store| overdue_refunds::list(store, by.now, after, wanted + 1);
    let mut overdue = each_cell::list(&by.app, of_cell, |refund| (refund.due_at, refund.rma)).await?;
    let last = |refund: &OverdueRefund| (refund.due_at.timestamp_micros(), refund.rma);
    let more = (overdue.len() > PAGE).then(|| overdue.get(PAGE - 1).map(last)).flatten();
    overdue.truncate(PAGE);
    let rows: Vec<Row> = overdue.into_iter().map(|refund| Row { due: by.ago(refund.due_at), refund }).collect();
    let count = Count::sum(each_cell::each(&by.app, |store| overdue_refunds::count(store, by.now, MOST_COUNTED)).await?);
    let heading = format!("Refunds overdue: {count}");
    render(&Page { frame: by.frame(Section::Today, &heading), rows, more })
}
