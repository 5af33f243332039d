//! `backhaul returns …`: what support looks at when somebody asks where a return is.

mod show;

use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use domain::id::{Handle, MerchantId};
use domain::rma::Status;
use store::rma_pages::{self, Filter, MOST_LISTED};
use store::rmas;
use uuid::Uuid;
use wire::returns::ReturnListed;

use super::messages::moment;
use super::output::{self, Format};
use super::{actor, merchant};
use crate::app::App;
use crate::flow::cancel_return::{BY_OPERATOR, CancelReturnError, cancel_return};
use crate::flow::convert_exchange::{ConvertExchangeError, convert_exchange};
use crate::flow::resend_return::resend_return;
use crate::returns;

#[derive(Subcommand)]
pub(super) enum Command {
    /// List returns, newest first.
    List(List),
    /// Show a return: its units, how their amounts are made, and the messages on it.
    Show(Named),
    /// Cancel a return that nothing has happened to yet; its units can be returned anew.
    Cancel(Named),
    /// Send the current state of a return once more, as a new message.
    Resend(Named),
    /// Refund what was to be exchanged, once the exchange order is in the failure queue; that discards it.
    ConvertExchange(Named),
}

#[derive(Args)]
pub(super) struct Named {
    /// The merchant's short name.
    merchant: Handle,
    /// The return, in any spelling that can be read: `r7kq4xm92`.
    rma_identifier: String,
}

#[derive(Args)]
pub(super) struct List {
    /// The merchant's short name.
    merchant: Handle,
    /// Only of this order.
    #[arg(long)]
    order: Option<String>,
    /// Only with this tracking number.
    #[arg(long)]
    tracking_number: Option<String>,
    /// Only in this status: `CREATED`, `PARTIAL_REFUND`, `REFUNDED` or `CANCELED`.
    #[arg(long)]
    status: Option<Status>,
    /// Only those started at this time (ISO 8601) or later.
    #[arg(long, value_parser = moment)]
    since: Option<DateTime<Utc>>,
    /// Go on before this return, as the page before says.
    #[arg(long, value_name = "ID")]
    before: Option<Uuid>,
    /// How many to show.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    limit: u32,
}

pub(super) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::List(wanted) => list(app, wanted, format).await,
        Command::Show(named) => {
            let whose = merchant(app, &named.merchant).await?.id;
            show(app, whose, &named, format).await
        }
        Command::Cancel(named) => {
            let whose = merchant(app, &named.merchant).await?.id;
            match cancel_return(app, &actor(), whose, &returns::identifier(&named.rma_identifier), BY_OPERATOR).await {
                Err(CancelReturnError::NoSuchReturn) => return Err(named.unknown()),
                done => done?,
            };
            app.forward_signals_now().await;
            show(app, whose, &named, format).await
        }
        Command::Resend(named) => {
            let whose = merchant(app, &named.merchant).await?.id;
            let resent = resend_return(app, &actor(), whose, &returns::identifier(&named.rma_identifier)).await?;
            resent.ok_or_else(|| named.unknown())?;
            app.forward_signals_now().await;
            show(app, whose, &named, format).await
        }
        Command::ConvertExchange(named) => {
            let whose = merchant(app, &named.merchant).await?.id;
            match convert_exchange(app, &actor(), whose, &returns::identifier(&named.rma_identifier)).await {
                Err(ConvertExchangeError::NoSuchReturn) => return Err(named.unknown()),
                done => done?,
            }
            app.forward_signals_now().await;
            show(app, whose, &named, format).await
        }
    }
}

impl Named {
    /// What to say, and to do, when there is no such return.
    fn unknown(&self) -> anyhow::Error {
        let Self { merchant, rma_identifier } = self;
        anyhow::anyhow!("{merchant} has no return {rma_identifier}; `backhaul returns list {merchant}` shows those that it has")
    }
}

async fn show(app: &App, whose: MerchantId, named: &Named, format: Format) -> anyhow::Result<()> {
    let kept = rmas::find(app.store(whose), whose, &returns::identifier(&named.rma_identifier)).await?;
    let kept = kept.ok_or_else(|| named.unknown())?;
    let messages = show::messages(app, whose, &kept.identifier).await?;
    show::show(returns::look(app, whose, &kept).await?, messages, format)
}

async fn list(app: &App, wanted: List, format: Format) -> anyhow::Result<()> {
    let whose = merchant(app, &wanted.merchant).await?.id;
    let filter =
        Filter { order: wanted.order, tracking_number: wanted.tracking_number, status: wanted.status, from: wanted.since, to: None };
    let (mut rows, mut before, most) = (Vec::new(), wanted.before, wanted.limit as usize);
    loop {
        let page = rma_pages::list(app.store(whose), whose, &filter, before, (most - rows.len()).min(MOST_LISTED)).await?;
        rows.extend(page.returns.into_iter().map(returns::listed));
        before = page.next;
        if before.is_none() || rows.len() >= most {
            break;
        }
    }
    let empty = format!("{} has no such returns.", wanted.merchant);
    output::list(format, &rows, &empty, &["RETURN", "ORDER", "STATUS", "METHOD", "UNITS", "EXCHANGE", "CREATED", "UPDATED"], |row| {
        let ReturnListed { rma_identifier, order_identifier, status, return_method, units, exchange, created_at, updated_at } = row;
        vec![
            rma_identifier.clone(),
            order_identifier.clone(),
            (*status).to_owned(),
            (*return_method).to_owned(),
            units.to_string(),
            exchange.unwrap_or_default().to_owned(),
            created_at.clone(),
            updated_at.clone(),
        ]
    })?;
    if let (Some(before), Format::Table) = (before, format) {
        output::line(&format!("There may be more: go on with --before {before}"));
    }
    Ok(())
}
