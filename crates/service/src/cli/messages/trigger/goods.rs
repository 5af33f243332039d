//! The stories of goods that arrive at a warehouse and leave it.

use domain::warehouse::shipment::{Act, Event};
use sandbox::samples;
use sha2::{Digest as _, Sha256};
use wire::warehouse::outbound_shipment as wanted;
use wire::warehouse::{inbound, receiving};

use super::played::{Played, Player, faulty, refused};
use crate::flow::warehouse::add_units::add_units;
use crate::flow::warehouse::announce_asns::announce;
use crate::flow::warehouse::create_shipment::{CreateShipmentError, create_shipment};
use crate::flow::warehouse::move_shipment::{change_shipment, move_shipment};
use crate::flow::warehouse::receive_units::receive_units;
use crate::show;

/// The requests that lead to an event of a shipment, the one that it is about last.
pub(super) fn requests(event: Event) -> &'static [&'static str] {
    match event {
        Event::Pending | Event::Shipped | Event::Delivered | Event::Cancelled => &["units", "shipment"],
        Event::ShipDateChanged | Event::TransportChanged => &["shipment", "units", "change"],
    }
}

/// Announces a unit to a warehouse, and lets it arrive.
pub(super) async fn receive(player: &Player<'_>) -> anyhow::Result<Played> {
    let Player { app, name, .. } = player;
    let warehouse = player.warehouse().await?;
    let body = player.bodies.send("asn", samples::inbound_asn(name))?;
    let body = samples::inbound_asns(&[body]);
    let sent = inbound::read(body.as_bytes()).map_err(refused("asn"))?;
    let asns: Vec<_> = sent.inbound_asns.0.iter().map(show::warehouse::inbound::asn).collect();
    announce(app, player.id(), &asns).await?;
    let unit = format!("LP-{name}");
    let body = player.bodies.send("receipt", samples::receipt(&unit, name, warehouse.as_str()))?;
    let body = samples::receipts(&[body]);
    let message = receiving::read(body.as_bytes()).map_err(refused("receipt"))?;
    receive_units(app, player.id(), &message.units.0).await?;
    Ok(Played { subject: unit, made_for: Some(name.clone()) })
}

/// Ships a unit to a vendor, up to this event.
pub(super) async fn ship(player: &Player<'_>, event: Event) -> anyhow::Result<Played> {
    let Player { app, name, .. } = player;
    let merchant = player.id();
    let (warehouse, vendor) = (player.warehouse().await?, player.vendor().await?);
    let body = player.send("shipment", samples::shipment(name, warehouse.as_str(), vendor, app.now()))?;
    let asked = wanted::read_create(body.as_bytes()).map_err(refused("shipment"))?;
    let request_hash = Sha256::digest(wanted::canonical(body.as_bytes())).into();
    let checked = asked.check().map_err(refused("shipment"))?;
    create_shipment(app, merchant, &checked, request_hash).await.map_err(|error| match error {
        CreateShipmentError::Faulty(faults) => faulty("shipment", &faults),
        error @ (CreateShipmentError::NumberTaken | CreateShipmentError::Failed(_)) => error.into(),
    })?;
    let body = player.send("units", samples::shipment_units(name))?;
    let units = wanted::read_units(body.as_bytes()).map_err(refused("units"))?;
    add_units(app, merchant, name, &units).await?;
    let acts: &[Act] = match event {
        Event::Pending | Event::ShipDateChanged | Event::TransportChanged => &[Act::Announce],
        Event::Shipped => &[Act::Ship],
        Event::Delivered => &[Act::Ship, Act::Deliver],
        Event::Cancelled => &[Act::Announce, Act::Cancel],
    };
    for act in acts {
        move_shipment(app, merchant, name, *act).await?;
    }
    let change = match event {
        Event::ShipDateChanged => Some(samples::postponement(app.now())),
        Event::TransportChanged => Some(samples::other_transport(name)),
        Event::Pending | Event::Shipped | Event::Delivered | Event::Cancelled => None,
    };
    if let Some(change) = change {
        let body = player.send("change", change)?;
        let change = wanted::read_change(body.as_bytes()).map_err(refused("change"))?;
        change_shipment(app, merchant, name, &change).await?;
    }
    Ok(Played { subject: name.clone(), made_for: None })
}
