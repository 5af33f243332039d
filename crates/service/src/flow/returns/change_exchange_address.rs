//! A pending exchange order goes to another address, because the shopper asked for it: once its message is in the failure queue, so
//! that nobody may be placing it at the same time.

use domain::id::MerchantId;
use domain::messages::message::{Interface, Kind};
use domain::returns::rma::ExchangeState;
use store::Failed;
use store::merchants::audit::{self, Entry};
use store::messages::outbox::Message;
use store::messages::{attempts, deliveries, endpoints, failures, log};
use store::returns::{exchange_orders, rmas};
use wire::returns::exchange_address::readdressed;
use wire::returns::exchange_order::{EVENT, ExchangeAddress};

use super::convert_exchange::Doubt;
use crate::app::App;

/// The reasons the address of an exchange cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeExchangeAddressError {
    #[error("the merchant has no such return")]
    NoSuchReturn,
    #[error("the return has no exchange, so there is no address to change")]
    NoExchange,
    #[error("the exchange order is already {0}, so its address cannot be changed here; ask the merchant")]
    Ended(ExchangeState),
    /// The merchant may be placing the order right now.
    #[error("the exchange order is still owed and is retried automatically; its address can be changed once it is in the failure queue")]
    StillOwed,
    #[error("the address cannot be used: {0}")]
    Faulty(&'static str),
    #[error("the merchant has no endpoint for exchange orders; add one with `backhaul endpoint set --merchant HANDLE`, then try again")]
    NoEndpoint,
    #[error("the content of the exchange order is gone, so it cannot be sent to another address; convert it into refunds instead")]
    Gone,
    /// The order may exist, so a person has to check.
    #[error("the address needs a confirmation to be changed: {0}")]
    Unconfirmed(Doubt),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Asks the merchant for the exchange order of a return once more, with another shipping address. It is a new message, because what
/// was sent with an id is never altered. If the order may exist, somebody must have `confirmed` that it does not.
pub async fn change_exchange_address(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    identifier: &str,
    to: &ExchangeAddress<'_>,
    confirmed: bool,
) -> Result<(), ChangeExchangeAddressError> {
    if let Some(fault) = to.fault() {
        return Err(ChangeExchangeAddressError::Faulty(fault));
    }
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    let kept = rmas::lock(&mut tx, identifier).await?.ok_or(ChangeExchangeAddressError::NoSuchReturn)?;
    let exchange = exchange_orders::lock(&mut tx, &kept.order).await?.filter(|exchange| exchange.rma == kept.id);
    let exchange = exchange.ok_or(ChangeExchangeAddressError::NoExchange)?;
    if exchange.state != ExchangeState::Pending {
        return Err(ChangeExchangeAddressError::Ended(exchange.state));
    }
    // A retry holds the exchange, so either it waits for us or we see the message that it owes.
    if !failures::discard(&mut tx, exchange.message).await? || deliveries::is_owed(&mut tx, exchange.message).await? {
        return Err(ChangeExchangeAddressError::StillOwed);
    }
    if !confirmed && !attempts::were_answered(&mut tx, exchange.message).await? {
        return Err(ChangeExchangeAddressError::Unconfirmed(Doubt::NoAnswer));
    }
    let kind = Kind::Of(Interface::ExchangeOrder);
    if !endpoints::is_there(&mut tx, kind).await? {
        return Err(ChangeExchangeAddressError::NoEndpoint);
    }
    let asked = log::find_within(&mut tx, exchange.message).await?.filter(|asked| !asked.erased);
    let asked = asked.ok_or(ChangeExchangeAddressError::Gone)?;
    let message = app.mint();
    let body = readdressed(&asked.body, to, &message.to_string()).ok_or(ChangeExchangeAddressError::Gone)?;
    exchange_orders::ask_anew(&mut tx, &kept.order, message).await?;
    tx.owe(Message { id: message, kind, event: EVENT, subject: kept.order, sequence: asked.sequence + 1, body, due_at: now });
    let entry = Entry { id: app.mint(), actor, action: "exchange.readdressed", detail: &kept.identifier, done_at: now };
    audit::record(&mut tx, entry).await?;
    Ok(app.commit(tx).await?)
}
