//! The report of deliveries: `/v1/reports/deliveries`.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Query parameters for the report.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ReportQuery {
    /// First day (UTC), such as `2026-03-01`; defaults to 29 days before the last day.
    #[param(required = false, format = Date)]
    pub from: Option<String>,
    /// Last day (UTC); defaults to today. At most 92 days in total.
    #[param(required = false, format = Date)]
    pub to: Option<String>,
    /// `json` or `csv`; defaults to what the `Accept` header asks for.
    #[param(required = false, inline)]
    pub format: Option<ReportFormat>,
}

/// The format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportFormat {
    Json,
    /// Comma-separated values, one figure per line.
    Csv,
}

/// Deliveries to the merchant's systems, by interface and day.
#[derive(Serialize, ToSchema)]
pub struct DeliveriesReport {
    /// First day (UTC).
    pub from: String,
    /// Last day (UTC).
    pub to: String,
    /// Totals over all days, by interface.
    pub interfaces: Vec<ReportedInterface>,
    /// Figures by day; days and interfaces without attempts are left out.
    pub days: Vec<ReportedDay>,
}

/// The totals of an interface.
#[derive(Serialize, ToSchema)]
pub struct ReportedInterface {
    /// Interface, such as `rma`.
    pub interface: String,
    /// Messages delivered.
    pub delivered: u64,
    /// Failed attempts; a message can have several.
    pub failed_attempts: u64,
    /// Delivered messages by attempt number.
    pub delivered_at_attempt: Vec<DeliveredAtAttempt>,
    /// Time to deliver; null if nothing was delivered.
    pub time_to_deliver: Option<TimeToDeliver>,
}

/// The number of messages delivered at an attempt.
#[derive(Serialize, ToSchema)]
pub struct DeliveredAtAttempt {
    /// Attempt number, from 1.
    pub attempt: i16,
    /// Messages delivered at this attempt.
    pub messages: u64,
}

/// The time from writing a message to the end of the attempt that delivered it: upper bounds in milliseconds. Null means longer
/// than a day.
#[derive(Serialize, ToSchema)]
pub struct TimeToDeliver {
    /// 50th percentile.
    pub p50_at_most_ms: Option<i64>,
    /// 90th percentile.
    pub p90_at_most_ms: Option<i64>,
    /// 99th percentile.
    pub p99_at_most_ms: Option<i64>,
}

/// The figures of an interface on one day.
#[derive(Serialize, ToSchema)]
pub struct ReportedDay {
    /// Day (UTC).
    pub day: String,
    /// Interface, such as `rma`.
    pub interface: String,
    /// Messages delivered.
    pub delivered: u64,
    /// Failed attempts.
    pub failed_attempts: u64,
    /// Attempts by outcome.
    pub outcomes: Vec<ReportedOutcome>,
}

/// The number of attempts with one outcome.
#[derive(Serialize, ToSchema)]
pub struct ReportedOutcome {
    /// HTTP status, or `timed out`, `unreachable` or `refused`.
    pub outcome: String,
    /// Attempts with this outcome.
    pub attempts: u64,
}

/// A line of the CSV report.
pub struct Figure<'a> {
    /// Day (UTC).
    pub day: String,
    pub interface: &'a str,
    /// `outcome`, `delivered_at_attempt` or `delivered_within_ms`.
    pub figure: &'static str,
    /// The status, attempt or time that is counted.
    pub value: String,
    pub count: u64,
}

/// Writes figures as CSV. None of our values needs quotes.
#[must_use]
pub fn csv<'a>(figures: impl IntoIterator<Item = Figure<'a>>) -> String {
    let mut text = "day,interface,figure,value,count\r\n".to_owned();
    for Figure { day, interface, figure, value, count } in figures {
        let _ = write!(text, "{day},{interface},{figure},{value},{count}\r\n");
    }
    text
}
