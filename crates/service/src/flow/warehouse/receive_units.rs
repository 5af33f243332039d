//! Receives units that a warehouse scanned, for an ASN or for a return. Each is received once. A unit of an ASN owes the merchant a
//! message about it, and a return that moves owes one too. Units that do not match become exceptions.
//!
//! Many scanners work at once. A request locks the returns that its units may belong to, takes a shared lock on the ASNs, and locks
//! the lines that its units may belong to, always in the same order. The unique key of a receipt decides which request received a
//! unit first.

mod assign;
mod outcome;
mod returned;
mod scan;

use std::collections::HashMap;

use domain::id::MerchantId;
use domain::messages::message::{Interface, Kind};
use domain::warehouse::inbound::{Exception, Target};
use store::messages::outbox::Message;
use store::returns::parcels;
use store::returns::rmas::{self, Return};
use store::warehouse::inbound_asns::{self, StoredAsn};
use store::warehouse::places;
use store::warehouse::receipts::{self, LineQuery, Receipt};
use store::warehouse::receiving_exceptions::{self, NewException};
use store::{Failed, Tx};
use uuid::Uuid;
use wire::warehouse::receiving::ReceivedUnitIn;

use self::assign::{Stock, assign};
pub use self::outcome::UnitOutcome;
use self::outcome::{Against, Assignment, MatchedUnit};
use self::scan::Scanned;
use crate::app::App;
use crate::flow::returns::receive_return::{Arrival, arrive};
use crate::show::returns::rmas as returns;
use crate::show::warehouse::inbound::scanned;

/// The number of attempts when other requests receive the same units.
const TRIES: usize = 10;
/// The event of the message on a receipt.
const EVENT: &str = "inventory_receipt.received";

/// The reasons no unit is received. Each carries the positions of the units in the request.
#[derive(Debug, thiserror::Error)]
pub enum ReceiveUnitsError {
    #[error("the merchant has no such warehouse")]
    UnknownWarehouse(Vec<usize>),
    #[error("the returns are not received by the warehouse")]
    NotManaged(Vec<usize>),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Receives units. Returns the outcome of each, in the same order.
pub async fn receive_units(app: &App, merchant: MerchantId, units: &[ReceivedUnitIn<'_>]) -> Result<Vec<UnitOutcome>, ReceiveUnitsError> {
    let warehouses = places::warehouses(app.store(merchant), merchant).await?;
    let known = |unit: &ReceivedUnitIn<'_>| warehouses.iter().any(|warehouse| warehouse.id.as_str() == unit.warehouse_identifier.0);
    let unknown: Vec<usize> = units.iter().enumerate().filter(|(_, unit)| !known(unit)).map(|(at, _)| at).collect();
    if !unknown.is_empty() {
        return Err(ReceiveUnitsError::UnknownWarehouse(unknown));
    }
    for _ in 0..TRIES {
        let mut tx = app.begin(merchant).await?;
        match attempt(app, &mut tx, units).await? {
            Some(outcomes) => {
                app.commit(tx).await?;
                return Ok(outcomes);
            }
            // Another request was first. It has committed by now, so the next attempt sees its receipts.
            None => tx.rollback().await?,
        }
    }
    Err(Failed::Internal("receiving units kept colliding with other requests").into())
}

/// Receives units in a transaction. `None` if it must be tried again.
async fn attempt(app: &App, tx: &mut Tx, units: &[ReceivedUnitIn<'_>]) -> Result<Option<Vec<UnitOutcome>>, ReceiveUnitsError> {
    let returns_of = named_returns(tx, units).await?;
    let scanned: Vec<Scanned<'_>> =
        units.iter().zip(&returns_of).map(|(unit, rma)| Scanned { unit, target: target(unit, rma.as_deref()) }).collect();
    let numbers: Vec<&str> = scanned.iter().filter_map(Scanned::asn_number).collect();
    let before = inbound_asns::list(tx, &numbers).await?;
    let ids: HashMap<&str, Uuid> = before.iter().map(|kept| (kept.asn.number.as_str(), kept.id)).collect();
    let asn_of = |scanned: &Scanned<'_>| ids.get(scanned.asn_number()?).copied();
    let queries: Vec<LineQuery<'_>> = scanned.iter().filter_map(|of| Some(line_query(of.unit, asn_of(of)?))).collect();

    // The order of locks: returns, ASNs, lines, receipts.
    let in_asns: &[LineQuery<'_>] = if before.iter().any(|kept| kept.has_returns) { &queries } else { &[] };
    let named: Vec<&str> = scanned.iter().filter_map(Scanned::rma).collect();
    let mut locked = lock_returns(tx, in_asns, &named).await?;
    let unmanaged: Vec<usize> = (0..).zip(&scanned).filter(|(_, of)| of.is_unmanaged(&locked)).map(|(at, _)| at).collect();
    if !unmanaged.is_empty() {
        return Err(ReceiveUnitsError::NotManaged(unmanaged));
    }
    let asns = inbound_asns::share(tx, &before.iter().map(|kept| kept.id).collect::<Vec<_>>()).await?;
    let changed = |kept: &StoredAsn| before.iter().any(|before| before.id == kept.id && before.digest != kept.digest);
    if asns.iter().any(changed) {
        return Ok(None);
    }
    let lines = receipts::lock_lines(tx, &queries).await?;
    let plates: Vec<&str> = units.iter().map(|unit| &*unit.unit_identifier.0).collect();
    let known = receipts::known(tx, &plates).await?;
    let assigned = assign(&scanned, Stock { asns: &asns, lines: &lines }, &locked, &known);
    let Some(arrivals) = write(app, tx, &assigned).await? else { return Ok(None) };
    let outcomes = assigned.iter().map(Assignment::outcome).collect();
    for (rma, arrivals) in arrivals {
        if let Some(kept) = locked.get_mut(rma) {
            arrive(app, tx, kept, &arrivals).await?;
        }
    }
    Ok(Some(outcomes))
}

/// The identifier of the return that each unit was scanned for, by its name or by the tracking number of its parcel.
async fn named_returns(tx: &mut Tx, units: &[ReceivedUnitIn<'_>]) -> Result<Vec<Option<String>>, Failed> {
    let number = |unit: &ReceivedUnitIn<'_>| match unit.target() {
        Target::Parcel(number) => Some(number.to_owned()),
        Target::Asn(_) | Target::Return(_) => None,
    };
    let numbers: Vec<String> = units.iter().filter_map(number).collect();
    let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
    let found = if numbers.is_empty() { Vec::new() } else { parcels::returns_of(tx, &numbers).await? };
    let labelled: HashMap<String, String> = found.into_iter().collect();
    let named = |unit: &ReceivedUnitIn<'_>| match unit.target() {
        Target::Asn(_) => None,
        Target::Return(typed) => Some(returns::identifier(typed)),
        Target::Parcel(number) => labelled.get(number).cloned(),
    };
    Ok(units.iter().map(named).collect())
}

/// The ASN or the return that a unit was scanned for; a parcel stands for its return.
fn target<'a>(unit: &'a ReceivedUnitIn<'_>, rma: Option<&'a str>) -> Target<'a> {
    rma.map_or_else(|| unit.target(), Target::Return)
}

fn line_query<'a>(unit: &'a ReceivedUnitIn<'_>, asn: Uuid) -> LineQuery<'a> {
    let scan = scanned::scan(unit);
    LineQuery { asn, line: scan.line, unit: scan.unit, client_unit: scan.client_unit, sku: scan.sku }
}

/// Locks the returns that units may belong to: those that were named, and those of the ASN lines.
async fn lock_returns(tx: &mut Tx, queries: &[LineQuery<'_>], named: &[&str]) -> Result<HashMap<String, Return>, Failed> {
    let announced = if queries.is_empty() { Vec::new() } else { receipts::returns_of(tx, queries).await? };
    let wanted: Vec<&str> = announced.iter().map(String::as_str).chain(named.iter().copied()).collect();
    if wanted.is_empty() {
        return Ok(HashMap::new());
    }
    let locked = rmas::lock_many(tx, &wanted).await?;
    Ok(locked.into_iter().map(|of| (of.identifier.clone(), of)).collect())
}

/// The units that arrived for each return.
type Arrivals<'a> = HashMap<&'a str, Vec<Arrival<'a>>>;

/// Writes the outcome of every unit, with the messages owed for it, and returns the units that arrived for returns. `None` if another
/// transaction was first with one of them.
async fn write<'a>(app: &App, tx: &mut Tx, assigned: &'a [Assignment<'a>]) -> Result<Option<Arrivals<'a>>, Failed> {
    let now = app.now();
    let received: Vec<&MatchedUnit<'_>> = assigned.iter().filter_map(Assignment::received).collect();
    if !received.is_empty() {
        let rows: Vec<Receipt<'_>> = received.iter().map(|of| of.receipt()).collect();
        if receipts::insert(tx, &rows, now).await? < rows.len() {
            return Ok(None);
        }
        let plates: Vec<&str> = rows.iter().map(|row| row.unit).collect();
        receiving_exceptions::resolve_units(tx, &plates, now).await?;
        let late: Vec<(&str, &str)> = received.iter().filter_map(|of| of.late()).collect();
        if !late.is_empty() {
            receiving_exceptions::fewer_missing(tx, &late, now).await?;
        }
        owe_messages(app, tx, &rows, &received)?;
    }
    let found = assigned.iter().filter_map(|assignment| Some(new_exception(app, assignment.exception()?)));
    let mut found: Vec<NewException<'_>> = found.collect();
    if !found.is_empty() {
        // Sorted to avoid deadlocks between requests with the same exceptions.
        found.sort_by_cached_key(|found| (found.target.key(), found.unit, found.line, found.exception));
        receiving_exceptions::insert(tx, &found, now).await?;
    }
    Ok(Some(arrivals(&received)))
}

fn new_exception<'a>(app: &App, (of, exception): (&Scanned<'a>, Exception)) -> NewException<'a> {
    let (unit, scan) = (of.unit, scanned::scan(of.unit));
    NewException {
        id: app.mint(),
        exception,
        target: of.target,
        unit: Some(scan.unit),
        line: scan.line,
        sku: scan.sku,
        quantity: 1,
        warehouse: Some(&unit.warehouse_identifier.0),
        condition: Some(unit.condition.0),
        user: unit.user_login.as_ref().map(|login| &*login.0),
    }
}

/// Owes one message for each unit that was received against an ASN. The merchant has not announced the others.
fn owe_messages(app: &App, tx: &mut Tx, rows: &[Receipt<'_>], received: &[&MatchedUnit<'_>]) -> Result<(), Failed> {
    for (row, of) in rows.iter().zip(received) {
        let Against::Line(asn, placed) = &of.against else { continue };
        let body = scanned::message(row, asn, &placed.line).render();
        tx.owe(Message {
            id: app.mint(),
            kind: Kind::Of(Interface::InventoryReceipt),
            event: EVENT,
            subject: row.unit.to_owned(),
            sequence: 1,
            body: body.map_err(|_| Failed::Internal("a message on a receipt could not be written"))?,
            due_at: app.now(),
        });
    }
    Ok(())
}

/// The units that have arrived, by return. Rejected units are not ready for a refund and are left out.
fn arrivals<'a>(received: &[&'a MatchedUnit<'a>]) -> Arrivals<'a> {
    let mut arrivals = Arrivals::new();
    for of in received.iter().filter(|of| of.scanned.unit.reject_reason.is_none()) {
        match &of.against {
            Against::Line(_, placed) => {
                let Some(rma) = placed.line.rma() else { continue };
                let sku = placed.line.sku.as_deref().or(of.scanned.unit.sku.as_ref().map(|sku| &*sku.0));
                arrivals.entry(rma).or_default().push(Arrival { line: placed.line.reference_line.as_deref(), sku });
            }
            Against::Return { identifier, line, .. } => {
                arrivals.entry(identifier).or_default().push(Arrival { line: Some(line), sku: None });
            }
        }
    }
    arrivals
}
