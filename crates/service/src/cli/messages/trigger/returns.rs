//! The stories of returns and exchanges.

use anyhow::{Context as _, anyhow};
use bytes::Bytes;
use chrono::TimeDelta;
use domain::returns::rma::policy::Policy;
use domain::returns::rma::{Event, Refused};
use sandbox::{samples, shop};
use serde_json::Value;
use store::returns::return_policies;
use wire::returns::{api, carrier};
use wire::warehouse::receiving;

use super::played::{Played, Player, faulty, refused};
use crate::cli::context::actor;
use crate::flow::orders::accept_orders::accept_orders;
use crate::flow::returns::cancel_return::cancel_return;
use crate::flow::returns::carrier_event::{CarrierEventError, carrier_event};
use crate::flow::returns::receive_return::{CloseReceivingError, close_receiving};
use crate::flow::returns::record_exchange::{RecordExchangeError, record_exchange};
use crate::flow::returns::resend_return::resend_return;
use crate::flow::returns::start_return::{StartReturnError, start_return};
use crate::flow::warehouse::receive_units::{ReceiveUnitsError, receive_units};

/// The units that come back where a refund is to cover only a part.
const UNITS: u32 = 2;
/// The reason for which most merchants take goods back, and offer an exchange.
const REASON: &str = "TOO_SMALL";

/// The requests that lead to an event of a return. Two events take a merchant's system that fails in a certain way.
pub(super) fn requests(event: Event) -> Option<&'static [&'static str]> {
    match event {
        Event::Created | Event::ReceivingClosed | Event::Cancelled | Event::ExchangePlaced | Event::Resent => Some(&["order", "return"]),
        Event::TrackingUpdated => Some(&["order", "return", "label", "scan"]),
        Event::Received => Some(&["order", "return", "receipt"]),
        Event::RefundRecorded | Event::PartiallyRefunded | Event::Refunded => Some(&["order", "return", "refund"]),
        Event::ExchangeIdentified | Event::ExchangeConverted => None,
    }
}

/// Plays a return up to this event.
pub(super) async fn play(player: &Player<'_>, event: Event) -> anyhow::Result<Played> {
    if event == Event::ExchangePlaced {
        return place_exchange(player).await;
    }
    let units = if matches!(event, Event::RefundRecorded | Event::PartiallyRefunded) { UNITS } else { 1 };
    let (order, rma) = start(player, Wanted::Refund(units)).await?;
    let (app, merchant) = (player.app, player.id());
    match event {
        Event::Created | Event::ExchangePlaced | Event::ExchangeIdentified | Event::ExchangeConverted => {}
        Event::TrackingUpdated => carry(player, &rma).await?,
        Event::Received => receive(player, &rma).await?,
        Event::ReceivingClosed => close(player, &rma).await?,
        Event::RefundRecorded | Event::Refunded => refund(player, order, &rma).await?,
        Event::PartiallyRefunded => {
            close(player, &rma).await?;
            refund(player, order, &rma).await?;
        }
        Event::Cancelled => drop(cancel_return(app, &actor(), merchant, &rma, "triggered").await?),
        Event::Resent => drop(resend_return(app, &actor(), merchant, &rma).await?.context("the return is gone")?),
    }
    Ok(Played { subject: rma, made_for: Some(player.name.clone()) })
}

/// Exchanges a unit for the next size. The merchant's system is asked for its variants on the way.
pub(super) async fn exchange(player: &Player<'_>) -> anyhow::Result<Played> {
    let (_, rma) = start(player, Wanted::Exchange).await?;
    Ok(Played { subject: player.name.clone(), made_for: Some(rma) })
}

/// Exchanges a unit, and names the order that the merchant has placed for it, unless its system was faster.
async fn place_exchange(player: &Player<'_>) -> anyhow::Result<Played> {
    let (_, rma) = start(player, Wanted::Exchange).await?;
    let placed = format!("X-{}", player.name);
    match record_exchange(player.app, &actor(), player.id(), &player.name, &placed).await {
        Ok(_) | Err(RecordExchangeError::OtherOrder(_)) => Ok(Played { subject: rma, made_for: Some(player.name.clone()) }),
        Err(error) => Err(error.into()),
    }
}

/// The wish of the shopper.
#[derive(Clone, Copy)]
enum Wanted {
    /// The money for so many units.
    Refund(u32),
    /// The next size.
    Exchange,
}

/// Pushes an order and starts a return of it. Returns the order, and the return's identifier.
async fn start(player: &Player<'_>, wanted: Wanted) -> anyhow::Result<(Value, String)> {
    let Player { app, name, .. } = player;
    let units = match wanted {
        Wanted::Refund(units) => units,
        Wanted::Exchange => 1,
    };
    let order = player.bodies.send("order", samples::order(name, units, app.now()))?;
    push(player, "order", &order).await?;
    let policy = return_policies::current(app.store(player.id()), player.id()).await?;
    let (method, reason) = offered(&policy)?;
    let body = match wanted {
        Wanted::Refund(units) => samples::return_of(name, units, method, reason),
        Wanted::Exchange => samples::exchange_of(name, method, reason),
    };
    let body = player.send("return", body)?;
    let request = api::read(body.as_bytes()).map_err(refused("return"))?;
    let started = start_return(app, None, player.id(), &request, None).await.map_err(|error| match error {
        StartReturnError::Faulty(faults) => faulty("return", &faults),
        error
        @ (StartReturnError::NoSuchOrder | StartReturnError::KeyUsed | StartReturnError::Options(_) | StartReturnError::Failed(_)) => {
            error.into()
        }
    })?;
    Ok((order, started.identifier()?))
}

/// A return method and a reason that the merchant offers.
fn offered(policy: &Policy) -> anyhow::Result<(&'static str, &str)> {
    let method = policy.offers.first().map(|offer| offer.method.as_str());
    let reason = policy.reasons.iter().find(|reason| *reason == REASON).or(policy.reasons.first());
    method.zip(reason.map(String::as_str)).context("the merchant's policy offers no return; change it with `backhaul policy set`")
}

/// Pushes an order, as the merchant's order system would.
async fn push(player: &Player<'_>, name: &'static str, order: &Value) -> anyhow::Result<()> {
    let body = Bytes::from(shop::message(std::slice::from_ref(order)));
    let message = wire::orders::order::read(&body).map_err(refused(name))?;
    accept_orders(player.app, player.id(), message, &body).await?;
    Ok(())
}

/// Lets a carrier label the parcel, unless it has a label already, and scan it.
async fn carry(player: &Player<'_>, rma: &str) -> anyhow::Result<()> {
    let Player { app, name, .. } = player;
    let number = format!("T-{name}");
    let report = |request: &'static str, event: &str| {
        let body = player.send(request, samples::carrier_event(event, rma, &number, app.now()));
        async move {
            let body = body?;
            let event = carrier::read(body.as_bytes()).map_err(refused(request))?;
            anyhow::Ok(carrier_event(app, player.id(), &event).await)
        }
    };
    match report("label", "label_issued").await? {
        // The merchant's own carrier was faster.
        Ok(_) | Err(CarrierEventError::Refused(_)) => {}
        Err(error) => return Err(error.into()),
    }
    report("scan", "in_transit").await??;
    Ok(())
}

/// Lets a warehouse receive a unit of the return.
async fn receive(player: &Player<'_>, rma: &str) -> anyhow::Result<()> {
    let warehouse = player.warehouse().await?;
    let unit = format!("LP-{}", player.name);
    let body = player.bodies.send("receipt", samples::receipt_for(&unit, rma, &player.name, warehouse.as_str()))?;
    let body = samples::receipts(&[body]);
    let message = receiving::read(body.as_bytes()).map_err(refused("receipt"))?;
    match receive_units(player.app, player.id(), &message.units.0).await {
        Ok(_) => Ok(()),
        Err(ReceiveUnitsError::NotManaged(_)) => Err(unmanaged(player)),
        Err(error @ (ReceiveUnitsError::UnknownWarehouse(_) | ReceiveUnitsError::Failed(_))) => Err(error.into()),
    }
}

/// Closes the receiving of the return.
async fn close(player: &Player<'_>, rma: &str) -> anyhow::Result<()> {
    match close_receiving(player.app, player.id(), rma).await {
        Ok(_) => Ok(()),
        Err(CloseReceivingError::Refused(Refused::NotReceiving)) => Err(unmanaged(player)),
        Err(error) => Err(error.into()),
    }
}

/// The merchant receives its returns itself.
fn unmanaged(player: &Player<'_>) -> anyhow::Error {
    let handle = &player.merchant.handle;
    anyhow!(
        "the warehouse does not receive returns for {handle}; let it with `backhaul policy set --merchant {handle} --managed-receiving on`"
    )
}

/// Refunds a unit.
async fn refund(player: &Player<'_>, order: Value, rma: &str) -> anyhow::Result<()> {
    let Player { app, name, .. } = player;
    let refund = player.bodies.send("refund", samples::refund(&format!("REFUND-{name}"), name, rma, app.now()))?;
    // A later message of an order is newer than the one before.
    push(player, "refund", &samples::refunded(order, &[refund], app.now() + TimeDelta::seconds(1))).await
}
