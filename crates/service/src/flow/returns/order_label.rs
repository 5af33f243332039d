//! Orders the label of a return again, after the carrier refused it, or because the merchant had no carrier before.

use domain::id::MerchantId;
use domain::returns::label::LabelState;
use domain::returns::rma::{Method, Status};
use domain::returns::work::WorkKind;
use store::Failed;
use store::merchants::audit::{self, Entry};
use store::orders::snapshots;
use store::returns::rmas::{self, Return};
use store::returns::{label_orders, work_items};

use super::label_work::buy_label;
use crate::app::App;

/// The reasons a label cannot be ordered.
#[derive(Debug, thiserror::Error)]
pub enum OrderLabelError {
    #[error("the merchant has no such return")]
    NoSuchReturn,
    #[error("the return is cancelled")]
    Cancelled,
    #[error("the return has been refunded")]
    Refunded,
    #[error("the shopper keeps the goods")]
    Kept,
    #[error("the return already has a label")]
    Labelled,
    #[error("the merchant has no carrier account; set one with `backhaul carrier set`, or report the label as a carrier event")]
    NoCarrier,
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Orders the label of a return, with the address that its order has now, and closes its case on the work list. If the label is
/// being bought already, nothing changes.
pub async fn order_label(app: &App, actor: &str, merchant: MerchantId, identifier: &str) -> Result<Return, OrderLabelError> {
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    let kept = rmas::lock(&mut tx, identifier).await?.ok_or(OrderLabelError::NoSuchReturn)?;
    check(&kept)?;
    let number = match label_orders::find(&mut tx, kept.id).await? {
        Some(order) if order.state == LabelState::Ordered => return Ok(kept),
        Some(order) => order.number.saturating_add(1),
        None => 1,
    };
    let stored = snapshots::snapshot(&mut tx, &kept.order).await?;
    let order = stored.as_deref().and_then(wire::orders::order::read_stored);
    let order = order.ok_or(Failed::Internal("the stored order of a return cannot be read"))?;
    if !buy_label(app, &mut tx, &kept, &order, number).await? {
        return Err(OrderLabelError::NoCarrier);
    }
    work_items::close(&mut tx, WorkKind::LabelRefused, &kept.identifier, now).await?;
    audit::record(&mut tx, Entry { id: app.mint(), actor, action: "label.ordered", detail: &kept.identifier, done_at: now }).await?;
    app.commit(tx).await?;
    Ok(kept)
}

fn check(kept: &Return) -> Result<(), OrderLabelError> {
    match kept.rma.status {
        Status::Created | Status::PartialRefund => {}
        Status::Refunded => return Err(OrderLabelError::Refunded),
        Status::Cancelled => return Err(OrderLabelError::Cancelled),
    }
    match kept.rma.method {
        Method::MailBack | Method::ExpressReturns => {}
        Method::CustomerKeep => return Err(OrderLabelError::Kept),
    }
    if kept.rma.is_labelled() { Err(OrderLabelError::Labelled) } else { Ok(()) }
}
