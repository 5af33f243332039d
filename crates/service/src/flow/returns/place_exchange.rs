//! Exchange orders: owed when a return starts, applied to it when the merchant answers.
//!
//! Any 2xx means that the order was placed. All other answers are failures that are retried and end in the failure queue, where
//! people decide; only the refusals that a merchant has declared to be final turn the units into refunds at once.

use chrono::{DateTime, Utc};
use domain::messages::message::{Interface, Kind};
use domain::money::Cents;
use domain::returns::exchange::answer::{CANNOT_BE_PLACED, cannot_be_placed};
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

use super::record_exchange::record;
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
            let Some((exchange, mut kept)) = lock(tx, ending.message).await? else { return Ok(Followed::Settled) };
            match &ending.how {
                How::Delivered(_, answer) => {
                    let PlacedOrder { order_identifier, total, product, tax } = PlacedOrder::read(answer);
                    let placed = Placed { order_identifier, total, product, tax };
                    record(&self.0, tx, &exchange, &mut kept, &placed, ending.at).await?;
                    Ok(Followed::Settled)
                }
                How::Refused(_) | How::GivenUp if exchange.state == ExchangeState::Pending => {
                    if !cannot_be_placed_for_certain(tx, ending).await? {
                        return Ok(Followed::Settled);
                    }
                    convert(&self.0, tx, &exchange, &mut kept, ending.at).await?;
                    Ok(Followed::Withdrawn)
                }
                How::Refused(_) => Ok(Followed::Settled),
                // The order was named in the meantime, so nobody has to work on the request for it.
                How::GivenUp => Ok(Followed::Withdrawn),
            }
        })
    }

    fn handles_refusal(&self, status: u16) -> bool {
        cannot_be_placed(status)
    }
}

/// True if the merchant declares its refusals to be final, and every attempt ended with one. An attempt that ended otherwise may have
/// placed the order, and a refusal after that may mean that it is a duplicate.
async fn cannot_be_placed_for_certain(tx: &mut Tx, ending: &Ending) -> Result<bool, Failed> {
    let refused = |call: &Call| call.status.is_some_and(cannot_be_placed);
    // A refused token leads to another call of the same attempt.
    let unauthorized = |call: &Call| call.status == Some(401);
    let declared = ending.calls.last().is_some_and(refused) && ending.calls.iter().all(|call| refused(call) || unauthorized(call));
    if !declared || !return_policies::get(tx).await?.refusals_are_final {
        return Ok(false);
    }
    let known: Vec<Uuid> = ending.calls.iter().map(|call| call.id).collect();
    let before = ending.number.saturating_sub(1);
    attempts::were_answered_with(tx, ending.message, before, &known, &CANNOT_BE_PLACED.map(u16::cast_signed)).await
}

/// Locks the exchange of `message` and its return.
async fn lock(tx: &mut Tx, message: Uuid) -> Result<Option<(Exchange, Return)>, Failed> {
    let Some(exchange) = exchange_orders::of_message(tx, message).await? else { return Ok(None) };
    let Some(kept) = rmas::lock_by_id(tx, exchange.rma).await? else { return Ok(None) };
    let exchange = exchange_orders::lock(tx, &exchange.original_order).await?;
    Ok(exchange.map(|exchange| (exchange, kept)))
}

/// Converts an exchange into refunds. The return and the exchange must be locked; the caller withdraws the message.
pub(super) async fn convert(app: &App, tx: &mut Tx, exchange: &Exchange, kept: &mut Return, now: DateTime<Utc>) -> Result<(), Failed> {
    exchange_orders::convert(tx, &exchange.original_order, now).await?;
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
