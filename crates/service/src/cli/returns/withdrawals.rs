//! `backhaul withdrawals …`: shoppers' statements of withdrawal from contracts.

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use store::returns::withdrawals;
use wire::returns::withdrawal::WithdrawalOut;

use crate::app::App;
use crate::cli::context::{OfMerchant, actor};
use crate::cli::output::{self, Format};
use crate::cli::page::PageArgs;
use crate::flow::returns::withdraw::match_withdrawal;
use crate::show::returns::withdrawals as show;

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// List statements, newest first.
    List(List),
    /// Show a statement with the exact text that the shopper confirmed.
    Show(OfWithdrawal),
    /// Name the order that a statement is about; its case on the work list is closed.
    Match(Match),
}

#[derive(Args)]
pub(in crate::cli) struct List {
    #[command(flatten)]
    merchant: OfMerchant,
    /// Only those about this order.
    #[arg(long)]
    order: Option<String>,
    #[command(flatten)]
    page: PageArgs,
}

#[derive(Args)]
pub(in crate::cli) struct OfWithdrawal {
    #[command(flatten)]
    merchant: OfMerchant,
    /// The reference of the statement, such as W-7KQ4-XM92.
    reference: String,
}

#[derive(Args)]
pub(in crate::cli) struct Match {
    #[command(flatten)]
    of: OfWithdrawal,
    /// The order.
    order: String,
}

pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::List(options) => list(app, &options, format).await,
        Command::Show(of) => show(app, &of, format).await,
        Command::Match(Match { of, order }) => {
            let merchant = of.merchant.find(app).await?;
            let shop = app.shops.find_by_handle(app, &merchant.handle).await?;
            let shop = shop.with_context(|| format!("the merchant `{}` is gone", merchant.handle))?;
            let reference = spelled(&of.reference);
            match_withdrawal(app, &actor(), &shop, &reference, &order).await?;
            output::said(format, &format!("The withdrawal {reference} is about order {order}."))
        }
    }
}

/// The reference in the spelling that is stored.
fn spelled(reference: &str) -> String {
    reference.trim().to_uppercase()
}

async fn list(app: &App, options: &List, format: Format) -> anyhow::Result<()> {
    let merchant = options.merchant.find(app).await?.id;
    let order = options.order.as_deref();
    let mut found = withdrawals::list(app.store(merchant), merchant, order, options.page.place()?, options.page.most()).await?;
    let next = options.page.cut(&mut found, |last| last.id.to_string());
    let rows: Vec<WithdrawalOut> = found.into_iter().map(show::shown).collect();
    let empty = format!("{} has no withdrawals.", options.merchant);
    output::page(format, &rows, next.as_deref(), &empty, &["REFERENCE", "RECEIVED", "ORDER", "IN TIME", "RETURN"], |row| {
        let in_time = row.in_time.map_or("unknown", |in_time| if in_time { "yes" } else { "no" });
        let or_none = |text: &Option<String>| text.clone().unwrap_or_default();
        vec![
            row.reference.clone(),
            row.received_at.clone(),
            or_none(&row.order_identifier),
            in_time.to_owned(),
            or_none(&row.rma_identifier),
        ]
    })
}

async fn show(app: &App, of: &OfWithdrawal, format: Format) -> anyhow::Result<()> {
    let merchant = of.merchant.find(app).await?.id;
    let Some(found) = withdrawals::find(app.store(merchant), merchant, &spelled(&of.reference)).await? else {
        bail!("{} has no withdrawal {}; `backhaul withdrawals list --merchant {}` lists them", of.merchant, of.reference, of.merchant);
    };
    output::one(format, &show::shown(found))
}
