//! `backhaul returns work …`: the cases that a person must decide or mend.

use anyhow::bail;
use clap::{Args, Subcommand};
use domain::returns::work::WorkKind;
use store::returns::work_items;
use wire::returns::work::WorkItemOut;

use crate::app::App;
use crate::cli::context::{OfMerchant, actor};
use crate::cli::output::{self, Format};
use crate::cli::page::PageArgs;
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
    #[command(flatten)]
    page: PageArgs,
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
    let mut items = work_items::list(app.store(merchant), merchant, options.page.place()?, options.page.most()).await?;
    let next = options.page.cut(&mut items, |last| last.id.to_string());
    let rows: Vec<WorkItemOut> = items.into_iter().map(show::shown).collect();
    let empty = format!("{} has no open cases.", options.merchant);
    output::page(format, &rows, next.as_deref(), &empty, &["KIND", "SUBJECT", "OPENED", "REASON"], |row| {
        vec![row.kind.to_owned(), row.subject.clone(), row.opened_at.clone(), row.reason.clone()]
    })
}
