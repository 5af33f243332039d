//! `GET /reports/returns`: what became of the returns that were started on some days, of one merchant or of all, as plots with their
//! tables; `GET /reports/returns.csv`: the same for spreadsheets.

use askama::Template;
use axum::response::Response;
use domain::money::Cents;
use domain::returns::rma::RefundType;
use store::messages::report_days::Figure;
use store::orders::order_days::is_of_intake;
use store::returns::return_days::{CANCELED, EXCHANGED, HANDED_OVER, RECEIVED, REFUNDED};
use wire::messages::csv;

use super::amount::Currency;
use super::by::{By, Viewer};
use super::count::grouped;
use super::error::ConsoleError;
use super::form::Query;
use super::frame::Frame;
use super::page::render;
use super::report_filters::{Asked, Filters, figures, read, read_exactly, short};
use super::report_plots::{Bars, share};
use crate::show::messages::report::MOST_DAYS;
use crate::show::returns::return_days::{Day, ReturnDays, Stage};

const CSV: &str = "/reports/returns.csv";
/// The most rows of a table; the file has all.
const MOST_ROWS: usize = 15;

/// A row with a bar.
struct Row {
    name: String,
    width: String,
    count: String,
    share: String,
}

/// A stage that returns get to.
struct StageRow {
    row: Row,
    /// The days within which half and nine of ten got there.
    within: Option<(i64, i64)>,
}

/// A day of the table.
struct DayRow {
    day: String,
    started: String,
    refunded: String,
    canceled: String,
}

/// A table of units or labels, with bars.
struct Table {
    id: &'static str,
    title: &'static str,
    /// What is counted, and of how many.
    of: String,
    column: &'static str,
    counted: &'static str,
    rows: Vec<Row>,
    /// Rows that are only in the file.
    more: usize,
    empty: &'static str,
    csv: String,
}

#[derive(Template)]
#[template(path = "console/return_report.html")]
struct Page {
    frame: Frame,
    filters: Filters,
    since: String,
    until: String,
    is_set: bool,
    heads: Vec<String>,
    started: String,
    stages: Vec<StageRow>,
    stages_csv: String,
    bars: Bars,
    bars_sentence: String,
    days: Vec<DayRow>,
    days_csv: String,
    tables: Vec<Table>,
    spent: String,
    csv: String,
    number_of_days: usize,
    most_days: i64,
}

pub(super) async fn show(by: By<Viewer>, Query(filters): Query<Filters>) -> Result<Response, ConsoleError> {
    let asked = read(&by, &filters).await?;
    let report = ReturnDays::new(asked.range, &figures(&by, &asked).await?);
    render(&Page {
        frame: asked.frame(&by),
        since: asked.range.from().to_string(),
        until: asked.range.to().to_string(),
        is_set: !filters.fields().is_empty(),
        heads: report.days.iter().map(|day| short(day.day)).collect(),
        started: grouped(report.started()),
        stages: report.stages.iter().map(|stage| stage_row(stage, report.started())).collect(),
        stages_csv: filters.csv_at(CSV, "stages"),
        bars: Bars::new(&report.days.iter().map(|day| (day.started, day.canceled)).collect::<Vec<_>>()),
        bars_sentence: bars_sentence(&report),
        days: report.days.iter().map(day_row).collect(),
        days_csv: filters.csv_at(CSV, "days"),
        tables: tables(&filters, &asked, &report),
        spent: spent(&report),
        csv: filters.csv_at(CSV, ""),
        number_of_days: report.days.len(),
        most_days: MOST_DAYS,
        filters,
    })
}

fn stage_row(stage: &Stage, started: i64) -> StageRow {
    StageRow { row: row(words(stage.stage).to_owned(), stage.returns, started, started), within: stage.within }
}

/// A stage in words.
fn words(stage: &str) -> &'static str {
    match stage {
        HANDED_OVER => "Handed over to a carrier",
        RECEIVED => "Received by a warehouse",
        EXCHANGED => "Exchange placed",
        REFUNDED => "Refunded",
        CANCELED => "Cancelled or expired",
        _ => "Started",
    }
}

fn row(name: String, count: i64, most: i64, all: i64) -> Row {
    Row { name, width: share(count, most), count: grouped(count), share: format!("{} %", share(count, all)) }
}

fn day_row(day: &Day) -> DayRow {
    DayRow { day: short(day.day), started: grouped(day.started), refunded: grouped(day.refunded), canceled: grouped(day.canceled) }
}

fn bars_sentence(report: &ReturnDays) -> String {
    let of = |stage: &str| report.stages.iter().find(|reached| reached.stage == stage).map_or(0, |reached| reached.returns);
    format!(
        "Started on these days: {}. Refunded since: {}. Cancelled or expired since: {}",
        grouped(report.started()),
        grouped(of(REFUNDED)),
        grouped(of(CANCELED))
    )
}

fn tables(filters: &Filters, asked: &Asked, report: &ReturnDays) -> Vec<Table> {
    let table = |id: &'static str, title, column, counted, entries: &[(String, i64)], empty| {
        let (most, all) = (entries.iter().map(|(_, count)| *count).max().unwrap_or(0), entries.iter().map(|(_, count)| count).sum());
        let rows = entries.iter().take(MOST_ROWS).map(|(name, count)| row(named(id, name), *count, most, all)).collect();
        let of = format!("of {} {}", grouped(all), if id == "labels" { "labels" } else { "units" });
        Table { id, title, of, column, counted, rows, more: entries.len().saturating_sub(MOST_ROWS), empty, csv: filters.csv_at(CSV, id) }
    };
    let nothing = "No returns were started on these days.";
    let products = if asked.merchant.is_some() { nothing } else { "Products are those of a merchant: choose one above." };
    vec![
        table("reasons", "Why goods came back", "Reason", "Units", &report.reasons, nothing),
        table("asked_for", "What shoppers asked for", "Asked for", "Units", &report.asked_for, nothing),
        table("products", "Products that came back", "SKU", "Units", &report.products, products),
        table("labels", "Labels bought", "Carrier", "Labels", &report.labels, "No labels were bought for these returns."),
    ]
}

/// The name of an entry as people say it.
fn named(table: &str, name: &str) -> String {
    match (table, name.parse()) {
        ("asked_for", Ok(RefundType::Refund)) => "Refund".to_owned(),
        ("asked_for", Ok(RefundType::EvenExchange)) => "Exchange at the same price".to_owned(),
        ("asked_for", Ok(RefundType::UnevenExchange)) => "Gift card, or exchange at another price".to_owned(),
        ("products", _) if name.is_empty() => "Other products".to_owned(),
        ("labels", _) if name.is_empty() => "Not told".to_owned(),
        _ => name.to_owned(),
    }
}

/// What the labels cost.
fn spent(report: &ReturnDays) -> String {
    let amount = |(currency, cents): &(String, i64)| Currency(currency.clone()).tell(Cents::new(*cents).unwrap_or_default());
    match report.label_cents.as_slice() {
        [] => String::new(),
        amounts => format!(
            "They cost {}, before what carriers give back for those that were voided.",
            amounts.iter().map(amount).collect::<Vec<_>>().join(" and ")
        ),
    }
}

pub(super) async fn export(by: By<Viewer>, Query(filters): Query<Filters>) -> Result<Response, ConsoleError> {
    let asked = read_exactly(&by, &filters).await?;
    let figures = figures(&by, &asked).await?;
    let report = ReturnDays::new(asked.range, &figures);
    let (plot, text) = match filters.plot.as_str() {
        "" => ("returns", all_csv(&figures)),
        "stages" => ("stages", stages_csv(&report)),
        "days" => ("return-days", days_csv(&report)),
        "reasons" => ("reasons", entries_csv(["reason", "units"], &report.reasons)),
        "asked_for" => ("asked-for", entries_csv(["asked_for", "units"], &report.asked_for)),
        "products" => ("products", entries_csv(["sku", "units"], &report.products)),
        "labels" => ("labels", labels_csv(&report)),
        _ => return Err(ConsoleError::NotFound),
    };
    Ok(asked.csv(plot, text))
}

/// Every figure of returns.
fn all_csv(figures: &[Figure]) -> String {
    let lines = figures.iter().filter(|figure| figure.interface.is_empty() && !is_of_intake(figure));
    let line = |figure: &Figure| csv::line([&*figure.day.to_string(), &figure.figure, &figure.value, &figure.count.to_string()]);
    csv::line(["started_on", "figure", "value", "count"]) + &lines.map(line).collect::<String>()
}

fn stages_csv(report: &ReturnDays) -> String {
    let days = |days: Option<i64>| days.map(|days| days.to_string()).unwrap_or_default();
    let line = |stage: &Stage| {
        let (half, most) = (stage.within.map(|within| within.0), stage.within.map(|within| within.1));
        csv::line([stage.stage.trim_start_matches("return_"), &stage.returns.to_string(), &days(half), &days(most)])
    };
    csv::line(["stage", "returns", "half_within_days", "nine_of_ten_within_days"])
        + &csv::line(["started", &report.started().to_string(), "", ""])
        + &report.stages.iter().map(line).collect::<String>()
}

fn days_csv(report: &ReturnDays) -> String {
    let counts = |day: &Day| [day.started, day.refunded, day.canceled].map(|count| count.to_string());
    let lines = report.days.iter().map(|day| {
        let [started, refunded, canceled] = counts(day);
        csv::line([&*day.day.to_string(), &started, &refunded, &canceled])
    });
    csv::line(["started_on", "started", "refunded", "canceled"]) + &lines.collect::<String>()
}

fn entries_csv(heads: [&str; 2], entries: &[(String, i64)]) -> String {
    csv::line(heads) + &entries.iter().map(|(name, count)| csv::line([name.as_str(), &count.to_string()])).collect::<String>()
}

fn labels_csv(report: &ReturnDays) -> String {
    let labels = report.labels.iter().map(|(carrier, count)| csv::line(["labels", carrier, &count.to_string()]));
    let costs = report.label_cents.iter().map(|(currency, cents)| csv::line(["cost_cents", currency, &cents.to_string()]));
    csv::line(["figure", "carrier_or_currency", "count"]) + &labels.chain(costs).collect::<String>()
}
