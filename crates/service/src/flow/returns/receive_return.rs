//! Units of a return arrive at the warehouse, or are no longer expected, for merchants with managed receiving.

use domain::id::MerchantId;
use domain::returns::rma::{Receiving, Refused, Rma, Step};
use store::returns::rmas::{self, Return};
use store::{Failed, Tx};

use super::save_return::save_change;
use crate::app::App;

/// The reasons the receiving of a return cannot be closed.
#[derive(Debug, thiserror::Error)]
pub enum CloseReceivingError {
    #[error("the merchant has no such return")]
    NoSuchReturn,
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Closes the receiving of a return: no more units are expected. A repeat changes nothing.
pub async fn close_receiving(app: &App, merchant: MerchantId, identifier: &str) -> Result<Return, CloseReceivingError> {
    let mut tx = app.begin(merchant).await?;
    let mut kept = rmas::lock(&mut tx, identifier).await?.ok_or(CloseReceivingError::NoSuchReturn)?;
    match kept.rma.close_receiving()? {
        Step::Unchanged | Step::TooEarly => {}
        Step::Moved(event) => {
            save_change(app, &mut tx, &mut kept, event, app.now()).await?;
            app.commit(tx).await?;
        }
    }
    Ok(kept)
}

/// A unit that arrived at the warehouse: its order line, if it is known, and its SKU.
pub(in crate::flow) struct Arrival<'a> {
    pub(in crate::flow) line: Option<&'a str>,
    pub(in crate::flow) sku: Option<&'a str>,
}

/// Receives units of a return, which must be locked. Units that the return does not wait for are ignored: without managed
/// receiving, after it was cancelled, or if it has no such unit.
pub(in crate::flow) async fn arrive(app: &App, tx: &mut Tx, kept: &mut Return, arrivals: &[Arrival<'_>]) -> Result<(), Failed> {
    let units = positions(kept, arrivals);
    move_on(app, tx, kept, |rma| rma.receive(&units)).await
}

/// Closes the receiving of a return, which must be locked.
pub(in crate::flow) async fn close(app: &App, tx: &mut Tx, kept: &mut Return) -> Result<(), Failed> {
    move_on(app, tx, kept, Rma::close_receiving).await
}

async fn move_on(app: &App, tx: &mut Tx, kept: &mut Return, step: impl FnOnce(&mut Rma) -> Result<Step, Refused>) -> Result<(), Failed> {
    match step(&mut kept.rma) {
        Ok(Step::Moved(event)) => save_change(app, tx, kept, event, app.now()).await,
        Ok(Step::Unchanged | Step::TooEarly) | Err(_) => Ok(()),
    }
}

/// Matches arrivals with units that are still expected: by order line, or by SKU if no line is given.
fn positions(kept: &Return, arrivals: &[Arrival<'_>]) -> Vec<usize> {
    let mut positions = Vec::new();
    for arrival in arrivals {
        let fits = |line: &str, sku: &str| match (arrival.line, arrival.sku) {
            (Some(named), _) => named == line,
            (None, Some(named)) => named == sku,
            (None, None) => false,
        };
        let mut expected = kept.units().enumerate().filter(|(_, (unit, _))| unit.receiving.is_some_and(Receiving::is_expected));
        positions.extend(expected.find(|(at, (unit, item))| fits(&unit.line, &item.sku) && !positions.contains(at)).map(|(at, _)| at));
    }
    positions
}
