//! `backhaul report …`: statistics on deliveries.

use clap::{Args, Subcommand};
use wire::messages::report::{DeliveriesReport, ReportedDay, ReportedInterface};

use crate::app::App;
use crate::cli::context::OfMerchant;
use crate::cli::output::{self, Format};
use crate::show::messages::report::{Deliveries, Range};

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// Show deliveries to a merchant's systems: attempts by status, interface and day, and the time to deliver.
    Deliveries(DeliveriesArgs),
}

#[derive(Args)]
pub(in crate::cli) struct DeliveriesArgs {
    #[command(flatten)]
    merchant: OfMerchant,
    /// The first day (UTC), such as 2026-03-01; 29 days before the last one if left out.
    #[arg(long)]
    from: Option<String>,
    /// The last day (UTC); today if left out. A report covers at most 92 days.
    #[arg(long)]
    to: Option<String>,
    /// Print every figure as comma-separated values.
    #[arg(long)]
    csv: bool,
}

pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::Deliveries(options) => {
            let merchant = options.merchant.find(app).await?;
            let range = Range::read(options.from.as_deref(), options.to.as_deref(), app.now())?;
            let read = Deliveries::read(app, merchant.id, range).await?;
            if options.csv {
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
            let headers = ["INTERFACE", "DELIVERED", "FAILED ATTEMPTS", "AT ATTEMPT", "50 % WITHIN", "90 % WITHIN", "99 % WITHIN"];
            output::list(format, &report.interfaces, "No messages were sent on these days.", &headers, interface)?;
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

/// A duration for tables, rounded up.
fn time(at_most_ms: Option<i64>) -> String {
    match at_most_ms {
        None => "over a day".to_owned(),
        Some(ms) if ms < 1_000 => format!("{ms} ms"),
        Some(ms) if ms % 1_000 != 0 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        Some(ms) if ms < 600_000 => format!("{} s", ms / 1_000),
        Some(ms) if ms < 36_000_000 => format!("{} min", (ms + 59_999) / 60_000),
        Some(ms) => format!("{} h", (ms + 3_599_999) / 3_600_000),
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
