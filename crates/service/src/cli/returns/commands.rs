//! `backhaul returns …`: answers support's question where a return is.

mod exchange_address;
mod of_return;
mod show;
mod work;

use anyhow::{Context as _, bail};
use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use domain::id::MerchantId;
use domain::returns::rma::{Status, Step};
use store::returns::rma_pages::{self, Filter, MOST_LISTED};
use store::returns::rmas::Return;
use store::returns::{exchange_orders, rmas};
use uuid::Uuid;
use wire::returns::api::ReturnListed;
use wire::returns::exchange_order::is_identifier;

use self::of_return::OfReturn;
use crate::app::App;
use crate::cli::confirm::{Confirmation, confirm};
use crate::cli::context::{OfMerchant, actor};
use crate::cli::moment::moment;
use crate::cli::output::{self, Format, counted};
use crate::cli::page::PageArgs;
use crate::flow::returns::cancel_return::{BY_OPERATOR, CancelReturnError, cancel_return};
use crate::flow::returns::confirm_refund::{ConfirmRefundError, confirm_refund};
use crate::flow::returns::convert_exchange::{ConvertExchangeError, convert_exchange};
use crate::flow::returns::order_label::{OrderLabelError, order_label};
use crate::flow::returns::record_exchange::record_exchange;
use crate::flow::returns::resend_return::resend_return;
use crate::show::returns::rmas as returns;

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// List returns, newest first.
    List(List),
    /// Show a return: its units, how their amounts add up, and its messages.
    Show(OfReturn),
    /// Cancel a return that has not progressed yet; its units can be returned again.
    ///
    /// Shows what follows and asks first.
    Cancel(Cancel),
    /// Order the label again that the carrier refused, with the address that the order has now.
    Label(OfReturn),
    /// Send the return's current state to the merchant again, as a new message.
    Resend(OfReturn),
    /// Refund the units of an exchange instead, if its message is in the failure queue or nobody knows its order.
    ConvertExchange(ConvertExchange),
    /// Record the order that the merchant placed for an exchange; a message that still asks for it is discarded.
    ExchangePlaced(ExchangePlaced),
    /// Ask for an exchange order again with another shipping address, once its message is in the failure queue.
    ExchangeAddress(Box<exchange_address::Options>),
    /// Confirm that a refund, which the merchant reported while the exchange order was owed, is the shopper's money.
    ConfirmRefund(OfReturn),
    /// List and close the cases that a person must decide or mend.
    #[command(subcommand)]
    Work(work::Command),
}

#[derive(Args)]
pub(in crate::cli) struct Cancel {
    #[command(flatten)]
    of: OfReturn,
    #[command(flatten)]
    confirmation: Confirmation,
}

#[derive(Args)]
pub(in crate::cli) struct ConvertExchange {
    #[command(flatten)]
    of: OfReturn,
    /// Convert without asking for confirmation, although the order may exist.
    #[arg(long)]
    yes: bool,
}

#[derive(Args)]
pub(in crate::cli) struct ExchangePlaced {
    #[command(flatten)]
    of: OfReturn,
    /// The merchant's identifier of the order that it placed.
    #[arg(long, value_name = "IDENTIFIER", value_parser = identifier)]
    order: String,
}

#[derive(Args)]
pub(in crate::cli) struct List {
    #[command(flatten)]
    merchant: OfMerchant,
    /// Only returns of this order.
    #[arg(long)]
    order: Option<String>,
    /// Only returns with this tracking number.
    #[arg(long)]
    tracking_number: Option<String>,
    /// Only returns with this status: `CREATED`, `PARTIAL_REFUND`, `REFUNDED` or `CANCELED`.
    #[arg(long)]
    status: Option<Status>,
    /// Only returns started at this time (ISO 8601) or later.
    #[arg(long, value_parser = moment)]
    since: Option<DateTime<Utc>>,
    #[command(flatten)]
    page: PageArgs,
}

pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::List(options) => list(app, options, format).await,
        Command::Show(of) => {
            let merchant = of.merchant.find(app).await?.id;
            show(app, merchant, &of, format).await
        }
        Command::Cancel(Cancel { of, confirmation }) => {
            let merchant = of.merchant.find(app).await?.id;
            let rma = find(app, merchant, &of).await?;
            // What is refused, and what is cancelled already, is told by the flow.
            if matches!(rma.rma.clone().cancel(), Ok(Step::Moved(_))) {
                let units = counted(rma.items.len(), "unit");
                let preview = format!(
                    "Cancelling the return {} releases {units} of the order {}, which can be returned again. A label that was bought is \
                     given back to the carrier. The merchant is told with a message, and the shopper with a mail. It cannot be undone.",
                    rma.identifier, rma.order
                );
                confirmation.ask(&preview, &rma.identifier)?;
            }
            match cancel_return(app, &actor(), merchant, &returns::identifier(&of.rma_identifier), BY_OPERATOR).await {
                Err(CancelReturnError::NoSuchReturn) => return Err(of.unknown()),
                done => done?,
            };
            app.forward_signals_now().await;
            show(app, merchant, &of, format).await
        }
        Command::Label(of) => {
            let merchant = of.merchant.find(app).await?.id;
            match order_label(app, &actor(), merchant, &returns::identifier(&of.rma_identifier)).await {
                Err(OrderLabelError::NoSuchReturn) => return Err(of.unknown()),
                done => done?,
            };
            app.forward_signals_now().await;
            show(app, merchant, &of, format).await
        }
        Command::Resend(of) => {
            let merchant = of.merchant.find(app).await?.id;
            let resent = resend_return(app, &actor(), merchant, &returns::identifier(&of.rma_identifier)).await?;
            resent.ok_or_else(|| of.unknown())?;
            app.forward_signals_now().await;
            show(app, merchant, &of, format).await
        }
        Command::ConvertExchange(ConvertExchange { of, yes }) => {
            let merchant = of.merchant.find(app).await?.id;
            let rma = returns::identifier(&of.rma_identifier);
            match convert_exchange(app, &actor(), merchant, &rma, yes).await {
                Err(ConvertExchangeError::NoSuchReturn) => return Err(of.unknown()),
                Err(ConvertExchangeError::Unconfirmed(doubt)) => {
                    let asked = confirm(&format!("Ask the merchant first: {doubt}. The units are refunded all the same."), &rma);
                    asked.with_context(|| doubt.to_string())?;
                    convert_exchange(app, &actor(), merchant, &rma, true).await?;
                }
                done => done?,
            }
            app.forward_signals_now().await;
            show(app, merchant, &of, format).await
        }
        Command::ExchangeAddress(options) => {
            let merchant = options.of.merchant.find(app).await?.id;
            exchange_address::change(app, merchant, &options).await?;
            show(app, merchant, &options.of, format).await
        }
        Command::ConfirmRefund(of) => {
            let merchant = of.merchant.find(app).await?.id;
            match confirm_refund(app, &actor(), merchant, &returns::identifier(&of.rma_identifier)).await {
                Err(ConfirmRefundError::NoSuchReturn) => return Err(of.unknown()),
                done => done?,
            };
            app.forward_signals_now().await;
            show(app, merchant, &of, format).await
        }
        Command::ExchangePlaced(ExchangePlaced { of, order }) => {
            let merchant = of.merchant.find(app).await?.id;
            let rma = find(app, merchant, &of).await?;
            let exchange = exchange_orders::find(app.store(merchant), merchant, &rma.order).await?;
            if exchange.is_none_or(|exchange| exchange.rma != rma.id) {
                bail!("the return {} has no exchange", rma.identifier);
            }
            record_exchange(app, &actor(), merchant, &rma.order, &order).await?;
            app.forward_signals_now().await;
            show(app, merchant, &of, format).await
        }
        Command::Work(command) => work::run(command, app, format).await,
    }
}

/// Reads an order identifier, with the limits that it has everywhere.
fn identifier(text: &str) -> Result<String, &'static str> {
    if is_identifier(text) { Ok(text.to_owned()) } else { Err("an order identifier has 1 to 255 characters") }
}

async fn find(app: &App, merchant: MerchantId, of: &OfReturn) -> anyhow::Result<Return> {
    let found = rmas::find(app.store(merchant), merchant, &returns::identifier(&of.rma_identifier)).await?;
    found.ok_or_else(|| of.unknown())
}

async fn show(app: &App, merchant: MerchantId, of: &OfReturn, format: Format) -> anyhow::Result<()> {
    let rma = find(app, merchant, of).await?;
    let messages = show::messages(app, merchant, &rma.identifier).await?;
    show::show(returns::look(app, merchant, &rma).await?, messages, format)
}

async fn list(app: &App, options: List, format: Format) -> anyhow::Result<()> {
    let merchant = options.merchant.find(app).await?.id;
    let filter =
        Filter { order: options.order, tracking_number: options.tracking_number, status: options.status, from: options.since, to: None };
    let (mut rows, mut before, most) = (Vec::new(), options.page.place()?, options.page.limit());
    loop {
        let page = rma_pages::list(app.store(merchant), merchant, &filter, before, (most - rows.len()).min(MOST_LISTED)).await?;
        rows.extend(page.returns.into_iter().map(returns::listed));
        before = page.next;
        if before.is_none() || rows.len() >= most {
            break;
        }
    }
    let empty = format!("No returns of {} match.", options.merchant);
    let next = before.map(|before: Uuid| before.to_string());
    let headers = ["RETURN", "ORDER", "STATUS", "METHOD", "UNITS", "EXCHANGE", "CREATED", "UPDATED"];
    output::page(format, &rows, next.as_deref(), &empty, &headers, |row| {
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
    })
}
