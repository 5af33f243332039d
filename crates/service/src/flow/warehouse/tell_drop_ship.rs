//! What every change of a drop-ship order has in common: it is written down, and the merchant's systems are owed one message on
//! it, in the same transaction.

use domain::messages::message::Kind;
use domain::warehouse::drop_ship::{Event, Refused, Units};
use store::messages::outbox::Message;
use store::warehouse::drop_ship_orders::{self, DropShipOrder};
use store::{Failed, Tx};
use wire::fault::Fault;
use wire::warehouse::drop_ship::{Content, UnitsContent, too_many, unknown_item};
use wire::warehouse::drop_shipment::{DropShipmentCancellation, DropShipmentPartialCancellation};

use crate::app::App;
use crate::show::warehouse::drop_ship::{self, written};

/// Why a report of the warehouse had no effect.
#[derive(Debug, thiserror::Error)]
pub enum DropShipError {
    /// The merchant has no such order.
    #[error("there is no such drop-ship order")]
    NoSuchOrder,
    /// Another report was made under the same name.
    #[error("another report was made under this name")]
    NameUsed,
    /// The order does not have the units, or not any more.
    #[error("the report does not fit the order")]
    Faulty(Vec<Fault>),
    /// It cannot happen to the order as it stands.
    #[error(transparent)]
    Refused(Refused),
    /// The database.
    #[error(transparent)]
    Failed(#[from] Failed),
}

impl DropShipError {
    /// A refusal in the words of the report, in which the units stand in `list`.
    pub(in crate::flow) fn of(list: &str, refused: Refused) -> Self {
        match refused {
            Refused::TooMany(entries) => Self::Faulty(entries.iter().map(|entry| too_many(list, entry)).collect()),
            refused @ (Refused::Over(_) | Refused::Shipped | Refused::Begun | Refused::Nothing) => Self::Refused(refused),
        }
    }
}

/// The units that a report names in `list`, by the positions of the order's items.
pub(in crate::flow) fn named(content: &Content, list: &str, units: &[UnitsContent]) -> Result<Vec<Units>, DropShipError> {
    let position = |name: &str| content.order_items.iter().position(|item| item.client_identifier == name);
    let of = |units: &UnitsContent| position(&units.client_identifier).map(|item| Units { item, quantity: units.quantity });
    let found: Vec<Option<Units>> = units.iter().map(of).collect();
    let unknown: Vec<Fault> = found.iter().enumerate().filter(|(_, units)| units.is_none()).map(|(at, _)| unknown_item(list, at)).collect();
    if unknown.is_empty() { Ok(found.into_iter().flatten().collect()) } else { Err(DropShipError::Faulty(unknown)) }
}

/// The message on units that were called off, or on the whole order. A shipment has a confirmation of its own.
pub(in crate::flow) fn called_off(kept: &DropShipOrder, content: &Content, event: Event) -> Result<String, Failed> {
    match event {
        Event::PartiallyCancelled => written(&DropShipmentPartialCancellation { order: drop_ship::part(kept, content) }),
        Event::Cancelled | Event::Rejected | Event::Confirmed => {
            written(&DropShipmentCancellation { order: drop_ship::order(kept, content) })
        }
    }
}

/// Counts a change of an order, which is locked, before it is told.
pub(in crate::flow) fn count(app: &App, changed: &mut DropShipOrder) {
    changed.sequence += 1;
    // Clocks of processes differ; what merchants see never goes back.
    changed.updated_at = changed.updated_at.max(app.now());
}

/// Writes down an order that has changed and was counted, with the message on it.
pub(in crate::flow) async fn tell(app: &App, tx: &mut Tx, changed: &DropShipOrder, event: Event, body: String) -> Result<(), Failed> {
    drop_ship_orders::save(tx, changed).await?;
    tx.owe(Message {
        id: app.mint(),
        kind: Kind::Of(drop_ship::interface(event)),
        event: event.as_str(),
        subject: changed.client_identifier.clone(),
        sequence: changed.sequence,
        body,
        due_at: app.now(),
    });
    Ok(())
}
