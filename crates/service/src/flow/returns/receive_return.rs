//! Units of a return arrive at the warehouse, for merchants with managed receiving.

use domain::id::MerchantId;
use domain::returns::rma::{Receiving, Refused, Rma, Step};
use store::returns::rmas::{self, Return};
use store::{Failed, Tx};

use super::tell_return::tell;
use crate::app::App;

/// Why nothing was received.
#[derive(Debug, thiserror::Error)]
pub enum ReceiveReturnError {
    /// The merchant has no such return.
    #[error("there is no such return")]
    NoSuchReturn,
    /// It cannot be received.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The database.
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// The units at these positions of the return have arrived.
pub async fn receive_units(app: &App, merchant: MerchantId, identifier: &str, units: &[usize]) -> Result<Return, ReceiveReturnError> {
    change(app, merchant, identifier, |rma| rma.receive(units)).await
}

/// Nothing more is expected to arrive for the return.
pub async fn close_receiving(app: &App, merchant: MerchantId, identifier: &str) -> Result<Return, ReceiveReturnError> {
    change(app, merchant, identifier, Rma::close_receiving).await
}

async fn change(
    app: &App,
    merchant: MerchantId,
    identifier: &str,
    step: impl FnOnce(&mut Rma) -> Result<Step, Refused>,
) -> Result<Return, ReceiveReturnError> {
    let mut tx = app.begin(merchant).await?;
    let mut kept = rmas::lock(&mut tx, identifier).await?.ok_or(ReceiveReturnError::NoSuchReturn)?;
    match step(&mut kept.rma)? {
        Step::Unchanged | Step::TooEarly => {}
        Step::Moved(event) => {
            tell(app, &mut tx, &mut kept, event, app.now()).await?;
            app.commit(tx).await?;
        }
    }
    Ok(kept)
}

/// A unit of a return as the warehouse knows it: its line in the order, where it is known, and its SKU.
pub(in crate::flow) struct Arrival<'a> {
    pub(in crate::flow) line: Option<&'a str>,
    pub(in crate::flow) sku: Option<&'a str>,
}

/// Units of a return, which is locked, have arrived. What the return does not wait for changes nothing: without managed
/// receiving, after it was called off, or when it has no such unit.
pub(in crate::flow) async fn arrive(app: &App, tx: &mut Tx, kept: &mut Return, arrivals: &[Arrival<'_>]) -> Result<(), Failed> {
    let units = positions(kept, arrivals);
    move_on(app, tx, kept, |rma| rma.receive(&units)).await
}

/// Nothing more is expected to arrive for a return, which is locked.
pub(in crate::flow) async fn close(app: &App, tx: &mut Tx, kept: &mut Return) -> Result<(), Failed> {
    move_on(app, tx, kept, Rma::close_receiving).await
}

async fn move_on(app: &App, tx: &mut Tx, kept: &mut Return, step: impl FnOnce(&mut Rma) -> Result<Step, Refused>) -> Result<(), Failed> {
    match step(&mut kept.rma) {
        Ok(Step::Moved(event)) => tell(app, tx, kept, event, app.now()).await,
        Ok(Step::Unchanged | Step::TooEarly) | Err(_) => Ok(()),
    }
}

/// Which units of the return those are: the first that is waited for, of the line, or where none is named, of the SKU.
fn positions(kept: &Return, arrivals: &[Arrival<'_>]) -> Vec<usize> {
    let mut positions = Vec::new();
    for arrival in arrivals {
        let fits = |line: &str, sku: &str| match (arrival.line, arrival.sku) {
            (Some(named), _) => named == line,
            (None, Some(named)) => named == sku,
            (None, None) => false,
        };
        let mut waited_for = kept.units().enumerate().filter(|(_, (unit, _))| match unit.receiving {
            Some(Receiving::Pending | Receiving::NotReceived) => true,
            Some(Receiving::Received) | None => false,
        });
        positions.extend(waited_for.find(|(at, (unit, item))| fits(&unit.line, &item.sku) && !positions.contains(at)).map(|(at, _)| at));
    }
    positions
}
