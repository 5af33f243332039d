//! What every change of a shipment that is told has in common: one message for each of its parts, in the transaction of the
//! change. Only one part at a time is in memory, however many units the shipment has.

use chrono::{DateTime, Utc};
use domain::messages::message::{Interface, Kind};
use domain::warehouse::shipment::Event;
use domain::warehouse::shipment::split::{self, MOST_LINES};
use store::messages::outbox::Message;
use store::warehouse::shipment_units::{self, Lines, Part};
use store::warehouse::shipments::{self, Shipment};
use store::{Failed, Tx};

use crate::app::App;
use crate::show::warehouse::shipments as told;

/// The number of parts whose messages are in memory at a time.
const WRITTEN_TOGETHER: u32 = 8;

/// Where the first line of any shipment is at the earliest.
const BEGINNING: (u32, u32) = (0, 0);

/// Why the units of a shipment were not fixed.
#[derive(Debug, thiserror::Error)]
pub(in crate::flow) enum FixError {
    /// Another shipment has the number of a part.
    #[error("another shipment has the number {0}")]
    NumberTaken(String),
    /// The database.
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Fixes the units of a shipment, which is locked and has some: says into which parts they are split from now on, and takes the
/// parts' numbers.
pub(in crate::flow) async fn fix(tx: &mut Tx, shipment: &mut Shipment) -> Result<(), FixError> {
    shipment.parts = split::parts(shipment.units);
    if shipment.parts > 1 {
        let numbers: Vec<String> = shipment.number.sent(shipment.parts).collect();
        if let Some(taken) = shipments::take_numbers(tx, shipment.id, &numbers).await? {
            return Err(FixError::NumberTaken(taken));
        }
    }
    Ok(())
}

/// Writes a message for each part of a shipment, whose units are fixed. The first time, the parts are written down too.
pub(in crate::flow) async fn tell(app: &App, tx: &mut Tx, shipment: &mut Shipment, event: Event, now: DateTime<Utc>) -> Result<(), Failed> {
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
        let lines = lines.ok_or_else(|| Failed::Internal("a part of a shipment has no lines"))?;
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
    let body = told::message(shipment, asn_number, lines, now).render();
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
