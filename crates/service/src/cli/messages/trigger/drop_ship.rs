//! The stories of drop-ship orders.

use domain::warehouse::drop_ship::Event;
use sandbox::samples;
use wire::warehouse::drop_ship::{self as wanted, DropShipOrderIn};

use super::played::{Played, Player, faulty, refused};
use crate::flow::warehouse::cancel_drop_ship_order::{Explanation, OrderEnd, cancel_drop_ship_items, end_drop_ship_order};
use crate::flow::warehouse::save_drop_ship_order::DropShipError;
use crate::flow::warehouse::ship_drop_ship_order::ship_drop_ship_order;
use crate::flow::warehouse::take_drop_ship_orders::take_drop_ship_orders;

/// The warehouse's explanations.
const NOT_FOUND: &str = "NOT_FOUND";
const DAMAGED: &str = "DAMAGED";

/// Submits an order, and lets the warehouse report on it.
pub(super) async fn play(player: &Player<'_>, event: Event) -> anyhow::Result<Played> {
    let Player { app, name, .. } = player;
    let merchant = player.id();
    let body = player.send("order", samples::drop_ship_order(name))?;
    let sent = wanted::read(body.as_bytes()).map_err(refused("order"))?;
    let given: Vec<_> = sent.orders.iter().map(DropShipOrderIn::content).collect();
    take_drop_ship_orders(app, merchant, &given).await?;
    let report = |sample| player.send("report", sample);
    let reported = match event {
        Event::Confirmed => {
            let body = report(samples::drop_shipment(name, 2))?;
            let shipped = wanted::read_ship(body.as_bytes()).map_err(refused("report"))?.content();
            ship_drop_ship_order(app, merchant, name, &shipped).await
        }
        Event::PartiallyCancelled => {
            let body = report(samples::cancelled_unit(name))?;
            let cancelled = wanted::read_cancel_items(body.as_bytes()).map_err(refused("report"))?.content();
            cancel_drop_ship_items(app, merchant, name, &cancelled).await
        }
        Event::Cancelled => {
            let body = report(samples::drop_ship_end(NOT_FOUND))?;
            let why = wanted::read_cancel(body.as_bytes()).map_err(refused("report"))?;
            let reject_reason = why.reject_reason.as_ref().map(|reason| &*reason.0);
            let why = Explanation { reject_reason, comments: why.comments.as_ref().map(|comments| &*comments.0) };
            end_drop_ship_order(app, merchant, name, OrderEnd::Cancelled, why).await
        }
        Event::Rejected => {
            let body = report(samples::drop_ship_end(DAMAGED))?;
            let why = wanted::read_reject(body.as_bytes()).map_err(refused("report"))?;
            let comments = why.comments.as_ref().map(|comments| &*comments.0);
            let why = Explanation { reject_reason: Some(&why.reject_reason.0), comments };
            end_drop_ship_order(app, merchant, name, OrderEnd::Rejected, why).await
        }
    };
    reported.map_err(|error| match error {
        DropShipError::Faulty(faults) => faulty("report", &faults),
        error @ (DropShipError::NoSuchOrder | DropShipError::IdentifierUsed | DropShipError::Refused(_) | DropShipError::Failed(_)) => {
            error.into()
        }
    })?;
    Ok(Played { subject: name.clone(), made_for: None })
}
