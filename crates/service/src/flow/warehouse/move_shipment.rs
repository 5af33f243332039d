//! Moves a shipment for the warehouse: announces it, ships it, reports its arrival, cancels it, or changes its ship date. The
//! messages on it are owed in the same transaction.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::warehouse::shipment::{Act, Refused, State, Step};
use store::warehouse::shipment_units;
use store::warehouse::shipments::{self, Shipment};
use store::{Failed, Tx};

use super::save_shipment::{FixError, fix_units, save_change};
use crate::app::App;

/// The reasons a shipment cannot be moved.
#[derive(Debug, thiserror::Error)]
pub enum MoveShipmentError {
    #[error("the merchant has no such shipment")]
    NoSuchShipment,
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("the shipment has no units yet; add them first")]
    NoUnits,
    /// The number of a part belongs to another shipment.
    #[error("another shipment has the number {0}, which a part of this one needs")]
    NumberTaken(String),
    #[error(transparent)]
    Failed(#[from] Failed),
}

impl From<FixError> for MoveShipmentError {
    fn from(error: FixError) -> Self {
        match error {
            FixError::NumberTaken(number) => Self::NumberTaken(number),
            FixError::Failed(failed) => Self::Failed(failed),
        }
    }
}

/// Applies `act` to the shipment `number`. A repeat changes nothing.
pub async fn move_shipment(app: &App, merchant: MerchantId, number: &str, act: Act) -> Result<Shipment, MoveShipmentError> {
    let mut tx = app.begin(merchant).await?;
    let shipment = shipments::lock(&mut tx, number).await?.ok_or(MoveShipmentError::NoSuchShipment)?;
    apply(app, tx, shipment, act).await
}

/// Changes the ship date of the shipment `number`. The same date again changes nothing, whatever its state.
pub async fn change_ship_date(
    app: &App,
    merchant: MerchantId,
    number: &str,
    ship_date: DateTime<Utc>,
) -> Result<Shipment, MoveShipmentError> {
    let mut tx = app.begin(merchant).await?;
    let mut shipment = shipments::lock(&mut tx, number).await?.ok_or(MoveShipmentError::NoSuchShipment)?;
    if shipment.ship_date == ship_date {
        return Ok(shipment);
    }
    shipment.ship_date = ship_date;
    apply(app, tx, shipment, Act::ChangeShipDate).await
}

async fn apply(app: &App, mut tx: Tx, mut shipment: Shipment, act: Act) -> Result<Shipment, MoveShipmentError> {
    let Step::Moved { to, tells: event } = shipment.state.on(act)? else { return Ok(shipment) };
    let now = app.now();
    if shipment.state == State::Open && matches!(to, State::Announced | State::Shipped) {
        if shipment.units == 0 {
            return Err(MoveShipmentError::NoUnits);
        }
        fix_units(&mut tx, &mut shipment).await?;
    }
    shipment.state = to;
    // The time never goes back for others, though the clocks of nodes differ.
    shipment.updated_at = shipment.updated_at.max(now);
    if to == State::Cancelled {
        shipment_units::release(&mut tx, shipment.id).await?;
    }
    save_change(app, &mut tx, &mut shipment, event, now).await?;
    app.commit(tx).await?;
    Ok(shipment)
}
