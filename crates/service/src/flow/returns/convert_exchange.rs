//! An exchange is converted into refunds, by the operator or the merchant: once its message is in the failure queue, or if it was
//! placed and nobody knows the order.

use domain::id::MerchantId;
use domain::returns::rma::{ExchangeState, Status};
use domain::returns::work::WorkKind;
use store::Failed;
use store::merchants::audit::{self, Entry};
use store::messages::{attempts, deliveries, failures};
use store::returns::{exchange_orders, rmas, work_items};

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
    #[error("the return is refunded, which is final; refund the exchanged units outside of the return")]
    Settled,
    /// The order may exist, so a person has to check.
    #[error("the exchange needs a confirmation to be converted into refunds: {0}")]
    Unconfirmed(Doubt),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// The reasons the order of an exchange may exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Doubt {
    #[error("an attempt has no recorded answer, so the merchant may have placed the order")]
    NoAnswer,
    #[error("the merchant has placed the order without naming it")]
    NoIdentifier,
}

/// Refunds the units of a return that were to be exchanged, and discards the message with the exchange order. If the order may exist,
/// somebody must have `confirmed` that it does not, or is cancelled.
pub async fn convert_exchange(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    identifier: &str,
    confirmed: bool,
) -> Result<(), ConvertExchangeError> {
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    let mut kept = rmas::lock(&mut tx, identifier).await?.ok_or(ConvertExchangeError::NoSuchReturn)?;
    let exchange = exchange_orders::lock(&mut tx, &kept.order).await?.filter(|exchange| exchange.rma == kept.id);
    let exchange = exchange.ok_or(ConvertExchangeError::NoExchange)?;
    let has_name = exchange.placed.as_ref().is_some_and(|placed| placed.order_identifier.is_some());
    let doubt = match exchange.state {
        ExchangeState::Placed if !has_name => Some(Doubt::NoIdentifier),
        ExchangeState::Placed | ExchangeState::Converted => return Err(ConvertExchangeError::Ended(exchange.state)),
        // A retry holds the exchange, so either it waits for us or we see the message that it owes.
        ExchangeState::Pending if !failures::discard(&mut tx, exchange.message).await? => return Err(ConvertExchangeError::StillOwed),
        ExchangeState::Pending => (!attempts::were_answered(&mut tx, exchange.message).await?).then_some(Doubt::NoAnswer),
    };
    if deliveries::is_owed(&mut tx, exchange.message).await? {
        return Err(ConvertExchangeError::StillOwed);
    }
    if kept.rma.status == Status::Refunded {
        return Err(ConvertExchangeError::Settled);
    }
    if let Some(doubt) = doubt.filter(|_| !confirmed) {
        return Err(ConvertExchangeError::Unconfirmed(doubt));
    }
    convert(app, &mut tx, &exchange, &mut kept, now).await?;
    work_items::close(&mut tx, WorkKind::ExchangeUnidentified, &kept.identifier, now).await?;
    let entry = Entry { id: app.mint(), actor, action: "exchange.converted", detail: &kept.identifier, done_at: now };
    audit::record(&mut tx, entry).await?;
    Ok(app.commit(tx).await?)
}
