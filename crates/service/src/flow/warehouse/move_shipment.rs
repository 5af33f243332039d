//! A warehouse announces a shipment, ships it, reports that it arrived, calls it off, or ships it on another day. What moved is
//! told in the same transaction.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::warehouse::shipment::{Act, Refused, State, Step};
use store::warehouse::shipment_units;
use store::warehouse::shipments::{self, Shipment};
use store::{Failed, Tx};

use super::tell_shipment::{FixError, fix, tell};
use crate::app::App;

/// Why a shipment did not move.
#[derive(Debug, thiserror::Error)]
pub enum MoveShipmentError {
    /// The merchant has no such shipment.
    #[error("there is no such shipment")]
    NoSuchShipment,
    /// It cannot be done as the shipment stands.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// It has no units that could be told of.
    #[error("the shipment has no units yet")]
    NoUnits,
    /// Another shipment has the number of a part.
    #[error("another shipment has the number {0}")]
    NumberTaken(String),
    /// The database.
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

/// Does `act` to the shipment `number`. A repeat changes nothing and is no error.
pub async fn move_shipment(app: &App, merchant: MerchantId, number: &str, act: Act) -> Result<Shipment, MoveShipmentError> {
    let mut tx = app.begin(merchant).await?;
    let shipment = shipments::lock(&mut tx, number).await?.ok_or(MoveShipmentError::NoSuchShipment)?;
    apply(app, tx, shipment, act).await
}

/// The shipment `number` ships on another day. The same day again changes nothing, wherever the shipment stands.
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
    let Step::Moved { to, tells } = shipment.state.on(act)? else { return Ok(shipment) };
    let now = app.now();
    if shipment.state == State::Open && matches!(to, State::Announced | State::Shipped) {
        if shipment.units == 0 {
            return Err(MoveShipmentError::NoUnits);
        }
        fix(&mut tx, &mut shipment).await?;
    }
    shipment.state = to;
    // Clocks of processes differ; what others see never goes back.
    shipment.updated_at = shipment.updated_at.max(now);
    if to == State::Cancelled {
        shipment_units::release(&mut tx, shipment.id).await?;
    }
    if let Some(event) = tells {
        tell(app, &mut tx, &mut shipment, event, now).await?;
    }
    shipments::save(&mut tx, &shipment).await?;
    app.commit(tx).await?;
    Ok(shipment)
}
