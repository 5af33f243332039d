//! Receives units that a warehouse scanned. Each is received once and owes the merchant a message; units that do not match an ASN
//! become exceptions.
//!
//! Many scanners work at once. A request takes a shared lock on the ASN, and locks the lines that its units may belong to, always in
//! the same order. The unique key of a receipt decides which request received a unit first.

mod assign;

use std::collections::HashMap;

use domain::id::MerchantId;
use domain::messages::message::{Interface, Kind};
use domain::warehouse::inbound::Exception;
use store::messages::outbox::Message;
use store::returns::rmas::{self, Return};
use store::warehouse::inbound_asns::{self, StoredAsn};
use store::warehouse::places;
use store::warehouse::receipts::{self, LineQuery, Receipt};
use store::warehouse::receiving_exceptions::{self, NewException};
use store::{Failed, Tx};
use uuid::Uuid;
use wire::warehouse::receiving::ReceivedUnitIn;

pub use self::assign::UnitOutcome;
use self::assign::{Assignment, MatchedUnit, assign};
use crate::app::App;
use crate::flow::returns::receive_return::{Arrival, arrive};
use crate::show::warehouse::inbound::scanned;

/// The number of attempts when other requests receive the same units.
const TRIES: usize = 10;
/// The event of the message on a receipt.
const EVENT: &str = "inventory_receipt.received";

/// The reasons no unit is received.
#[derive(Debug, thiserror::Error)]
pub enum ReceiveUnitsError {
    /// The positions of the units in the request.
    #[error("the merchant has no such warehouse")]
    UnknownWarehouse(Vec<usize>),
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
async fn attempt(app: &App, tx: &mut Tx, units: &[ReceivedUnitIn<'_>]) -> Result<Option<Vec<UnitOutcome>>, Failed> {
    let numbers: Vec<&str> = units.iter().map(|unit| &*unit.asn_number.0).collect();
    let before = inbound_asns::list(tx, &numbers).await?;
    let ids: HashMap<&str, Uuid> = before.iter().map(|kept| (kept.asn.number.as_str(), kept.id)).collect();
    let asn_of = |unit: &'_ ReceivedUnitIn<'_>| ids.get(&*unit.asn_number.0).copied();
    let queries: Vec<LineQuery<'_>> = units.iter().filter_map(|unit| Some(line_query(unit, asn_of(unit)?))).collect();

    // The order of locks: returns, ASNs, lines, receipts.
    let returns = if before.iter().any(|kept| kept.has_returns) { lock_returns(tx, &queries).await? } else { HashMap::new() };
    let asns = inbound_asns::share(tx, &before.iter().map(|kept| kept.id).collect::<Vec<_>>()).await?;
    let changed = |kept: &StoredAsn| before.iter().any(|before| before.id == kept.id && before.digest != kept.digest);
    if asns.iter().any(changed) {
        return Ok(None);
    }
    let lines = receipts::lock_lines(tx, &queries).await?;
    let plates: Vec<&str> = units.iter().map(|unit| &*unit.unit_identifier.0).collect();
    let known = receipts::known(tx, &plates).await?;
    let assigned = assign(units, &asns, &lines, &known);
    let written = write(app, tx, &assigned, returns).await?;
    Ok(written.then(|| assigned.into_iter().map(Assignment::into_outcome).collect()))
}

fn line_query<'a>(unit: &'a ReceivedUnitIn<'_>, asn: Uuid) -> LineQuery<'a> {
    let scan = scanned::scan(unit);
    LineQuery { asn, line: scan.line, unit: scan.unit, client_unit: scan.client_unit, sku: scan.sku }
}

async fn lock_returns(tx: &mut Tx, queries: &[LineQuery<'_>]) -> Result<HashMap<String, Return>, Failed> {
    let names = receipts::returns_of(tx, queries).await?;
    let locked = rmas::lock_many(tx, &names.iter().map(String::as_str).collect::<Vec<_>>()).await?;
    Ok(locked.into_iter().map(|of| (of.identifier.clone(), of)).collect())
}

/// Writes the outcome of every unit, with the messages owed for it. Returns `false` if another transaction was first with one of them.
async fn write(app: &App, tx: &mut Tx, assigned: &[Assignment<'_>], mut returns: HashMap<String, Return>) -> Result<bool, Failed> {
    let now = app.now();
    let received: Vec<&MatchedUnit<'_>> = assigned.iter().filter_map(Assignment::received).collect();
    if !received.is_empty() {
        let rows: Vec<Receipt<'_>> = received.iter().map(|of| scanned::receipt(of.unit, of.asn, of.line)).collect();
        if receipts::insert(tx, &rows, now).await? < rows.len() {
            return Ok(false);
        }
        let plates: Vec<&str> = rows.iter().map(|row| row.unit).collect();
        receiving_exceptions::resolve_units(tx, &plates, now).await?;
        let late: Vec<(&str, &str)> = received.iter().filter_map(|of| of.late()).collect();
        if !late.is_empty() {
            receiving_exceptions::fewer_missing(tx, &late, now).await?;
        }
        owe_messages(app, tx, &rows, &received)?;
        move_returns(app, tx, &received, &mut returns).await?;
    }
    let found = assigned.iter().filter_map(|assignment| Some(new_exception(app, assignment.exception()?)));
    let mut found: Vec<NewException<'_>> = found.collect();
    if !found.is_empty() {
        // Sorted to avoid deadlocks between requests with the same exceptions.
        found.sort_unstable_by_key(|found| (found.asn_number, found.unit, found.line, found.exception));
        receiving_exceptions::insert(tx, &found, now).await?;
    }
    Ok(true)
}

fn new_exception<'a>(app: &App, (unit, exception): (&'a ReceivedUnitIn<'_>, Exception)) -> NewException<'a> {
    let scan = scanned::scan(unit);
    NewException {
        id: app.mint(),
        exception,
        asn_number: &unit.asn_number.0,
        unit: Some(scan.unit),
        line: scan.line,
        sku: scan.sku,
        quantity: 1,
        warehouse: Some(&unit.warehouse_identifier.0),
        condition: Some(unit.condition.0),
        user: unit.user_login.as_ref().map(|login| &*login.0),
    }
}

/// Owes one message for each unit.
fn owe_messages(app: &App, tx: &mut Tx, rows: &[Receipt<'_>], received: &[&MatchedUnit<'_>]) -> Result<(), Failed> {
    for (row, of) in rows.iter().zip(received) {
        let body = scanned::message(row, of.asn, &of.line.line).render();
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

/// Updates the returns whose units have arrived, each once. Rejected units are not ready for a refund and are left out.
async fn move_returns(app: &App, tx: &mut Tx, received: &[&MatchedUnit<'_>], returns: &mut HashMap<String, Return>) -> Result<(), Failed> {
    let mut arrivals: HashMap<&str, Vec<Arrival<'_>>> = HashMap::new();
    for of in received.iter().filter(|of| of.unit.reject_reason.is_none()) {
        let Some(rma) = of.line.line.rma() else { continue };
        let sku = of.line.line.sku.as_deref().or(of.unit.sku.as_ref().map(|sku| &*sku.0));
        arrivals.entry(rma).or_default().push(Arrival { line: of.line.line.reference_line.as_deref(), sku });
    }
    for (rma, arrivals) in arrivals {
        if let Some(kept) = returns.get_mut(rma) {
            arrive(app, tx, kept, &arrivals).await?;
        }
    }
    Ok(())
}
