//! Somebody confirms that a refund, which was reported while the exchange order was owed, is the shopper's money.

use std::collections::BTreeSet;

use domain::id::MerchantId;
use domain::money::Cents;
use domain::returns::rma::Step;
use domain::returns::work::WorkKind;
use store::merchants::audit::{self, Entry};
use store::orders::refunds;
use store::returns::rmas::{self, Return};
use store::returns::work_items;
use store::{Failed, Tx};

use super::mail_shopper::mail_refund;
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
    let units: Vec<usize> = kept.rma.units.iter().enumerate().filter(|(_, unit)| unit.in_question).map(|(at, _)| at).collect();
    match kept.rma.confirm_refund() {
        Step::Unchanged | Step::TooEarly => Err(ConfirmRefundError::NothingInQuestion),
        Step::Moved(event) => {
            save_change(app, &mut tx, &mut kept, event, now).await?;
            let refunded = total(&mut tx, &kept, &units).await?;
            mail_refund(app, &mut tx, &kept, &units, refunded, now).await?;
            work_items::close(&mut tx, WorkKind::RefundInQuestion, &kept.identifier, now).await?;
            let entry = Entry { id: app.mint(), actor, action: "refund.confirmed", detail: &kept.identifier, done_at: now };
            audit::record(&mut tx, entry).await?;
            app.commit(tx).await?;
            Ok(kept)
        }
    }
}

/// The total of the refunds that cover these units.
async fn total(tx: &mut Tx, kept: &Return, units: &[usize]) -> Result<Cents, Failed> {
    let covering: BTreeSet<&str> = units.iter().filter_map(|at| kept.items.get(*at)?.refund.as_deref()).collect();
    let ledgers = refunds::ledgers(tx, &[&kept.order]).await?;
    let records = ledgers.get(&kept.order).into_iter().flat_map(|ledger| &ledger.refunds);
    let totals = records.filter(|(identifier, _)| covering.contains(identifier.as_str())).map(|(_, record)| record.total);
    Ok(totals.fold(Cents::default(), Cents::plus))
}
