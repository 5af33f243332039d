//! Adds units to a shipment, a few hundred at a time, without a message. Units that are there already with the same content are
//! no error, so that a call can be repeated. What a unit's receipt knows and the call does not state is taken from the receipt.

mod cartons;
mod error;
mod received;

use std::collections::HashMap;

use domain::id::MerchantId;
use domain::warehouse::shipment::{MOST_UNITS, State};
use store::warehouse::shipment_units::{self, Unit};
use store::warehouse::shipments::{self, Shipment};
use store::{Failed, Tx};
use wire::fault::{Code, Fault, Warning};
use wire::warehouse::outbound_shipment::{DetailIn, UnitsIn};

use self::cartons::{Numbered, number_cartons};
pub use self::error::AddUnitsError;
use self::error::MOST_NAMED;
use self::received::Receipts;
use crate::app::App;

/// The number of attempts when another shipment takes one of the units.
const TRIES: usize = 3;

/// A shipment with added units, and the statements about them that contradict their receipts.
type Added = (Shipment, Vec<Warning>);

/// Adds units to the shipment `number`, and returns it, with warnings.
pub async fn add_units(app: &App, merchant: MerchantId, number: &str, request: &UnitsIn<'_>) -> Result<Added, AddUnitsError> {
    for _ in 1..TRIES {
        if let Some(added) = attempt(app, merchant, number, request).await? {
            return Ok(added);
        }
    }
    let collided = || Failed::Collided("another shipment is taking the same units".to_owned());
    attempt(app, merchant, number, request).await?.ok_or_else(|| collided().into())
}

/// Adds units in a transaction. `None` if another shipment took a unit in the meantime; then nothing is done.
async fn attempt(app: &App, merchant: MerchantId, number: &str, request: &UnitsIn<'_>) -> Result<Option<Added>, AddUnitsError> {
    let mut tx = app.begin(merchant).await?;
    let mut shipment = shipments::lock(&mut tx, number).await?.ok_or(AddUnitsError::NoSuchShipment)?;
    let Numbered { numbers, changed, count } = number_cartons(&mut tx, &shipment, request).await?;
    let units: Vec<Unit> = request.details().zip(numbers).map(|((_, _, detail), carton)| unit(carton, detail)).collect();
    let receipts = Receipts::of(&mut tx, request).await?;
    let warnings = receipts.contradictions(request);
    let mut new = unknown(&mut tx, &shipment, units).await?;
    if new.is_empty() && changed.is_empty() {
        return Ok(Some((shipment, warnings)));
    }
    if shipment.state != State::Open {
        return Err(AddUnitsError::Fixed(shipment.state));
    }
    new.iter_mut().for_each(|unit| receipts.fill(unit));
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
    Ok(Some((shipment, warnings)))
}

/// The units that the shipment does not have yet. Those that it has must agree with what is stated.
async fn unknown(tx: &mut Tx, shipment: &Shipment, units: Vec<Unit>) -> Result<Vec<Unit>, AddUnitsError> {
    let lines: Vec<String> = units.iter().map(|unit| unit.line.clone()).collect();
    let known = shipment_units::of_lines(tx, shipment.id, &lines).await?;
    let known: HashMap<&str, &Unit> = known.iter().map(|unit| (unit.line.as_str(), unit)).collect();
    let others = units.iter().filter(|unit| known.get(unit.line.as_str()).is_some_and(|known| !received::agrees(unit, known)));
    let others: Vec<String> = others.take(MOST_NAMED).map(|unit| unit.line.clone()).collect();
    if !others.is_empty() {
        return Err(AddUnitsError::OtherLines(others));
    }
    Ok(units.iter().filter(|unit| !known.contains_key(unit.line.as_str())).cloned().collect())
}

/// Checks that the shipment does not get too large, that none of the new units is in a shipment already, and that the program of
/// each is known.
async fn check(tx: &mut Tx, shipment: &Shipment, request: &UnitsIn<'_>, new: &[Unit]) -> Result<(), AddUnitsError> {
    let all = shipment.units as usize + new.len();
    if all > MOST_UNITS as usize {
        let message = format!("would bring the shipment to {all} units; a shipment can have at most {MOST_UNITS}");
        return Err(AddUnitsError::Faulty(vec![Fault::new("cartons", Code::Invalid, message)]));
    }
    let plates: Vec<String> = new.iter().map(|unit| unit.unit.clone()).collect();
    let held = shipment_units::held(tx, &plates).await?;
    let held: HashMap<&str, &str> = held.iter().map(|held| (held.unit.as_str(), held.number.as_str())).collect();
    // The unit of a line that is there already is in this very shipment.
    let new: HashMap<&str, &Unit> = new.iter().map(|unit| (unit.line.as_str(), unit)).collect();
    let faults = request.details().filter_map(|(at, _, detail)| {
        let unit = new.get(&*detail.line_identifier.0)?;
        match held.get(&*detail.unit_identifier.0) {
            Some(number) => Some(Fault::new(at.field("unit_identifier"), Code::Invalid, format!("is already in the shipment {number}"))),
            None if unit.program.is_empty() => {
                let message = "is required, because no receipt of the unit names a program";
                Some(Fault::new(at.field("program_identifier"), Code::MissingField, message))
            }
            None => None,
        }
    });
    let faults: Vec<Fault> = faults.collect();
    if faults.is_empty() { Ok(()) } else { Err(AddUnitsError::Faulty(faults)) }
}

/// A unit as it was stated; its program is empty if none was.
fn unit(carton: u32, detail: &DetailIn<'_>) -> Unit {
    let text = |text: &wire::shape::Identifier<'_>| text.0.clone().into_owned();
    let flags = detail.eligibility_flags.as_ref();
    Unit {
        carton,
        line: text(&detail.line_identifier),
        program: detail.program_identifier.as_ref().map(text).unwrap_or_default(),
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
        reference: None,
    }
}
