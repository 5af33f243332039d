//! Moves a shipment for the warehouse: announces it, ships it, reports its arrival, cancels it, or changes its ship date or its
//! transport. The messages on it are owed in the same transaction.

use domain::id::MerchantId;
use domain::warehouse::shipment::{Act, Refused, State, Step};
use store::warehouse::shipment_units;
use store::warehouse::shipments::{self, Shipment};
use store::{Failed, Tx};
use wire::shape::Identifier;
use wire::warehouse::outbound_shipment::ShipmentChangeIn;

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

/// Ships the shipment `number`, with what is known of its transport by now. A repeat changes nothing.
pub async fn ship(app: &App, merchant: MerchantId, number: &str, change: &ShipmentChangeIn<'_>) -> Result<Shipment, MoveShipmentError> {
    let mut tx = app.begin(merchant).await?;
    let kept = shipments::lock(&mut tx, number).await?.ok_or(MoveShipmentError::NoSuchShipment)?;
    let mut changed = with(&kept, change);
    // Numbers scanned now come after those scanned before; the first is sent.
    let scanned_now: Vec<String> = changed.tracking_numbers.drain(..).filter(|number| !kept.tracking_numbers.contains(number)).collect();
    changed.tracking_numbers = kept.tracking_numbers.iter().cloned().chain(scanned_now).collect();
    if kept.state.on(Act::Ship)? == Step::Unchanged && changed != kept {
        return Err(Refused { from: kept.state, act: Act::ChangeTransport }.into());
    }
    apply(app, tx, changed, Act::Ship).await
}

/// Changes the ship date or the transport of the shipment `number`. The same again changes nothing, whatever its state.
pub async fn change_shipment(
    app: &App,
    merchant: MerchantId,
    number: &str,
    change: &ShipmentChangeIn<'_>,
) -> Result<Shipment, MoveShipmentError> {
    let mut tx = app.begin(merchant).await?;
    let kept = shipments::lock(&mut tx, number).await?.ok_or(MoveShipmentError::NoSuchShipment)?;
    let changed = with(&kept, change);
    if changed == kept {
        return Ok(kept);
    }
    let act = if changed.ship_date == kept.ship_date { Act::ChangeTransport } else { Act::ChangeShipDate };
    apply(app, tx, changed, act).await
}

/// The shipment with the given fields replaced.
fn with(kept: &Shipment, change: &ShipmentChangeIn<'_>) -> Shipment {
    let text = |text: &Identifier<'_>| text.0.to_string();
    let numbers = change.tracking_numbers.as_ref().map(|numbers| numbers.0.iter().map(|number| number.0.to_string()).collect());
    Shipment {
        ship_date: change.ship_date.map_or(kept.ship_date, |date| date.0),
        carrier: change.carrier.as_ref().map(text).or_else(|| kept.carrier.clone()),
        carrier_payment: change.carrier_payment_type.map(|payment| payment.0).or(kept.carrier_payment),
        bol_number: change.bol_number.as_ref().map(text).or_else(|| kept.bol_number.clone()),
        tracking_numbers: numbers.unwrap_or_else(|| kept.tracking_numbers.clone()),
        ..kept.clone()
    }
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
