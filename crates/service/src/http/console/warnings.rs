//! `GET /intake/warnings`: what does not add up in orders, by field and day, of one merchant, or of all on one day. Read from counts.

use std::collections::BTreeMap;

use askama::Template;
use axum::response::Response;
use chrono::{NaiveDate, TimeDelta};
use serde::Deserialize;
use store::merchants::accounts::Merchant;
use store::orders::warning_days::{self, KindOfMerchant};
use uuid::Uuid;

use super::by::{By, Viewer};
use super::count::grouped;
use super::error::ConsoleError;
use super::form::Query;
use super::frame::{Frame, Notice, Section};
use super::listing::{Tabs, named_merchant, tabs};
use super::page::render;
use crate::node::each_cell;

/// The days of a trend, and the most rows that are read for it: at most thirty fields a day.
const DAYS: i64 = 28;
const MOST: i64 = DAYS * 30;

/// The rows of a page of all merchants.
const PAGE: usize = 50;

/// The room of a plot, for each day and in height.
const STEP: i64 = 40;
const HEIGHT: i64 = 80;

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Filters {
    merchant: String,
    /// The day of all merchants' counts, or the last day of a merchant's trend.
    day: String,
    /// The merchant and the field that the page before ended with.
    after: Option<Uuid>,
    kind: String,
}

struct Bar {
    x: i64,
    y: i64,
    height: i64,
}

/// The warnings of a merchant.
struct Trend {
    days: Vec<(String, String)>,
    bars: Vec<Bar>,
    width: i64,
    most: String,
    /// Fields, most frequent first, with their numbers.
    kinds: Vec<(String, String)>,
    total: String,
}

struct Row {
    counted: KindOfMerchant,
    count: String,
}

#[derive(Template)]
#[template(path = "console/warnings.html")]
struct Page {
    frame: Frame,
    tabs: Tabs,
    filters: Filters,
    day: NaiveDate,
    day_before: NaiveDate,
    merchant: Option<Merchant>,
    trend: Option<Trend>,
    rows: Vec<Row>,
    more: Option<String>,
    height: i64,
    command: String,
}

pub(super) async fn show(by: By<Viewer>, Query(filters): Query<Filters>) -> Result<Response, ConsoleError> {
    let mut faults = Vec::new();
    let merchant = named_merchant(&by, &filters.merchant, &mut faults).await?;
    let is_nobodys = merchant.is_none() && !filters.merchant.trim().is_empty();
    let day = match filters.day.as_str() {
        "" => by.now.date_naive(),
        text => text.parse().unwrap_or_else(|_| {
            faults.push("The day cannot be read.");
            by.now.date_naive()
        }),
    };
    let mut page = Page {
        tabs: tabs("/intake/warnings"),
        day,
        day_before: day - TimeDelta::days(1),
        trend: None,
        rows: Vec::new(),
        more: None,
        height: HEIGHT,
        command: format!("backhaul orders warned --merchant {}", merchant.as_ref().map_or("HANDLE", |merchant| &merchant.handle)),
        frame: by.frame(Section::Intake, "Warnings"),
        merchant,
        filters,
    };
    if let Some(merchant) = &page.merchant {
        let counts = warning_days::list(by.app.store(merchant.id), merchant.id, day - TimeDelta::days(DAYS - 1), day, MOST).await?;
        page.trend = Some(trend(day, &counts));
    } else if !is_nobodys {
        let after = (page.filters.after.unwrap_or_default(), page.filters.kind.replace('\0', ""));
        let most = i64::try_from(PAGE).unwrap_or(i64::MAX);
        let of_cell = |store| warning_days::list_across(store, day, (after.0, &after.1), most + 1);
        let mut found = each_cell::list(&by.app, of_cell, |counted| (counted.merchant, counted.kind.clone())).await?;
        let more = found.len() > PAGE;
        found.truncate(PAGE);
        page.more = found.last().filter(|_| more).map(|last| next(day, last));
        page.rows = found.into_iter().map(|counted| Row { count: grouped(counted.count), counted }).collect();
    }
    page.frame = page.frame.with((!faults.is_empty()).then(|| Notice::warn("A filter was left out.", &faults.join(" "))));
    render(&page)
}

fn next(day: NaiveDate, last: &KindOfMerchant) -> String {
    let fields = [("day", day.to_string()), ("after", last.merchant.to_string()), ("kind", last.kind.clone())];
    format!("/intake/warnings?{}", serde_urlencoded::to_string(fields).unwrap_or_default())
}

fn trend(last: NaiveDate, counts: &[warning_days::DayOfKind]) -> Trend {
    let (mut by_day, mut by_kind) = (BTreeMap::<NaiveDate, i64>::new(), BTreeMap::<&str, i64>::new());
    for counted in counts {
        *by_day.entry(counted.day).or_default() += counted.count;
        *by_kind.entry(&counted.kind).or_default() += counted.count;
    }
    let most = by_day.values().copied().max().unwrap_or(0).max(1);
    let days: Vec<(NaiveDate, i64)> =
        (0..DAYS).rev().map(|ago| last - TimeDelta::days(ago)).map(|day| (day, by_day.get(&day).copied().unwrap_or(0))).collect();
    let bar = |(x, (_, count)): (i64, &(NaiveDate, i64))| {
        let height = if *count == 0 { 0 } else { (count * HEIGHT / most).max(2) };
        Bar { x, y: HEIGHT - height, height }
    };
    let mut kinds: Vec<(&str, i64)> = by_kind.into_iter().collect();
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    Trend {
        bars: (0..).step_by(40).zip(&days).map(bar).collect(),
        width: DAYS * STEP,
        most: grouped(most),
        total: grouped(kinds.iter().map(|(_, count)| count).sum()),
        kinds: kinds.into_iter().map(|(kind, count)| (kind.to_owned(), grouped(count))).collect(),
        days: days.into_iter().rev().map(|(day, count)| (day.format("%-d %b").to_string(), grouped(count))).collect(),
    }
}
