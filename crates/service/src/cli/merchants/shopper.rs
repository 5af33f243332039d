//! `backhaul shopper …`: exports and erases the personal data of a shopper, on the merchant's request.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use domain::id::MerchantId;
use serde::Serialize;
use serde_json::Value;
use wire::time;

use crate::app::App;
use crate::cli::context::{OfMerchant, actor};
use crate::cli::output::{self, Format};
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
    Erase(Erase),
    /// Export everything that is stored about a shopper as JSON.
    Export(Export),
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

/// Everything about a shopper.
#[derive(Serialize)]
struct ExportOut {
    merchant: String,
    exported_at: String,
    orders: Vec<OrderOut>,
}

/// The rows about one order, by table.
#[derive(Serialize)]
struct OrderOut {
    order: String,
    records: BTreeMap<String, Vec<Value>>,
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
    }
}

async fn export(export: &Export, app: &App) -> anyhow::Result<()> {
    let merchant = export.merchant.find(app).await?;
    let orders = match (&export.of.email, &export.of.order) {
        (Some(email), _) => orders_of_shopper(app, merchant.id, email).await?,
        (None, order) => order.iter().cloned().collect(),
    };
    let mut exported = Vec::with_capacity(orders.len());
    for order in orders {
        let Some(rows) = export_order(app, &actor(), merchant.id, &order).await? else {
            bail!("{} has no order {order}; nothing was exported", merchant.handle);
        };
        let mut records: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for row in rows {
            records.entry(row.table).or_default().push(row.row);
        }
        exported.push(OrderOut { order, records });
    }
    let whole = ExportOut { merchant: merchant.handle, exported_at: time::write(app.now()), orders: exported };
    // A file for the shopper, whatever format was asked for.
    output::one(Format::Json, &whole)
}

async fn erase(erase: &Erase, app: &App, format: Format) -> anyhow::Result<()> {
    let merchant = erase.merchant.find(app).await?.id;
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
