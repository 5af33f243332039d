//! `backhaul shopper …`: what merchants ask for when a shopper wants to be forgotten.

use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use domain::id::{Handle, MerchantId};
use serde::Serialize;

use super::output::{self, Format};
use super::{actor, merchant};
use crate::app::App;
use crate::flow::erase_shopper::{EraseShopperError, Erased, Of, discard_owed, erase_shopper, orders_of_shopper};

/// How often is looked whether what was discarded is gone, and for how long.
const LOOK_EVERY: Duration = Duration::from_millis(500);
const LOOKS: u32 = 120;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Erase a shopper: overwrite what is personal of their orders, returns and messages. It cannot be undone.
    Erase(Erase),
}

#[derive(Args)]
pub(super) struct Erase {
    /// Whose shopper.
    #[arg(long)]
    merchant: Handle,
    #[command(flatten)]
    of: Whose,
    /// Discard what is still owed or in the failure queue, instead of waiting for its delivery.
    #[arg(long)]
    discard: bool,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct Whose {
    /// Every order with this e-mail address.
    #[arg(long)]
    email: Option<String>,
    /// This order.
    #[arg(long)]
    order: Option<String>,
    /// This drop-ship order, by the merchant's name for it; no e-mail address is known of those.
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

pub(super) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    let Command::Erase(erase) = command;
    let whose = merchant(app, &erase.merchant).await?.id;
    let (mut rows, mut left) = (Vec::new(), false);
    for of in find(app, whose, &erase.of).await? {
        let (Of::Order(order) | Of::DropShipOrder(order)) = &of;
        let order = order.clone();
        rows.push(match attempt(app, whose, &of, erase.discard).await {
            Ok(erased) => Row { order, result: "erased".to_owned(), returns: erased.returns, messages: erased.messages },
            Err(EraseShopperError::Failed(failed)) => return Err(failed).context("what was erased so far stays so; try again"),
            Err(refused) => {
                left = true;
                Row { order, result: refused.to_string(), returns: 0, messages: 0 }
            }
        });
    }
    let empty = format!("{} has no order of this shopper.", erase.merchant);
    output::list(format, &rows, &empty, &["ORDER", "RESULT", "RETURNS", "MESSAGES"], |row| {
        vec![row.order.clone(), row.result.clone(), row.returns.to_string(), row.messages.to_string()]
    })?;
    if left {
        bail!("not everything was erased; the list says what stands in the way");
    }
    Ok(())
}

async fn find(app: &App, merchant: MerchantId, of: &Whose) -> anyhow::Result<Vec<Of>> {
    let orders = match (&of.email, &of.order, &of.drop_ship_order) {
        (Some(email), ..) => orders_of_shopper(app, merchant, email).await?.into_iter().map(Of::Order).collect(),
        (None, order, drop_ship) => {
            let named = order.iter().cloned().map(Of::Order);
            named.chain(drop_ship.iter().cloned().map(Of::DropShipOrder)).collect()
        }
    };
    Ok(orders)
}

/// Erases one order. Whoever delivers is waited for to discard what is owed.
async fn attempt(app: &App, merchant: MerchantId, of: &Of, discard: bool) -> Result<Erased, EraseShopperError> {
    let actor = actor();
    if discard {
        discard_owed(app, &actor, merchant, of).await?;
    }
    let mut looks = 0;
    loop {
        match erase_shopper(app, &actor, merchant, of).await {
            Err(EraseShopperError::Owed(_)) if discard && looks < LOOKS => {
                looks += 1;
                tokio::time::sleep(LOOK_EVERY).await;
            }
            done => return done,
        }
    }
}
