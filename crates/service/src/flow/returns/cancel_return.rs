//! A return is called off: its units can be returned anew.

use domain::id::MerchantId;
use domain::returns::rma::{Refused, Step};
use store::Failed;
use store::merchants::audit::{self, Entry};
use store::returns::rmas::{self, Return};
use store::returns::unit_claims;

use super::label_return::give_label_back;
use super::tell_return::tell;
use crate::app::App;

/// Why a return was not called off.
#[derive(Debug, thiserror::Error)]
pub enum CancelReturnError {
    /// The merchant has no such return.
    #[error("there is no such return")]
    NoSuchReturn,
    /// It cannot be called off any more.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The database.
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Why a return was called off that the operator called off.
pub const BY_OPERATOR: &str = "canceled_by_operator";
/// Why a return was called off that the merchant's system called off.
pub const BY_MERCHANT: &str = "canceled_by_merchant";

/// Calls a return off, for the reason `why`. One that is called off already stays as it is.
pub async fn cancel_return(app: &App, actor: &str, merchant: MerchantId, identifier: &str, why: &str) -> Result<Return, CancelReturnError> {
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    let mut kept = rmas::lock(&mut tx, identifier).await?.ok_or(CancelReturnError::NoSuchReturn)?;
    match kept.rma.cancel()? {
        Step::Unchanged | Step::TooEarly => {}
        Step::Moved(event) => {
            kept.cancel_reason = Some(why.to_owned());
            unit_claims::release(&mut tx, kept.id).await?;
            tell(app, &mut tx, &mut kept, event, now).await?;
            give_label_back(app, &mut tx, &kept).await?;
            let entry = Entry { id: app.mint(), actor, action: "return.canceled", detail: &kept.identifier, done_at: now };
            audit::record(&mut tx, entry).await?;
            app.commit(tx).await?;
        }
    }
    Ok(kept)
}
