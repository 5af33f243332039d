//! `GET /reports`: deliveries by the day, of one merchant or of all, as plots with their tables; `GET /reports.csv`: the same for
//! spreadsheets.

use askama::Template;
use axum::response::Response;
use chrono::{Days, NaiveDate, NaiveTime};
use domain::messages::message::Interface;
use store::messages::report_days::Figure;
use wire::messages::csv;

use super::by::{By, Viewer};
use super::count::grouped;
use super::error::ConsoleError;
use super::figures::tint;
use super::form::Query;
use super::frame::Frame;
use super::page::render;
use super::report_filters::{Asked, Filters, figures, read, read_exactly, short};
use super::report_plots::{Bars, TIMES, line, share, time};
use crate::show::messages::delivery_days::{Answer, Day, DeliveryDays, Times};
use crate::show::messages::report::MOST_DAYS;

/// The days for which messages are kept at least, so that a figure can lead to them.
const MESSAGES_KEPT: Days = Days::new(30);

/// A cell of the heat map.
struct Cell {
    class: &'static str,
    count: String,
    /// The messages of the day, while they are kept.
    at: Option<String>,
}

/// A row of the heat map.
struct Row {
    tint: &'static str,
    outcome: String,
    total: String,
    cells: Vec<Cell>,
}

/// The rows of an interface.
struct Group {
    interface: String,
    rows: Vec<Row>,
}

/// A day of the tables.
struct DayRow {
    day: String,
    delivered: String,
    failed: String,
    times: Option<[String; 3]>,
}

/// Messages that were delivered at the same attempt.
struct AttemptRow {
    attempt: i64,
    width: String,
    messages: String,
    share: String,
}

#[derive(Template)]
#[template(path = "console/reports.html")]
struct Page {
    frame: Frame,
    filters: Filters,
    interfaces: Vec<&'static str>,
    since: String,
    until: String,
    of_one: bool,
    is_set: bool,
    heads: Vec<String>,
    groups: Vec<Group>,
    bars: Bars,
    bars_sentence: String,
    days: Vec<DayRow>,
    scale: [&'static str; 5],
    lines: [String; 3],
    lines_sentence: String,
    attempts: Vec<AttemptRow>,
    delivered: String,
    /// The addresses of the figures of everything, and of each plot.
    csv: [String; 5],
    number_of_days: usize,
    most_days: i64,
    command: String,
}

pub(super) async fn show(by: By<Viewer>, Query(filters): Query<Filters>) -> Result<Response, ConsoleError> {
    let asked = read(&by, &filters).await?;
    let report = DeliveryDays::new(asked.range, asked.interface, &figures(&by, &asked).await?);
    let handle = asked.merchant.as_ref().map_or("HANDLE", |merchant| &merchant.handle);
    let (since, until) = (asked.range.from().to_string(), asked.range.to().to_string());
    render(&Page {
        frame: asked.frame(&by),
        interfaces: Interface::ALL.into_iter().map(Interface::as_str).collect(),
        of_one: asked.merchant.is_some(),
        is_set: !filters.fields().is_empty(),
        heads: report.days.iter().map(|day| short(day.day)).collect(),
        groups: groups(&by, &asked, &report),
        bars: Bars::new(&report.days.iter().map(|day| (day.delivered, day.failed)).collect::<Vec<_>>()),
        bars_sentence: bars_sentence(&report),
        days: report.days.iter().map(day_row).collect(),
        scale: TIMES,
        lines: [|times: Times| times.p50, |times: Times| times.p95, |times: Times| times.p99]
            .map(|part| line(&report.days.iter().map(|day| day.times.map(part)).collect::<Vec<_>>())),
        lines_sentence: lines_sentence(&report),
        attempts: attempts(&report),
        delivered: grouped(report.delivered()),
        csv: ["", "answers", "days", "times", "attempts"].map(|plot| filters.csv_at("/reports.csv", plot)),
        number_of_days: report.days.len(),
        most_days: MOST_DAYS,
        command: format!("backhaul report deliveries --merchant {handle} --from {since} --to {until} --csv"),
        since,
        until,
        filters,
    })
}

fn groups(by: &By<Viewer>, asked: &Asked, report: &DeliveryDays) -> Vec<Group> {
    let of_interface = report.answers.chunk_by(|one, next| one.interface == next.interface);
    let group = |answers: &[Answer]| {
        let most =
            |good: bool| answers.iter().filter(|row| row.is_success() == good).flat_map(|row| &row.by_day).copied().max().unwrap_or(0);
        let (most_good, most_bad) = (most(true), most(false));
        let row = |answer: &Answer| {
            let days = report.days.iter().zip(&answer.by_day);
            let cell = |(day, count): (&Day, &i64)| Cell {
                class: if answer.is_success() { strength(*count, most_good, GOOD) } else { strength(*count, most_bad, BAD) },
                count: grouped(*count),
                at: messages_at(by, asked, &answer.interface, day.day),
            };
            Row {
                tint: tint(&answer.outcome),
                outcome: answer.outcome.clone(),
                total: grouped(answer.by_day.iter().sum()),
                cells: days.map(cell).collect(),
            }
        };
        Group {
            interface: answers.first().map(|answer| answer.interface.clone()).unwrap_or_default(),
            rows: answers.iter().map(row).collect(),
        }
    };
    of_interface.map(group).collect()
}

/// The classes of cells, from the weakest colour to the strongest.
const GOOD: [&str; 3] = ["o1", "o2", "o3"];
const BAD: [&str; 3] = ["e1", "e2", "e3"];

/// The class of a count: none has no colour, and the most has the strongest.
fn strength(count: i64, most: i64, classes: [&'static str; 3]) -> &'static str {
    let [weak, middle, strong] = classes;
    match count {
        0 => "h0",
        count if count * 3 <= most => weak,
        count if count * 3 <= most * 2 => middle,
        _ => strong,
    }
}

/// The list of an interface's messages of a day, if these are kept.
fn messages_at(by: &By<Viewer>, asked: &Asked, interface: &str, day: NaiveDate) -> Option<String> {
    let kept_from = by.now.date_naive().checked_sub_days(MESSAGES_KEPT)?;
    let begins = day.and_time(NaiveTime::MIN).and_utc();
    let (since, until) = (by.field(begins), by.field(begins.checked_add_days(Days::new(1))?));
    let merchant = asked.merchant.as_ref().map_or("", |merchant| &merchant.handle);
    let fields = [("merchant", merchant), ("interface", interface), ("since", &since), ("until", &until)];
    let set: Vec<_> = fields.into_iter().filter(|(_, value)| !value.is_empty()).collect();
    (day >= kept_from).then(|| format!("/messages?{}", serde_urlencoded::to_string(set).unwrap_or_default()))
}

fn day_row(day: &Day) -> DayRow {
    DayRow {
        day: short(day.day),
        delivered: grouped(day.delivered),
        failed: grouped(day.failed),
        times: day.times.map(|times| [times.p50, times.p95, times.p99].map(time)),
    }
}

fn bars_sentence(report: &DeliveryDays) -> String {
    let best = report.days.iter().max_by_key(|day| day.delivered).filter(|day| day.delivered > 0);
    let worst = report.days.iter().max_by_key(|day| day.failed).filter(|day| day.failed > 0);
    let most = |word: &str, day: Option<&Day>, count: fn(&Day) -> i64| {
        day.map(|day| format!("; most {word} on {}: {}", short(day.day), grouped(count(day)))).unwrap_or_default()
    };
    format!(
        "{} messages were delivered and {} calls failed{}{}",
        grouped(report.delivered()),
        grouped(report.failed()),
        most("delivered", best, |day| day.delivered),
        most("failed", worst, |day| day.failed)
    )
}

fn lines_sentence(report: &DeliveryDays) -> String {
    match report.times {
        None => "Nothing was delivered on these days".to_owned(),
        Some(Times { p50, p95, p99 }) => format!(
            "Over all days, half of the messages arrived within {}, 95 of 100 within {}, and 99 of 100 within {}",
            time(p50),
            time(p95),
            time(p99)
        ),
    }
}

fn attempts(report: &DeliveryDays) -> Vec<AttemptRow> {
    let most = report.at_attempt.iter().map(|(_, messages)| *messages).max().unwrap_or(0);
    let all = report.delivered();
    let row = |(attempt, messages): &(i64, i64)| AttemptRow {
        attempt: *attempt,
        width: share(*messages, most),
        messages: grouped(*messages),
        share: format!("{} %", share(*messages, all)),
    };
    report.at_attempt.iter().map(row).collect()
}

pub(super) async fn export(by: By<Viewer>, Query(filters): Query<Filters>) -> Result<Response, ConsoleError> {
    let asked = read_exactly(&by, &filters).await?;
    let figures = figures(&by, &asked).await?;
    let report = DeliveryDays::new(asked.range, asked.interface, &figures);
    let (plot, text) = match filters.plot.as_str() {
        "answers" => ("answers", answers_csv(&report)),
        "days" => ("days", days_csv(&report)),
        "times" => ("times", times_csv(&report)),
        "attempts" => ("attempts", attempts_csv(&report)),
        "" => ("all", all_csv(&asked, &figures)),
        _ => return Err(ConsoleError::NotFound),
    };
    Ok(asked.csv(plot, text))
}

/// Every figure, as `backhaul report deliveries --csv` writes them.
fn all_csv(asked: &Asked, figures: &[Figure]) -> String {
    let fits = |figure: &&Figure| asked.interface.map_or(!figure.interface.is_empty(), |interface| interface == figure.interface);
    let fitting = figures.iter().filter(fits);
    let lines = fitting.map(|figure| {
        let value = if figure.value == LONGER_STORED { "longer" } else { &figure.value };
        csv::line([&*figure.day.to_string(), &figure.interface, &figure.figure, value, &figure.count.to_string()])
    });
    csv::line(["day", "interface", "figure", "value", "count"]) + &lines.collect::<String>()
}

/// The stored text of `domain::messages::promptness::LONGER`.
const LONGER_STORED: &str = "9223372036854775807";

fn answers_csv(report: &DeliveryDays) -> String {
    let mut text = csv::line(["day", "interface", "outcome", "calls"]);
    for answer in &report.answers {
        for (day, calls) in report.days.iter().zip(&answer.by_day).filter(|(_, calls)| **calls > 0) {
            text.push_str(&csv::line([&*day.day.to_string(), &answer.interface, &answer.outcome, &calls.to_string()]));
        }
    }
    text
}

fn days_csv(report: &DeliveryDays) -> String {
    let lines = report.days.iter().map(|day| csv::line([&*day.day.to_string(), &day.delivered.to_string(), &day.failed.to_string()]));
    csv::line(["day", "delivered_messages", "failed_calls"]) + &lines.collect::<String>()
}

fn times_csv(report: &DeliveryDays) -> String {
    let ms = |time: i64| if time == i64::MAX { "longer".to_owned() } else { time.to_string() };
    let lines = report.days.iter().filter_map(|day| {
        let Times { p50, p95, p99 } = day.times?;
        Some(csv::line([&*day.day.to_string(), &ms(p50), &ms(p95), &ms(p99)]))
    });
    csv::line(["day", "p50_at_most_ms", "p95_at_most_ms", "p99_at_most_ms"]) + &lines.collect::<String>()
}

fn attempts_csv(report: &DeliveryDays) -> String {
    let lines = report.at_attempt.iter().map(|(attempt, messages)| csv::line([&*attempt.to_string(), &messages.to_string()]));
    csv::line(["attempt", "delivered_messages"]) + &lines.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_colour_is_for_the_most() {
        assert_eq!([0, 1, 4, 8, 9].map(|count| strength(count, 9, GOOD)), ["h0", "o1", "o2", "o3", "o3"]);
        assert_eq!(strength(1, 1, BAD), "e3");
        assert_eq!(LONGER_STORED, domain::messages::promptness::LONGER.to_string());
    }
}
