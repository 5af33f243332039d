//! `GET /reports/intake`: the orders that merchants sent, by the day, and what became of them; `GET /reports/intake.csv`: the same for
//! spreadsheets.

use askama::Template;
use axum::response::Response;
use wire::messages::csv;

use super::by::{By, Viewer};
use super::count::grouped;
use super::error::ConsoleError;
use super::form::Query;
use super::frame::Frame;
use super::page::render;
use super::report_filters::{Filters, figures, read, read_exactly, short};
use super::report_plots::Bars;
use crate::show::messages::report::MOST_DAYS;
use crate::show::orders::order_days::{Day, OrderDays};

const CSV: &str = "/reports/intake.csv";

/// The columns of the table, in the order of [`counts`].
const HEADS: [&str; 6] = ["New orders", "Updated", "Unchanged", "Out of date", "Messages taken", "Messages refused"];
const CSV_HEADS: [&str; 7] = ["day", "created", "updated", "unchanged", "stale", "messages_taken", "messages_refused"];

const fn counts(day: &Day) -> [i64; 6] {
    [day.created, day.updated, day.unchanged, day.stale, day.taken, day.refused]
}

/// Bars above and below a line.
struct Plot {
    id: &'static str,
    title: &'static str,
    counted: &'static str,
    above: &'static str,
    below: &'static str,
    bars: Bars,
    sentence: String,
}

/// A day of the table.
struct DayRow {
    day: String,
    counts: [String; 6],
}

#[derive(Template)]
#[template(path = "console/intake_report.html")]
struct Page {
    frame: Frame,
    filters: Filters,
    since: String,
    until: String,
    of_one: bool,
    is_set: bool,
    plots: [Plot; 2],
    heads: [&'static str; 6],
    days: Vec<DayRow>,
    csv: String,
    most_days: i64,
}

pub(super) async fn show(by: By<Viewer>, Query(filters): Query<Filters>) -> Result<Response, ConsoleError> {
    let asked = read(&by, &filters).await?;
    let report = OrderDays::new(asked.range, &figures(&by, &asked).await?);
    render(&Page {
        frame: asked.frame(&by),
        since: asked.range.from().to_string(),
        until: asked.range.to().to_string(),
        of_one: asked.merchant.is_some(),
        is_set: !filters.fields().is_empty(),
        plots: [orders(&report), messages(&report)],
        heads: HEADS,
        days: report.days.iter().map(|day| DayRow { day: short(day.day), counts: counts(day).map(grouped) }).collect(),
        csv: filters.csv_at(CSV, ""),
        most_days: MOST_DAYS,
        filters,
    })
}

fn orders(report: &OrderDays) -> Plot {
    let all = report.total();
    Plot {
        id: "orders",
        title: "Orders",
        counted: "orders",
        above: "new and updated",
        below: "out of date when they came",
        bars: bars(report, |day| (day.created + day.updated, day.stale)),
        sentence: format!(
            "New orders: {}. Updated: {}. Unchanged: {}. Out of date, and so left as they were: {}",
            grouped(all.created),
            grouped(all.updated),
            grouped(all.unchanged),
            grouped(all.stale)
        ),
    }
}

fn messages(report: &OrderDays) -> Plot {
    let all = report.total();
    Plot {
        id: "messages",
        title: "Order messages",
        counted: "messages, imports aside",
        above: "taken",
        below: "refused",
        bars: bars(report, |day| (day.taken, day.refused)),
        sentence: format!("Messages taken: {}. Refused for a fault in them: {}", grouped(all.taken), grouped(all.refused)),
    }
}

fn bars(report: &OrderDays, of: fn(&Day) -> (i64, i64)) -> Bars {
    Bars::new(&report.days.iter().map(of).collect::<Vec<_>>())
}

pub(super) async fn export(by: By<Viewer>, Query(filters): Query<Filters>) -> Result<Response, ConsoleError> {
    let asked = read_exactly(&by, &filters).await?;
    let report = OrderDays::new(asked.range, &figures(&by, &asked).await?);
    let line = |day: &Day| {
        let fields = std::iter::once(day.day.to_string()).chain(counts(day).map(|count| count.to_string()));
        csv::line(fields.collect::<Vec<_>>().iter().map(String::as_str))
    };
    Ok(asked.csv("intake", csv::line(CSV_HEADS) + &report.days.iter().map(line).collect::<String>()))
}
