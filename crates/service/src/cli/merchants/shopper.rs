//! `backhaul shopper …`: finds a shopper's orders; exports and erases their personal data, on the merchant's request.

mod find;

use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use domain::id::MerchantId;
use serde::Serialize;
use wire::merchants::shopper_export::ShopperExport;

use crate::app::App;
use crate::cli::confirm::{Confirmation, confirm};
use crate::cli::context::{OfMerchant, actor};
use crate::cli::output::{self, Format, counted};
use crate::flow::merchants::erase_shopper::{
    EraseShopperError, Erased, ErasureTarget, discard_owed, erase_shopper, orders_of_shopper, suppress_shopper,
};
use crate::flow::merchants::export_shopper::export_order;

/// The time between two checks that discarded messages are settled, and the number of checks before giving up.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);
const MOST_CHECKS: u32 = 120;

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// Erase a shopper: overwrite the personal data in their orders, returns and messages. This cannot be undone.
    ///
    /// Shows what it covers and asks first.
    Erase(Erase),
    /// Export everything that is stored about a shopper as JSON.
    Export(Export),
    /// Find the numbers of a shopper's orders and returns by their e-mail address, which is not printed; at most 20 of each.
    Find(find::Find),
}

#[derive(Args)]
pub(in crate::cli) struct Export {
    #[command(flatten)]
    merchant: OfMerchant,
    #[command(flatten)]
    of: ExportOf,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct ExportOf {
    /// Export every order with this e-mail address.
    #[arg(long)]
    email: Option<String>,
    /// Export this order.
    #[arg(long)]
    order: Option<String>,
}

#[derive(Args)]
pub(in crate::cli) struct Erase {
    #[command(flatten)]
    merchant: OfMerchant,
    #[command(flatten)]
    of: OrdersOf,
    /// Discard messages that are still owed or in the failure queue, instead of refusing because of them.
    #[arg(long)]
    discard: bool,
    #[command(flatten)]
    confirmation: Confirmation,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct OrdersOf {
    /// Erase every order with this e-mail address.
    #[arg(long)]
    email: Option<String>,
    /// Erase this order.
    #[arg(long)]
    order: Option<String>,
    /// Erase this drop-ship order, by the merchant's identifier; drop-ship orders cannot be found by e-mail address.
    #[arg(long)]
    drop_ship_order: Option<String>,
}

#[derive(Serialize)]
struct Row {
    order: String,
    result: String,
    returns: usize,
    messages: u64,
}

pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::Erase(command) => erase(&command, app, format).await,
        Command::Export(command) => export(&command, app).await,
        Command::Find(command) => find::run(app, &command, format).await,
    }
}

async fn export(export: &Export, app: &App) -> anyhow::Result<()> {
    let merchant = export.merchant.find(app).await?;
    let orders = match (&export.of.email, &export.of.order) {
        (Some(email), _) => orders_of_shopper(app, merchant.id, email).await?,
        (None, order) => order.iter().cloned().collect(),
    };
    let mut whole = ShopperExport::new(&merchant.handle, app.now());
    for order in orders {
        if !export_order(app, &actor(), merchant.id, &order, &mut whole).await? {
            bail!("{} has no order {order}; nothing was exported", merchant.handle);
        }
    }
    // A file for the shopper, whatever format was asked for.
    output::one(Format::Json, &whole)
}

async fn erase(erase: &Erase, app: &App, format: Format) -> anyhow::Result<()> {
    let merchant = erase.merchant.find(app).await?.id;
    if !erase.confirmation.yes {
        let (preview, word) = covers(app, merchant, erase).await?;
        confirm(&preview, word)?;
    }
    let (mut rows, mut left) = (Vec::new(), false);
    for of in find(app, merchant, &erase.of).await? {
        let (ErasureTarget::Order(order) | ErasureTarget::DropShipOrder(order)) = &of;
        let order = order.clone();
        rows.push(match attempt(app, merchant, &of, erase.discard).await {
            Ok(erased) => Row { order, result: "erased".to_owned(), returns: erased.returns, messages: erased.messages },
            Err(EraseShopperError::Failed(failed)) => {
                return Err(failed).context("the erasure is incomplete; run the command again to erase the rest");
            }
            Err(refused) => {
                left = true;
                Row { order, result: refused.to_string(), returns: 0, messages: 0 }
            }
        });
    }
    let empty = format!("{} has no orders of this shopper.", erase.merchant);
    output::list(format, &rows, &empty, &["ORDER", "RESULT", "RETURNS", "MESSAGES"], |row| {
        vec![row.order.clone(), row.result.clone(), row.returns.to_string(), row.messages.to_string()]
    })?;
    if left {
        bail!("some orders were not erased; see the reasons above, resolve them and run the command again");
    }
    Ok(())
}

/// The most orders that a preview names.
const MOST_NAMED: usize = 10;

/// What an erasure covers, and the word that confirms it: what was named on the command line.
async fn covers<'e>(app: &App, merchant: MerchantId, erase: &'e Erase) -> anyhow::Result<(String, &'e str)> {
    let OrdersOf { email, order, drop_ship_order } = &erase.of;
    let handle = &erase.merchant;
    let (covered, later, word) = match (email, order, drop_ship_order) {
        (Some(email), ..) => {
            let orders = orders_of_shopper(app, merchant, email).await?;
            let named = orders.iter().take(MOST_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
            let others = match orders.len().saturating_sub(MOST_NAMED) {
                0 => String::new(),
                others => format!(" and {others} more"),
            };
            let covered = match orders.len() {
                0 => format!("no order of {handle}, which has none of this shopper"),
                many => format!("{} of {handle} ({named}{others})", counted(many, "order")),
            };
            (covered, " Orders of this shopper that arrive again are stored without it.", email.as_str())
        }
        (None, Some(order), _) => (format!("the order {order} of {handle}"), "", order.as_str()),
        (None, None, drop_ship) => {
            let order = drop_ship.as_deref().unwrap_or_default();
            (format!("the drop-ship order {order} of {handle}"), "", order)
        }
    };
    let discarded = if erase.discard { " Messages that are still owed or in the failure queue are never delivered." } else { "" };
    let preview = format!(
        "Erasing overwrites name, e-mail address, phone and addresses in {covered}, with the returns, mails and messages about it. \
         Amounts, SKUs and states stay.{discarded}{later} It cannot be undone."
    );
    Ok((preview, word))
}

async fn find(app: &App, merchant: MerchantId, of: &OrdersOf) -> anyhow::Result<Vec<ErasureTarget>> {
    let orders = match (&of.email, &of.order, &of.drop_ship_order) {
        (Some(email), ..) => {
            suppress_shopper(app, &actor(), merchant, email).await?;
            orders_of_shopper(app, merchant, email).await?.into_iter().map(ErasureTarget::Order).collect()
        }
        (None, order, drop_ship) => {
            let named = order.iter().cloned().map(ErasureTarget::Order);
            named.chain(drop_ship.iter().cloned().map(ErasureTarget::DropShipOrder)).collect()
        }
    };
    Ok(orders)
}

/// Erases one order. With `discard`, waits for the deliverer to discard the owed messages.
async fn attempt(app: &App, merchant: MerchantId, of: &ErasureTarget, discard: bool) -> Result<Erased, EraseShopperError> {
    let actor = actor();
    if discard {
        discard_owed(app, &actor, merchant, of).await?;
    }
    let mut checks = 0;
    loop {
        match erase_shopper(app, &actor, merchant, of).await {
            Err(EraseShopperError::StillOwed(_)) if discard && checks < MOST_CHECKS => {
                checks += 1;
                tokio::time::sleep(CHECK_INTERVAL).await;
            }
            done => return done,
        }
    }
}
