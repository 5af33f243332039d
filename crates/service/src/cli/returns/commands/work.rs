//! `backhaul returns work …`: the cases that a person must decide or mend.

use anyhow::bail;
use clap::{Args, Subcommand};
use domain::returns::work::WorkKind;
use store::returns::work_items;
use uuid::Uuid;
use wire::returns::work::WorkItemOut;

use crate::app::App;
use crate::cli::context::{OfMerchant, actor};
use crate::cli::output::{self, Format};
use crate::flow::returns::close_case::{Case, close_case};
use crate::show::returns::work_items as show;

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// List the open cases, newest first.
    List(List),
    /// Close a case; nothing else changes.
    Done(Done),
}

#[derive(Args)]
pub(in crate::cli) struct List {
    #[command(flatten)]
    merchant: OfMerchant,
    /// Continue the list with the id that the previous page ended with.
    #[arg(long, value_name = "ID")]
    before: Option<Uuid>,
    /// The most cases to show.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    limit: u32,
}

#[derive(Args)]
pub(in crate::cli) struct Done {
    #[command(flatten)]
    merchant: OfMerchant,
    /// The subject of the case, as listed: a return, or an order.
    subject: String,
    /// The kind of the case, as listed.
    #[arg(long)]
    kind: WorkKind,
}

pub(super) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::List(options) => list(app, &options, format).await,
        Command::Done(Done { merchant, subject, kind }) => {
            let id = merchant.find(app).await?.id;
            if !close_case(app, &actor(), id, Case::Of(kind, &subject)).await? {
                bail!(
                    "{merchant} has no open case {kind} of {subject}; `backhaul returns work list --merchant {merchant}` lists its cases"
                );
            }
            output::said(format, &format!("Closed the case {kind} of {subject}."))
        }
    }
}

async fn list(app: &App, options: &List, format: Format) -> anyhow::Result<()> {
    let merchant = options.merchant.find(app).await?.id;
    let items = work_items::list(app.store(merchant), merchant, options.before, i64::from(options.limit)).await?;
    let rows: Vec<WorkItemOut> = items.into_iter().map(show::shown).collect();
    let empty = format!("{} has no open cases.", options.merchant);
    output::list(format, &rows, &empty, &["KIND", "SUBJECT", "OPENED", "REASON"], |row| {
        vec![row.kind.to_owned(), row.subject.clone(), row.opened_at.clone(), row.reason.clone()]
    })?;
    if let (Some(last), Format::Table) = (rows.last().filter(|_| rows.len() == options.limit as usize), format) {
        output::line(&format!("There may be more. To continue, add --before {}", last.work_item_id));
    }
    Ok(())
}
