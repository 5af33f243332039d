//! Saves a changed drop-ship order, and owes the merchant one message on it in the same transaction.

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

/// The reasons a warehouse's report is not applied.
#[derive(Debug, thiserror::Error)]
pub enum DropShipError {
    #[error("the merchant has no such drop-ship order")]
    NoSuchOrder,
    /// An earlier report has the same identifier and different content.
    #[error("another report with different content has this identifier")]
    IdentifierUsed,
    /// The order does not have these units, or has fewer of them left.
    #[error("the report does not match the order")]
    Faulty(Vec<Fault>),
    #[error(transparent)]
    Refused(Refused),
    #[error(transparent)]
    Failed(#[from] Failed),
}

impl DropShipError {
    /// Translates a refusal. `list` is the field of the report that holds the units.
    pub(super) fn of(list: &str, refused: Refused) -> Self {
        match refused {
            Refused::TooMany(entries) => Self::Faulty(entries.iter().map(|entry| too_many(list, entry)).collect()),
            refused @ (Refused::Over(_) | Refused::Shipped | Refused::Begun | Refused::Nothing) => Self::Refused(refused),
        }
    }
}

/// Finds the units of a report in the order's items. `list` is the field of the report that holds them.
pub(super) fn find_units(content: &Content, list: &str, units: &[UnitsContent]) -> Result<Vec<Units>, DropShipError> {
    let position = |name: &str| content.order_items.iter().position(|item| item.client_identifier == name);
    let of = |units: &UnitsContent| position(&units.client_identifier).map(|item| Units { item, quantity: units.quantity });
    let found: Vec<Option<Units>> = units.iter().map(of).collect();
    let unknown: Vec<Fault> = found.iter().enumerate().filter(|(_, units)| units.is_none()).map(|(at, _)| unknown_item(list, at)).collect();
    if unknown.is_empty() { Ok(found.into_iter().flatten().collect()) } else { Err(DropShipError::Faulty(unknown)) }
}

/// The body of the message on a full or partial cancellation. Shipments have a confirmation of their own.
pub(super) fn cancellation_body(kept: &DropShipOrder, content: &Content, event: Event) -> Result<String, Failed> {
    match event {
        Event::PartiallyCancelled => written(&DropShipmentPartialCancellation { order: drop_ship::part(kept, content) }),
        Event::Cancelled | Event::Rejected | Event::Confirmed => {
            written(&DropShipmentCancellation { order: drop_ship::order(kept, content) })
        }
    }
}

/// Advances the sequence and the time of an order before its message is written. The order must be locked.
pub(super) fn advance(app: &App, changed: &mut DropShipOrder) {
    changed.sequence += 1;
    // The time never goes back for the merchant, though the clocks of nodes differ.
    changed.updated_at = changed.updated_at.max(app.now());
}

/// Saves a changed order, and owes the message on it. Call [`advance`] first.
pub(super) async fn save_change(app: &App, tx: &mut Tx, changed: &DropShipOrder, event: Event, body: String) -> Result<(), Failed> {
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
