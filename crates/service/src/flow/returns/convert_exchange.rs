//! The operator converts an exchange that cannot be placed into refunds, once its message is in the failure queue.

use domain::id::MerchantId;
use domain::returns::rma::ExchangeState;
use store::Failed;
use store::merchants::audit::{self, Entry};
use store::messages::{deliveries, failures};
use store::returns::{exchange_orders, rmas};

use super::place_exchange::convert;
use crate::app::App;

/// The reasons an exchange cannot be converted.
#[derive(Debug, thiserror::Error)]
pub enum ConvertExchangeError {
    #[error("the merchant has no such return")]
    NoSuchReturn,
    #[error("the return has no exchange, so there is nothing to convert")]
    NoExchange,
    #[error("the exchange order is already {0}, so it cannot be converted into refunds")]
    Ended(ExchangeState),
    /// The merchant may still place the order.
    #[error(
        "the exchange order is still owed and is retried automatically; it can be converted into refunds once it is in the failure queue"
    )]
    StillOwed,
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Refunds the units of a return that were to be exchanged, and discards the message with the exchange order.
pub async fn convert_exchange(app: &App, actor: &str, merchant: MerchantId, identifier: &str) -> Result<(), ConvertExchangeError> {
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    let mut kept = rmas::lock(&mut tx, identifier).await?.ok_or(ConvertExchangeError::NoSuchReturn)?;
    let exchange = exchange_orders::lock(&mut tx, &kept.order).await?.filter(|exchange| exchange.rma == kept.id);
    let exchange = exchange.ok_or(ConvertExchangeError::NoExchange)?;
    if exchange.state != ExchangeState::Pending {
        return Err(ConvertExchangeError::Ended(exchange.state));
    }
    // A retry locks the entry in the failure queue, so either it waits for us or we see the message that it owes.
    let given_up = failures::discard(&mut tx, exchange.message).await?;
    if !given_up || deliveries::is_owed(&mut tx, exchange.message).await? {
        return Err(ConvertExchangeError::StillOwed);
    }
    convert(app, &mut tx, &exchange, &mut kept, now).await?;
    let entry = Entry { id: app.mint(), actor, action: "exchange.converted", detail: &kept.identifier, done_at: now };
    audit::record(&mut tx, entry).await?;
    Ok(app.commit(tx).await?)
}
