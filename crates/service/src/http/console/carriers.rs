//! `GET /system/carriers`: the carrier accounts of all merchants, and whether buying labels fails.

use askama::Template;
use axum::response::Response;
use serde::Deserialize;
use store::returns::carrier_accounts::{self, Listed};
use uuid::Uuid;

use super::by::{By, Viewer};
use super::count::{Count, MOST_COUNTED};
use super::error::ConsoleError;
use super::form::Query;
use super::frame::{Frame, Section};
use super::page::render;
use super::stamp::Stamp;
use crate::node::each_cell;

/// The accounts on a page.
const PAGE: usize = 50;

struct Row {
    account: Listed,
    given_up: Count,
    failing: Option<Stamp>,
    changed: Stamp,
}

#[derive(Template)]
#[template(path = "console/carriers.html")]
struct Page {
    frame: Frame,
    rows: Vec<Row>,
    /// The merchant after whom the next page goes on.
    more: Option<Uuid>,
}

/// Where the page goes on.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct After {
    after: Option<Uuid>,
}

pub(super) async fn list(by: By<Viewer>, Query(After { after }): Query<After>) -> Result<Response, ConsoleError> {
    let most = i64::try_from(PAGE).unwrap_or(i64::MAX);
    let of_cell = |store| carrier_accounts::list_across(store, after.unwrap_or_default(), most + 1, MOST_COUNTED);
    let mut found = each_cell::list(&by.app, of_cell, |account| account.merchant).await?;
    let more = found.len() > PAGE;
    found.truncate(PAGE);
    let row = |account: Listed| Row {
        given_up: Count::of(account.given_up),
        failing: account.failing_since.map(|since| by.ago(since)),
        changed: by.ago(account.changed_at),
        account,
    };
    render(&Page {
        frame: by.frame(Section::System, "Carrier accounts"),
        more: found.last().map(|last| last.merchant).filter(|_| more),
        rows: found.into_iter().map(row).collect(),
    })
}
