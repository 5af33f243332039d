//! `backhaul orders …`: what support looks at when a merchant asks where its orders are.

use clap::{Args, Subcommand};
use domain::id::Handle;
use serde::Serialize;
use serde_json::Value;
use store::{orders, refusals};
use wire::time;

use super::import::{self, Import, Report};
use super::merchant;
use super::output::{self, Format};
use crate::app::App;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Import history: a file with an order a line, as in `orders` of the order message.
    Import(Import),
    /// List the lines of an import that were refused, and why.
    ImportReport(Report),
    /// List the messages that were refused, latest first, and why.
    Refused(Selection),
    /// List the orders that were accepted with warnings, latest first.
    Warned(Selection),
}

#[derive(Args)]
pub(super) struct Selection {
    /// Whose they are.
    #[arg(long)]
    merchant: Handle,
    /// How many to show.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(i64).range(1..=10_000))]
    limit: i64,
}

#[derive(Serialize)]
struct RefusedMessage {
    refused_at: String,
    request_id: String,
    order_identifiers: Vec<String>,
    reason: String,
    faults: Value,
}

#[derive(Serialize)]
struct WarnedOrder {
    identifier: String,
    received_at: String,
    warnings: Value,
}

/// The faults or warnings of a row, a line each.
pub(super) fn told(list: &Value) -> String {
    let word = |entry: &Value, name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let lines = list.as_array().into_iter().flatten().map(|entry| format!("{}: {}", word(entry, "field"), word(entry, "message")));
    lines.collect::<Vec<_>>().join("\n")
}

pub(super) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::Import(import) => import::run(import, app, format).await,
        Command::ImportReport(report) => import::report(report, app, format).await,
        Command::Refused(Selection { merchant: handle, limit }) => {
            let merchant = merchant(app, &handle).await?;
            let rows: Vec<RefusedMessage> = refusals::list(app.store(merchant.id), merchant.id, limit)
                .await?
                .into_iter()
                .map(|refusal| RefusedMessage {
                    refused_at: time::write(refusal.refused_at),
                    request_id: refusal.request_id,
                    order_identifiers: refusal.order_identifiers,
                    reason: refusal.reason,
                    faults: serde_json::from_str(&refusal.faults).unwrap_or_default(),
                })
                .collect();
            let empty = format!("Nothing of {handle}'s was refused.");
            output::list(format, &rows, &empty, &["REFUSED", "REQUEST", "ORDERS", "WHY"], |row| {
                let why = told(&row.faults);
                let why = if why.is_empty() { row.reason.clone() } else { why };
                vec![row.refused_at.clone(), row.request_id.clone(), row.order_identifiers.join("\n"), why]
            })
        }
        Command::Warned(Selection { merchant: handle, limit }) => {
            let merchant = merchant(app, &handle).await?;
            let rows: Vec<WarnedOrder> = orders::list_doubtful(app.store(merchant.id), merchant.id, limit)
                .await?
                .into_iter()
                .map(|order| WarnedOrder {
                    identifier: order.identifier,
                    received_at: time::write(order.received_at),
                    warnings: serde_json::from_str(&order.warnings).unwrap_or_default(),
                })
                .collect();
            let empty = format!("Every order of {handle}'s adds up.");
            output::list(format, &rows, &empty, &["ORDER", "RECEIVED", "WARNINGS"], |row| {
                vec![row.identifier.clone(), row.received_at.clone(), told(&row.warnings)]
            })
        }
    }
}
