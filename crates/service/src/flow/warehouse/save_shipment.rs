//! Saves a changed shipment, and owes the merchant one message for each of its parts in the same transaction. Only a few parts are
//! in memory at a time, however many units the shipment has.

use chrono::{DateTime, Utc};
use domain::messages::message::{Interface, Kind};
use domain::warehouse::shipment::Event;
use domain::warehouse::shipment::split::{self, MOST_LINES};
use store::messages::outbox::Message;
use store::warehouse::shipment_units::{self, Lines, Part};
use store::warehouse::shipments::{self, Shipment};
use store::{Failed, Tx};

use crate::app::App;
use crate::show::warehouse::shipments as shown;

/// The number of parts whose messages are in memory at a time.
const WRITTEN_TOGETHER: u32 = 8;

/// A position before the first line of any shipment.
const BEGINNING: (u32, u32) = (0, 0);

/// The reasons the units of a shipment cannot be fixed.
#[derive(Debug, thiserror::Error)]
pub(super) enum FixError {
    /// The number of a part belongs to another shipment.
    #[error("another shipment has the number {0}, which a part of this one needs")]
    NumberTaken(String),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Fixes the units of a shipment, which must be locked and have some: splits them into parts, and takes the parts' numbers.
pub(super) async fn fix_units(tx: &mut Tx, shipment: &mut Shipment) -> Result<(), FixError> {
    shipment.parts = split::parts(shipment.units);
    if shipment.parts > 1 {
        let numbers: Vec<String> = shipment.number.sent(shipment.parts).collect();
        if let Some(taken) = shipments::take_numbers(tx, shipment.id, &numbers).await? {
            return Err(FixError::NumberTaken(taken));
        }
    }
    Ok(())
}

/// Saves a changed shipment, and owes the messages on it if there is an `event`. The shipment must be locked.
pub(super) async fn save_change(
    app: &App,
    tx: &mut Tx,
    shipment: &mut Shipment,
    event: Option<Event>,
    now: DateTime<Utc>,
) -> Result<(), Failed> {
    if let Some(event) = event {
        owe_parts(app, tx, shipment, event, now).await?;
    }
    shipments::save(tx, shipment).await
}

/// Owes a message for each part of a shipment whose units are fixed. The first time, the parts are inserted too.
async fn owe_parts(app: &App, tx: &mut Tx, shipment: &mut Shipment, event: Event, now: DateTime<Utc>) -> Result<(), Failed> {
    let is_split = shipment.sequence > 0;
    shipment.sequence += 1;
    let mut next = BEGINNING;
    for (nth, lines) in (1..).zip(split::split(shipment.units)) {
        let (from, most) = if is_split {
            let part = shipment_units::part(tx, shipment.id, nth).await?;
            (part.first, part.lines)
        } else {
            (next, lines.end - lines.start)
        };
        let lines = shipment_units::lines_from(tx, shipment.id, from, most).await?;
        let lines = lines.ok_or(Failed::Internal("a part of a shipment has no lines"))?;
        let asn_number = shipment.number.of_part(nth, shipment.parts);
        if !is_split {
            let count = u32::try_from(lines.units.len()).unwrap_or(MOST_LINES);
            let part = Part { asn_number: asn_number.clone(), first: lines.first, lines: count };
            shipment_units::insert_part(tx, shipment.id, nth, &part).await?;
            next = (lines.last.0, lines.last.1 + 1);
        }
        owe(app, tx, shipment, &asn_number, &lines, event, now)?;
        if nth % WRITTEN_TOGETHER == 0 {
            tx.write_early().await?;
        }
    }
    Ok(())
}

fn owe(
    app: &App,
    tx: &mut Tx,
    shipment: &Shipment,
    asn_number: &str,
    lines: &Lines,
    event: Event,
    now: DateTime<Utc>,
) -> Result<(), Failed> {
    let body = shown::message(shipment, asn_number, lines, now).render();
    let body = body.map_err(|_| Failed::Internal("a message on a shipment could not be written"))?;
    tx.owe(Message {
        id: app.mint(),
        kind: Kind::Of(Interface::OutboundAsn),
        event: event.as_str(),
        subject: asn_number.to_owned(),
        sequence: shipment.sequence,
        body,
        due_at: now,
    });
    Ok(())
}
