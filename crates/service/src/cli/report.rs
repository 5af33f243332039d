//! `backhaul report …`.

use clap::{Args, Subcommand};
use domain::id::Handle;
use wire::report::{DeliveriesReport, ReportedDay, ReportedInterface};

use super::merchant;
use super::output::{self, Format};
use crate::app::App;
use crate::report::{Deliveries, Range};

#[derive(Subcommand)]
pub(super) enum Command {
    /// What became of a merchant's messages: attempts by status, interface and day; how many arrived, and how soon.
    Deliveries(Wanted),
}

#[derive(Args)]
pub(super) struct Wanted {
    /// Whose messages.
    #[arg(long)]
    merchant: Handle,
    /// The first day (UTC), such as 2026-03-01; 29 days before the last one unless given.
    #[arg(long)]
    from: Option<String>,
    /// The last day (UTC); today unless given. At most 92 days in all.
    #[arg(long)]
    to: Option<String>,
    /// Every figure as comma-separated values.
    #[arg(long)]
    csv: bool,
}

pub(super) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::Deliveries(wanted) => {
            let whose = merchant(app, &wanted.merchant).await?;
            let range = Range::read(wanted.from.as_deref(), wanted.to.as_deref(), app.now())?;
            let read = Deliveries::read(app, whose.id, range).await?;
            if wanted.csv {
                output::text(&read.csv());
                return Ok(());
            }
            show(format, &read.report())
        }
    }
}

fn show(format: Format, report: &DeliveriesReport) -> anyhow::Result<()> {
    match format {
        Format::Json => output::one(format, report),
        Format::Table => {
            let headers = ["INTERFACE", "DELIVERED", "FAILED ATTEMPTS", "AT ATTEMPT", "HALF WITHIN", "90 % WITHIN", "99 % WITHIN"];
            output::list(format, &report.interfaces, "Nothing was sent on these days.", &headers, interface)?;
            if !report.days.is_empty() {
                output::line("");
                let headers = ["DAY", "INTERFACE", "DELIVERED", "FAILED ATTEMPTS", "OUTCOMES"];
                output::list(format, &report.days, "", &headers, day)?;
            }
            Ok(())
        }
    }
}

fn interface(of: &ReportedInterface) -> Vec<String> {
    let attempts = of.delivered_at_attempt.iter().map(|at| format!("{}: {}", at.attempt, at.messages));
    let times = of.time_to_deliver.as_ref().map(|times| [times.p50_at_most_ms, times.p90_at_most_ms, times.p99_at_most_ms]);
    let mut row =
        vec![of.interface.clone(), of.delivered.to_string(), of.failed_attempts.to_string(), attempts.collect::<Vec<_>>().join(", ")];
    row.extend(times.map_or_else(|| vec!["-".to_owned(); 3], |times| times.map(time).to_vec()));
    row
}

/// A time for people.
fn time(at_most_ms: Option<i64>) -> String {
    match at_most_ms {
        None => "over a day".to_owned(),
        Some(ms) if ms < 1_000 => format!("{ms} ms"),
        Some(ms) if ms % 1_000 != 0 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        Some(ms) if ms < 60_000 => format!("{} s", ms / 1_000),
        Some(ms) if ms < 3_600_000 => format!("{} min", ms / 60_000),
        Some(ms) => format!("{} h", ms / 3_600_000),
    }
}

fn day(of: &ReportedDay) -> Vec<String> {
    let outcomes = of.outcomes.iter().map(|counted| format!("{}: {}", counted.outcome, counted.attempts));
    vec![
        of.day.clone(),
        of.interface.clone(),
        of.delivered.to_string(),
        of.failed_attempts.to_string(),
        outcomes.collect::<Vec<_>>().join(", "),
    ]
}
