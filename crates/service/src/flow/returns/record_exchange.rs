//! Records the order that a merchant placed for an exchange, however it becomes known: by the answer to the exchange order, an order
//! message, the API, or the operator.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::returns::rma::{Event, ExchangeState, RefundType, Step};
use domain::returns::work::WorkKind;
use store::merchants::audit::{self, Entry};
use store::messages::{deliveries, failures};
use store::returns::exchange_orders::{self, Exchange, Placed};
use store::returns::rmas::{self, Return};
use store::returns::work_items::{self, WorkItem};
use store::{Failed, Tx};

use super::save_return::save_change;
use crate::app::App;

/// The reasons an order cannot be recorded for an exchange.
#[derive(Debug, thiserror::Error)]
pub enum RecordExchangeError {
    #[error("the order {0} was not exchanged")]
    NoExchange(String),
    /// Carries the identifier that is known.
    #[error("the exchange order is already known as {0}, and an exchange has one order")]
    OtherOrder(String),
    #[error(
        "the exchange was converted into refunds before, so the shopper would get both; a case on the work list asks to cancel the order or the refund"
    )]
    Converted,
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// The effect of recording an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::flow) enum Recorded {
    /// The exchange is placed, or identified.
    Now,
    /// It was known before.
    Before,
    /// Another order is known, with this identifier.
    Other(String),
    /// The exchange was converted into refunds before.
    Converted,
}

/// Records the order that the merchant placed for the exchange of the order `original`. Returns the identifier of the return.
pub async fn record_exchange(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    original: &str,
    order_identifier: &str,
) -> Result<String, RecordExchangeError> {
    let mut tx = app.begin(merchant).await?;
    let Some((rma, recorded)) = record_named(app, &mut tx, original, order_identifier).await? else {
        return Err(RecordExchangeError::NoExchange(original.to_owned()));
    };
    if recorded == Recorded::Now {
        let entry = Entry { id: app.mint(), actor, action: "exchange.recorded", detail: &rma, done_at: app.now() };
        audit::record(&mut tx, entry).await?;
    }
    // A case that was opened stays, though the request is refused.
    app.commit(tx).await?;
    match recorded {
        Recorded::Now | Recorded::Before => Ok(rma),
        Recorded::Other(known) => Err(RecordExchangeError::OtherOrder(known)),
        Recorded::Converted => Err(RecordExchangeError::Converted),
    }
}

/// Records the order that the merchant names for the exchange of the order `original`. A request for it that is owed or failed is
/// over: the order exists. Returns the identifier of the return with the effect, or `None` if there is no such exchange.
pub(in crate::flow) async fn record_named(
    app: &App,
    tx: &mut Tx,
    original: &str,
    order_identifier: &str,
) -> Result<Option<(String, Recorded)>, Failed> {
    let Some(exchange) = exchange_orders::of_order(tx, original).await? else { return Ok(None) };
    let Some(mut kept) = rmas::lock_by_id(tx, exchange.rma).await? else { return Ok(None) };
    let Some(exchange) = exchange_orders::lock(tx, original).await? else { return Ok(None) };
    if exchange.state == ExchangeState::Pending {
        failures::discard(tx, exchange.message).await?;
        deliveries::discard(tx, exchange.message).await?;
    }
    let placed = Placed { order_identifier: Some(order_identifier.to_owned()), ..Placed::default() };
    let recorded = record(app, tx, &exchange, &mut kept, &placed, app.now()).await?;
    Ok(Some((kept.identifier, recorded)))
}

/// Puts a placed order on its return, or its identifier if that was missing. The first identifier counts. The return and the exchange
/// must be locked.
pub(super) async fn record(
    app: &App,
    tx: &mut Tx,
    exchange: &Exchange,
    kept: &mut Return,
    placed: &Placed,
    now: DateTime<Utc>,
) -> Result<Recorded, Failed> {
    let known = exchange.placed.as_ref().and_then(|placed| placed.order_identifier.as_deref());
    match (exchange.state, known, placed.order_identifier.as_deref()) {
        (ExchangeState::Pending, _, identifier) => {
            exchange_orders::place(tx, &exchange.original_order, placed, now).await?;
            name_units(kept, identifier);
            if let Step::Moved(event) = kept.rma.place_exchange() {
                save_change(app, tx, kept, event, now).await?;
            }
            Ok(Recorded::Now)
        }
        (ExchangeState::Placed, None, Some(identifier)) => {
            exchange_orders::identify(tx, &exchange.original_order, identifier).await?;
            work_items::close(tx, WorkKind::ExchangeUnidentified, &kept.identifier, now).await?;
            name_units(kept, Some(identifier));
            save_change(app, tx, kept, Event::ExchangeIdentified, now).await?;
            Ok(Recorded::Now)
        }
        (ExchangeState::Placed, Some(known), Some(identifier)) if known != identifier => Ok(Recorded::Other(known.to_owned())),
        (ExchangeState::Placed, _, _) => Ok(Recorded::Before),
        (ExchangeState::Converted, Some(known), Some(identifier)) if known == identifier => Ok(Recorded::Converted),
        (ExchangeState::Converted, _, identifier) => {
            if let (None, Some(identifier)) = (known, identifier) {
                exchange_orders::identify(tx, &exchange.original_order, identifier).await?;
            }
            let (order, original) = (identifier.unwrap_or("without an identifier"), &exchange.original_order);
            let reason = format!(
                "The merchant placed the order {order} for the exchange of the order {original}, but the exchange had been converted into \
                 refunds. Ask the merchant to cancel the order, or not to refund the return."
            );
            let kind = WorkKind::ExchangeAfterConversion;
            work_items::open(tx, &WorkItem { id: app.mint(), kind, subject: kept.identifier.clone(), reason, opened_at: now }).await?;
            Ok(Recorded::Converted)
        }
    }
}

/// Puts the identifier of the exchange order on the exchanged units.
fn name_units(kept: &mut Return, identifier: Option<&str>) {
    for (unit, item) in kept.rma.units.iter().zip(&mut kept.items) {
        if unit.refund_type != RefundType::Refund {
            item.exchange_order = identifier.map(ToOwned::to_owned);
        }
    }
}
