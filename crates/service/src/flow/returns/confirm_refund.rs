//! Somebody confirms that a refund, which was reported while the exchange order was owed, is the shopper's money.

use domain::id::MerchantId;
use domain::returns::rma::Step;
use domain::returns::work::WorkKind;
use store::Failed;
use store::merchants::audit::{self, Entry};
use store::returns::rmas::{self, Return};
use store::returns::work_items;

use super::save_return::save_change;
use crate::app::App;

/// The reasons a refund cannot be confirmed.
#[derive(Debug, thiserror::Error)]
pub enum ConfirmRefundError {
    #[error("the merchant has no such return")]
    NoSuchReturn,
    #[error("no refund of the return is in question; there is nothing to confirm")]
    NothingInQuestion,
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Settles the units of a return whose refund is in question.
pub async fn confirm_refund(app: &App, actor: &str, merchant: MerchantId, identifier: &str) -> Result<Return, ConfirmRefundError> {
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    let mut kept = rmas::lock(&mut tx, identifier).await?.ok_or(ConfirmRefundError::NoSuchReturn)?;
    match kept.rma.confirm_refund() {
        Step::Unchanged | Step::TooEarly => Err(ConfirmRefundError::NothingInQuestion),
        Step::Moved(event) => {
            save_change(app, &mut tx, &mut kept, event, now).await?;
            work_items::close(&mut tx, WorkKind::RefundInQuestion, &kept.identifier, now).await?;
            let entry = Entry { id: app.mint(), actor, action: "refund.confirmed", detail: &kept.identifier, done_at: now };
            audit::record(&mut tx, entry).await?;
            app.commit(tx).await?;
            Ok(kept)
        }
    }
}
