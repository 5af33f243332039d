//! The operator's people turn an exchange that cannot be placed into refunds, once its message is given up.

use domain::id::MerchantId;
use domain::returns::rma::ExchangeState;
use store::Failed;
use store::merchants::audit::{self, Entry};
use store::messages::{deliveries, failures};
use store::returns::{exchange_orders, rmas};

use super::place_exchange::convert;
use crate::app::App;

/// Why an exchange was not turned into refunds.
#[derive(Debug, thiserror::Error)]
pub enum ConvertExchangeError {
    /// The merchant has no such return.
    #[error("there is no such return")]
    NoSuchReturn,
    /// Nothing of it is exchanged.
    #[error("nothing of this return was to be exchanged")]
    NoExchange,
    /// It is over.
    #[error("the exchange order is {0} already")]
    Ended(ExchangeState),
    /// The merchant may still place it.
    #[error("the exchange order is still owed: it is tried again by itself, and can be turned into refunds once it is given up")]
    StillOwed,
    /// The database.
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Refunds what was to be exchanged of a return, and discards the message that asks for the exchange order.
pub async fn convert_exchange(app: &App, actor: &str, merchant: MerchantId, identifier: &str) -> Result<(), ConvertExchangeError> {
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    let mut kept = rmas::lock(&mut tx, identifier).await?.ok_or(ConvertExchangeError::NoSuchReturn)?;
    let exchange = exchange_orders::lock(&mut tx, &kept.order).await?.filter(|exchange| exchange.rma == kept.id);
    let exchange = exchange.ok_or(ConvertExchangeError::NoExchange)?;
    if exchange.state != ExchangeState::Pending {
        return Err(ConvertExchangeError::Ended(exchange.state));
    }
    // Whoever tries it again holds its entry in the failure queue, so that either they wait for us or we see what they owe.
    let given_up = failures::discard(&mut tx, exchange.message).await?;
    if !given_up || deliveries::is_owed(&mut tx, exchange.message).await? {
        return Err(ConvertExchangeError::StillOwed);
    }
    convert(app, &mut tx, &exchange, &mut kept, now).await?;
    let entry = Entry { id: app.mint(), actor, action: "exchange.converted", detail: &kept.identifier, done_at: now };
    audit::record(&mut tx, entry).await?;
    Ok(app.commit(tx).await?)
}
