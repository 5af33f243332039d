//! Exchange orders: owed when a return starts, applied to it when the merchant answers.
//!
//! Only the merchant's answer tells if the order was placed. A call without an answer, or with one that is not a 4xx, may have
//! placed it; then the units are not refunded until somebody has checked.

use chrono::{DateTime, Utc};
use domain::messages::message::{Interface, Kind};
use domain::money::Cents;
use domain::returns::exchange::answer::{REFUSALS, may_be_final};
use domain::returns::exchange::order::ExchangeOrder;
use domain::returns::rma::money::share_anew;
use domain::returns::rma::policy::{Policy, REMINDED_AFTER};
use domain::returns::rma::{ExchangeState, RefundType, Step, Unit};
use domain::returns::work::WorkKind;
use store::messages::outbox::Message;
use store::messages::{attempts, endpoints};
use store::returns::exchange_orders::{self, Exchange, Placed};
use store::returns::return_policies;
use store::returns::rmas::{self, Item, Return};
use store::returns::work_items::{self, WorkItem};
use store::{Failed, Tx};
use uuid::Uuid;
use wire::orders::order::OrderIn;
use wire::returns::exchange_order::{EVENT, ExchangeOrderMessage, PlacedOrder, Terms};

use super::save_return::save_change;
use crate::app::App;
use crate::delivery::reaction::{Call, Ending, Followed, How, Reacting, Reaction};

/// Owes the merchant the exchange order for the shopper's replacements. `None` if the merchant no longer takes exchange orders.
pub(super) async fn request_exchange(
    app: &App,
    tx: &mut Tx,
    new: &Return,
    order: &OrderIn<'_>,
    contents: &ExchangeOrder<'_>,
    policy: &Policy,
) -> Result<Option<Exchange>, Failed> {
    let kind = Kind::Of(Interface::ExchangeOrder);
    if !endpoints::is_there(tx, kind).await? {
        return Ok(None);
    }
    let message = app.mint();
    let (transaction, terms) = (message.to_string(), terms(policy));
    let body = ExchangeOrderMessage::new(order, &new.identifier, contents, &terms, &transaction).render();
    let body = body.map_err(|_| Failed::Internal("an exchange order could not be written"))?;
    let exchange = Exchange {
        original_order: new.order.clone(),
        rma: new.id,
        message,
        state: ExchangeState::Pending,
        gift_card: contents.gift_card.as_ref().map(|card| (card.value, card.bonus)),
        placed: None,
    };
    exchange_orders::insert(tx, &exchange, app.now()).await?;
    tx.owe(Message { id: message, kind, event: EVENT, subject: new.order.clone(), sequence: 1, body, due_at: app.now() });
    Ok(Some(exchange))
}

fn terms(policy: &Policy) -> Terms<'_> {
    Terms { gift_card_sku: policy.gift_card.as_ref().map(|terms| terms.sku.as_str()), concept: policy.concept.as_deref() }
}

/// The reaction to a merchant's answer to an exchange order, or to its absence.
pub struct ExchangeAnswered(pub App);

impl Reaction for ExchangeAnswered {
    fn react<'a>(&'a self, tx: &'a mut Tx, ending: &'a Ending) -> Reacting<'a> {
        Box::pin(async move {
            match &ending.how {
                How::Delivered(_, answer) => {
                    let placed =
                        PlacedOrder::read(answer).ok_or(Failed::Internal("the answer to an exchange order has no order_identifier"))?;
                    place(&self.0, tx, ending, placed).await.map(|()| Followed::Settled)
                }
                How::Refused(_) if !return_policies::get(tx).await?.refusals_are_final => Ok(Followed::Settled),
                How::Refused(_) | How::GivenUp => refund_if_refused(&self.0, tx, ending).await,
            }
        })
    }

    fn missing_in(&self, answer: &[u8]) -> Option<&'static str> {
        PlacedOrder::read(answer).is_none().then_some("the answer has no order_identifier")
    }

    fn handles_refusal(&self, status: u16) -> bool {
        may_be_final(status)
    }
}

/// Puts a placed order on its return. A repeat changes nothing, even if its answer differs.
async fn place(app: &App, tx: &mut Tx, ending: &Ending, answered: PlacedOrder) -> Result<(), Failed> {
    let Some((exchange, mut kept)) = lock_pending(tx, ending.message).await? else { return Ok(()) };
    let PlacedOrder { order_identifier, total, product, tax } = answered;
    let placed = Placed { order_identifier, total, product, tax };
    for (_, item) in kept.rma.units.iter().zip(&mut kept.items).filter(|(unit, _)| unit.exchange_owed) {
        item.exchange_order = Some(placed.order_identifier.clone());
    }
    exchange_orders::end(tx, &exchange.original_order, ExchangeState::Placed, Some(&placed), ending.at).await?;
    match kept.rma.place_exchange() {
        Step::Moved(event) => save_change(app, tx, &mut kept, event, ending.at).await,
        Step::Unchanged | Step::TooEarly => Ok(()),
    }
}

/// Refunds the units and withdraws the message, if the merchant has certainly not placed the order.
async fn refund_if_refused(app: &App, tx: &mut Tx, ending: &Ending) -> Result<Followed, Failed> {
    let refused = |call: &Call| call.status.is_some_and(|status| REFUSALS.contains(&status));
    let known: Vec<Uuid> = ending.calls.iter().map(|call| call.id).collect();
    let before = ending.number.saturating_sub(1);
    if !ending.calls.iter().all(refused) || !attempts::were_refused(tx, ending.message, before, &known, REFUSALS).await? {
        return Ok(Followed::Settled);
    }
    let Some((exchange, mut kept)) = lock_pending(tx, ending.message).await? else { return Ok(Followed::Settled) };
    convert(app, tx, &exchange, &mut kept, ending.at).await?;
    Ok(Followed::Withdrawn)
}

/// Locks the exchange of `message` and its return. `None` if the exchange is no longer pending.
async fn lock_pending(tx: &mut Tx, message: Uuid) -> Result<Option<(Exchange, Return)>, Failed> {
    let Some(exchange) = exchange_orders::of_message(tx, message).await? else { return Ok(None) };
    let Some(kept) = rmas::lock_by_id(tx, exchange.rma).await? else { return Ok(None) };
    let exchange = exchange_orders::lock(tx, &exchange.original_order).await?;
    Ok(exchange.filter(|exchange| exchange.state == ExchangeState::Pending).map(|exchange| (exchange, kept)))
}

/// Converts an exchange into refunds. The return and the exchange must be locked; the caller withdraws the message.
pub(super) async fn convert(app: &App, tx: &mut Tx, exchange: &Exchange, kept: &mut Return, now: DateTime<Utc>) -> Result<(), Failed> {
    exchange_orders::end(tx, &exchange.original_order, ExchangeState::Converted, None, now).await?;
    let refunded: Vec<bool> = kept.rma.units.iter().map(|unit| unit.refunded && unit.refund_type == RefundType::Refund).collect();
    let Step::Moved(event) = kept.rma.convert_exchange() else { return Ok(()) };
    share_fee_anew(kept, &refunded);
    if kept.rma.may_expire() {
        kept.wakes_at = Some((kept.created_at + REMINDED_AFTER).max(now));
    }
    if kept.rma.is_in_question() {
        let reason = "refunded while the exchange order was owed: is this the shopper's money?".to_owned();
        let (kind, subject) = (WorkKind::RefundInQuestion, kept.identifier.clone());
        work_items::open(tx, &WorkItem { id: app.mint(), kind, subject, reason, opened_at: now }).await?;
    }
    save_change(app, tx, kept, event, now).await
}

/// Shares the fee among the units to be refunded. Units that were already `refunded` keep their share.
fn share_fee_anew(kept: &mut Return, refunded: &[bool]) {
    let fee = if kept.fee_deducted { kept.shipping_cost } else { Cents::default() };
    let share = |((unit, item), refunded): ((&Unit, &Item), &bool)| (item.money, unit.refund_type, refunded.then_some(item.financials));
    let units: Vec<_> = kept.units().zip(refunded).map(share).collect();
    for (item, financials) in kept.items.iter_mut().zip(share_anew(&units, fee)) {
        item.financials = financials;
    }
}
