//! `backhaul orders …`: imports orders, shows and finds them, and answers support's question where a merchant's orders are.

use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::Value;
use store::orders::{refusals, snapshots};
use wire::page::{read_moment, write_moment};
use wire::time;

use super::faults::faults_text;
use super::import::{self, Import, Report};
use super::{find, show};
use crate::app::App;
use crate::cli::context::OfMerchant;
use crate::cli::output::{self, Format};
use crate::cli::page::PageArgs;

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// Import existing orders from a file with one JSON order per line, in the format of the order message's `orders`.
    Import(Import),
    /// List the refused lines of an import, with the reasons.
    ImportReport(Report),
    /// Show an order as its merchant last sent it, with its warnings, refunds and returns, but without the shopper.
    Show(show::Show),
    /// Find anything of all merchants by its number: an order, a return or its tracking number, an ASN, a unit or a message.
    Find {
        /// The whole number.
        text: String,
    },
    /// List refused order messages with the reasons, latest first.
    Refused(Selection),
    /// List orders accepted with warnings, latest first.
    Warned(Selection),
}

#[derive(Args)]
pub(in crate::cli) struct Selection {
    #[command(flatten)]
    merchant: OfMerchant,
    #[command(flatten)]
    page: PageArgs,
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

pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::Import(import) => import::run(import, app, format).await,
        Command::ImportReport(report) => import::report(report, app, format).await,
        Command::Show(asked) => show::run(app, &asked, format).await,
        Command::Find { text } => find::run(app, &text, format).await,
        Command::Refused(Selection { merchant, page }) => {
            let id = merchant.find(app).await?.id;
            let mut found = refusals::list(app.store(id), id, page.place()?, page.most()).await?;
            let next = page.cut(&mut found, |last| last.id.to_string());
            let rows: Vec<RefusedMessage> = found
                .into_iter()
                .map(|refusal| RefusedMessage {
                    refused_at: time::write(refusal.refused_at),
                    request_id: refusal.request_id,
                    order_identifiers: refusal.order_identifiers,
                    reason: refusal.reason,
                    faults: serde_json::from_str(&refusal.faults).unwrap_or_default(),
                })
                .collect();
            let empty = format!("No order message of {merchant} was refused.");
            output::page(format, &rows, next.as_deref(), &empty, &["REFUSED", "REQUEST", "ORDERS", "WHY"], |row| {
                let why = faults_text(&row.faults);
                let why = if why.is_empty() { row.reason.clone() } else { why };
                vec![row.refused_at.clone(), row.request_id.clone(), row.order_identifiers.join("\n"), why]
            })
        }
        Command::Warned(Selection { merchant, page }) => {
            let id = merchant.find(app).await?.id;
            let mut found = snapshots::list_doubtful(app.store(id), id, page.after(read_moment)?, page.most()).await?;
            let next = page.cut(&mut found, |last| write_moment(last.received_at, &last.identifier));
            let rows: Vec<WarnedOrder> = found
                .into_iter()
                .map(|order| WarnedOrder {
                    identifier: order.identifier,
                    received_at: time::write(order.received_at),
                    warnings: serde_json::from_str(&order.warnings).unwrap_or_default(),
                })
                .collect();
            let empty = format!("No order of {merchant} has warnings.");
            output::page(format, &rows, next.as_deref(), &empty, &["ORDER", "RECEIVED", "WARNINGS"], |row| {
                vec![row.identifier.clone(), row.received_at.clone(), faults_text(&row.warnings)]
            })
        }
    }
}
