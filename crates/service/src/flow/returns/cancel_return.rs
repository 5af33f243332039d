//! Cancels a return. Its units can be returned again.

use domain::id::MerchantId;
use domain::returns::rma::{Refused, Step};
use store::Failed;
use store::merchants::audit::{self, Entry};
use store::returns::rmas::{self, Return};
use store::returns::{unit_claims, withdrawals};

use super::label_work::withdraw_label;
use super::save_return::save_change;
use crate::app::App;

/// The reasons a return cannot be cancelled.
#[derive(Debug, thiserror::Error)]
pub enum CancelReturnError {
    #[error("the merchant has no such return")]
    NoSuchReturn,
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// The cancel reason of a return that the operator cancelled.
pub const BY_OPERATOR: &str = "canceled_by_operator";

/// Cancels a return with the given reason. If it is cancelled already, nothing changes.
pub async fn cancel_return(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    identifier: &str,
    reason: &str,
) -> Result<Return, CancelReturnError> {
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    let mut kept = rmas::lock(&mut tx, identifier).await?.ok_or(CancelReturnError::NoSuchReturn)?;
    match kept.rma.cancel()? {
        Step::Unchanged | Step::TooEarly => {}
        Step::Moved(event) => {
            kept.cancel_reason = Some(reason.to_owned());
            unit_claims::release(&mut tx, kept.id).await?;
            withdrawals::unset_return(&mut tx, &kept.identifier).await?;
            save_change(app, &mut tx, &mut kept, event, now).await?;
            withdraw_label(app, &mut tx, &kept).await?;
            let entry = Entry { id: app.mint(), actor, action: "return.canceled", detail: &kept.identifier, done_at: now };
            audit::record(&mut tx, entry).await?;
            app.commit(tx).await?;
        }
    }
    Ok(kept)
}
