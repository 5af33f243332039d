//! Adds units to a shipment, a few hundred at a time, without a message. Units that are there already with the same content are
//! no error, so that a call can be repeated.

mod cartons;
mod error;

use std::collections::HashMap;

use domain::id::MerchantId;
use domain::warehouse::shipment::{MOST_UNITS, State};
use store::warehouse::shipment_units::{self, Unit};
use store::warehouse::shipments::{self, Shipment};
use store::{Failed, Tx};
use wire::fault::{Code, Fault};
use wire::warehouse::outbound_shipment::{DetailIn, UnitsIn};

use self::cartons::{Numbered, number_cartons};
pub use self::error::AddUnitsError;
use self::error::MOST_NAMED;
use crate::app::App;

/// The number of attempts when another shipment takes one of the units.
const TRIES: usize = 3;

/// Adds units to the shipment `number`, and returns it.
pub async fn add_units(app: &App, merchant: MerchantId, number: &str, request: &UnitsIn<'_>) -> Result<Shipment, AddUnitsError> {
    for _ in 1..TRIES {
        if let Some(added) = attempt(app, merchant, number, request).await? {
            return Ok(added);
        }
    }
    let collided = || Failed::Collided("another shipment is taking the same units".to_owned());
    attempt(app, merchant, number, request).await?.ok_or_else(|| collided().into())
}

/// Adds units in a transaction. `None` if another shipment took a unit in the meantime; then nothing is done.
async fn attempt(app: &App, merchant: MerchantId, number: &str, request: &UnitsIn<'_>) -> Result<Option<Shipment>, AddUnitsError> {
    let mut tx = app.begin(merchant).await?;
    let mut shipment = shipments::lock(&mut tx, number).await?.ok_or(AddUnitsError::NoSuchShipment)?;
    let Numbered { numbers, changed, count } = number_cartons(&mut tx, &shipment, request).await?;
    let units: Vec<Unit> = request.details().zip(numbers).map(|((_, _, detail), carton)| unit(carton, detail)).collect();
    let new = unknown(&mut tx, &shipment, units).await?;
    if new.is_empty() && changed.is_empty() {
        return Ok(Some(shipment));
    }
    if shipment.state != State::Open {
        return Err(AddUnitsError::Fixed(shipment.state));
    }
    check(&mut tx, &shipment, request, &new).await?;
    shipment_units::save_cartons(&mut tx, shipment.id, &changed).await?;
    let added = shipment_units::insert(&mut tx, shipment.id, shipment.units, &new).await?;
    if added as usize != new.len() {
        tx.rollback().await?;
        return Ok(None);
    }
    shipment.units += added;
    shipment.cartons = count;
    shipment.updated_at = shipment.updated_at.max(app.now());
    shipments::save(&mut tx, &shipment).await?;
    app.commit(tx).await?;
    Ok(Some(shipment))
}

/// The units that the shipment does not have yet. Those that it has must be identical.
async fn unknown(tx: &mut Tx, shipment: &Shipment, units: Vec<Unit>) -> Result<Vec<Unit>, AddUnitsError> {
    let lines: Vec<String> = units.iter().map(|unit| unit.line.clone()).collect();
    let known = shipment_units::of_lines(tx, shipment.id, &lines).await?;
    let known: HashMap<&str, &Unit> = known.iter().map(|unit| (unit.line.as_str(), unit)).collect();
    let others = units.iter().filter(|unit| known.get(unit.line.as_str()).is_some_and(|known| known != unit));
    let others: Vec<String> = others.take(MOST_NAMED).map(|unit| unit.line.clone()).collect();
    if !others.is_empty() {
        return Err(AddUnitsError::OtherLines(others));
    }
    Ok(units.iter().filter(|unit| !known.contains_key(unit.line.as_str())).cloned().collect())
}

/// Checks that the shipment does not get too large, and that none of the new units is in a shipment already.
async fn check(tx: &mut Tx, shipment: &Shipment, request: &UnitsIn<'_>, new: &[Unit]) -> Result<(), AddUnitsError> {
    let all = shipment.units as usize + new.len();
    if all > MOST_UNITS as usize {
        let message = format!("would bring the shipment to {all} units; a shipment can have at most {MOST_UNITS}");
        return Err(AddUnitsError::Faulty(vec![Fault::new("cartons", Code::Invalid, message)]));
    }
    let plates: Vec<String> = new.iter().map(|unit| unit.unit.clone()).collect();
    let held = shipment_units::held(tx, &plates).await?;
    let held: HashMap<&str, &str> = held.iter().map(|held| (held.unit.as_str(), held.number.as_str())).collect();
    let faults = request.details().filter_map(|(at, _, detail)| {
        let number = held.get(&*detail.unit_identifier.0)?;
        // The unit of a line that is there already is in this very shipment.
        new.iter()
            .any(|unit| unit.line == detail.line_identifier.0)
            .then(|| Fault::new(at.field("unit_identifier"), Code::Invalid, format!("is already in the shipment {number}")))
    });
    let faults: Vec<Fault> = faults.collect();
    if faults.is_empty() { Ok(()) } else { Err(AddUnitsError::Faulty(faults)) }
}

fn unit(carton: u32, detail: &DetailIn<'_>) -> Unit {
    let text = |text: &wire::shape::Identifier<'_>| text.0.clone().into_owned();
    let flags = detail.eligibility_flags.as_ref();
    Unit {
        carton,
        line: text(&detail.line_identifier),
        program: text(&detail.program_identifier),
        unit: text(&detail.unit_identifier),
        client_unit: detail.client_unit_identifier.as_ref().map(text),
        inbound_asn: detail.inbound_received_asn.as_ref().map(text),
        sku: text(&detail.sku),
        upc: detail.upc.as_ref().map(text),
        vendor: detail.vendor_identifier.as_ref().map(text),
        serial_number: detail.serial_number.as_ref().map(text),
        condition: detail.condition.0,
        eligibility_flags: flags.map(|flags| flags.0.iter().map(text).collect()),
        merchant: detail.merchant.as_ref().map(text),
    }
}
