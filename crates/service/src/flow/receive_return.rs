//! Units of a return arrive at the warehouse, for merchants with managed receiving.

use domain::id::MerchantId;
use domain::rma::{Refused, Rma, Step};
use store::Failed;
use store::rmas::{self, Return};

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
    let mut tx = app.store.begin(merchant).await?;
    let mut kept = rmas::lock(&mut tx, identifier).await?.ok_or(ReceiveReturnError::NoSuchReturn)?;
    match step(&mut kept.rma)? {
        Step::Unchanged | Step::TooEarly => {}
        Step::Moved(event) => {
            let owed = tell(app, &mut tx, &mut kept, event, app.now()).await?;
            tx.commit().await?;
            owed.into_iter().for_each(|owed| app.signals.owe(owed));
        }
    }
    Ok(kept)
}
