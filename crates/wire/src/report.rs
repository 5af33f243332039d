//! The report of deliveries: `/v1/reports/deliveries`.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Which days are wanted, and how.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ReportQuery {
    /// The first day (UTC), such as `2026-03-01`; 29 days before the last one when left out.
    #[param(required = false, format = Date)]
    pub from: Option<String>,
    /// The last day (UTC); today when left out. At most 92 days in all.
    #[param(required = false, format = Date)]
    pub to: Option<String>,
    /// `json` or `csv`; when left out, what `Accept` says.
    #[param(required = false, inline)]
    pub format: Option<ReportFormat>,
}

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportFormat {
    /// JSON.
    Json,
    /// Comma-separated values, a figure a line.
    Csv,
}

/// What became of messages to the merchant's systems, by interface and day.
#[derive(Serialize, ToSchema)]
pub struct DeliveriesReport {
    /// The first day (UTC).
    pub from: String,
    /// The last day (UTC).
    pub to: String,
    /// All days together, by interface.
    pub interfaces: Vec<ReportedInterface>,
    /// Day by day; days and interfaces without an attempt are left out.
    pub days: Vec<ReportedDay>,
}

/// An interface over all days.
#[derive(Serialize, ToSchema)]
pub struct ReportedInterface {
    /// The interface, such as `rma`.
    pub interface: String,
    /// How many messages arrived.
    pub delivered: u64,
    /// How many attempts failed; a message can have several.
    pub failed_attempts: u64,
    /// At which attempt messages arrived.
    pub delivered_at_attempt: Vec<DeliveredAtAttempt>,
    /// How soon they arrived; null when none did.
    pub time_to_deliver: Option<TimeToDeliver>,
}

/// How many messages arrived at an attempt.
#[derive(Serialize, ToSchema)]
pub struct DeliveredAtAttempt {
    /// Which attempt, from 1 on.
    pub attempt: i16,
    /// How many messages.
    pub messages: u64,
}

/// How soon messages arrived, from being written to the end of the attempt that brought them: at most so many milliseconds.
/// Null is longer than a day.
#[derive(Serialize, ToSchema)]
pub struct TimeToDeliver {
    /// Of half of them.
    pub p50_at_most_ms: Option<i64>,
    /// Of 90 percent.
    pub p90_at_most_ms: Option<i64>,
    /// Of 99 percent.
    pub p99_at_most_ms: Option<i64>,
}

/// An interface on one day.
#[derive(Serialize, ToSchema)]
pub struct ReportedDay {
    /// The day (UTC).
    pub day: String,
    /// The interface, such as `rma`.
    pub interface: String,
    /// How many messages arrived.
    pub delivered: u64,
    /// How many attempts failed.
    pub failed_attempts: u64,
    /// Attempts by how they ended.
    pub outcomes: Vec<ReportedOutcome>,
}

/// How many attempts ended in one way.
#[derive(Serialize, ToSchema)]
pub struct ReportedOutcome {
    /// The status, or `timed out`, `unreachable`, `refused`.
    pub outcome: String,
    /// How many attempts.
    pub attempts: u64,
}

/// A line of the report as comma-separated values.
pub struct Figure<'a> {
    /// The day (UTC).
    pub day: String,
    /// The interface.
    pub interface: &'a str,
    /// What is counted: `outcome`, `delivered_at_attempt` or `delivered_within_ms`.
    pub figure: &'static str,
    /// Of which status, attempt or time.
    pub value: String,
    /// How many.
    pub count: u64,
}

/// Writes figures as comma-separated values. Every word in them is ours and needs no quotes.
#[must_use]
pub fn csv<'a>(figures: impl IntoIterator<Item = Figure<'a>>) -> String {
    let mut text = "day,interface,figure,value,count\r\n".to_owned();
    for Figure { day, interface, figure, value, count } in figures {
        let _ = write!(text, "{day},{interface},{figure},{value},{count}\r\n");
    }
    text
}
