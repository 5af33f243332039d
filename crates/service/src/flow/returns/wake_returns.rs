//! Wakes returns that no carrier has scanned: first reminds the shopper, and finally cancels the return.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::returns::rma::Step;
use domain::returns::rma::policy::{EXPIRED, EXPIRES_AFTER};
use store::returns::rmas::{self, Return};
use store::returns::unit_claims;
use store::{Failed, Tx};
use uuid::Uuid;

use super::label_work::withdraw_label;
use super::mail_shopper::mail_reminder;
use super::save_return::save_change;
use crate::app::App;

/// The most returns woken in one run.
const MOST: i64 = 100;

/// Wakes the returns that are due by the database's clock. Returns whether there may be more.
pub async fn wake_returns(app: &App) -> Result<bool, Failed> {
    let now = app.shared_now().await?;
    let due = rmas::due_to_wake(app.cell(), now, MOST).await?;
    for (merchant, id) in &due {
        // A return that fails must not hold up the others.
        if let Err(failed) = wake(app, *merchant, *id, now).await {
            tracing::warn!(%failed, rma = %id, "waking a return failed, will retry");
        }
    }
    Ok(i64::try_from(due.len()).is_ok_and(|woken| woken == MOST))
}

/// Wakes one return, unless another node has done so in the meantime.
async fn wake(app: &App, merchant: MerchantId, id: Uuid, now: DateTime<Utc>) -> Result<(), Failed> {
    let Some(mut tx) = app.begin_here(merchant).await? else { return Ok(()) };
    let Some(mut kept) = rmas::lock_by_id(&mut tx, id).await? else { return Ok(()) };
    if kept.wakes_at.is_none_or(|due| due > now) {
        return Ok(());
    }
    if now < kept.created_at + EXPIRES_AFTER && !kept.reminded {
        remind(app, &mut tx, &mut kept, now).await?;
    } else {
        expire(app, &mut tx, &mut kept, now).await?;
    }
    app.commit(tx).await
}

/// Reminds the shopper; the return itself does not change.
async fn remind(app: &App, tx: &mut Tx, kept: &mut Return, now: DateTime<Utc>) -> Result<(), Failed> {
    kept.reminded = true;
    kept.wakes_at = Some(kept.created_at + EXPIRES_AFTER);
    rmas::save(tx, kept).await?;
    mail_reminder(app, tx, kept, now).await
}

/// Cancels the return, unless it has moved on in the meantime.
async fn expire(app: &App, tx: &mut Tx, kept: &mut Return, now: DateTime<Utc>) -> Result<(), Failed> {
    let Ok(Step::Moved(event)) = kept.rma.cancel() else {
        kept.wakes_at = None;
        return rmas::save(tx, kept).await;
    };
    kept.cancel_reason = Some(EXPIRED.to_owned());
    unit_claims::release(tx, kept.id).await?;
    save_change(app, tx, kept, event, now).await?;
    withdraw_label(app, tx, kept).await
}
