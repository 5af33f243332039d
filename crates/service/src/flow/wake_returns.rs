//! Time passes without a scan: the shopper is reminded of the return, and in the end it is called off.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::rma::Step;
use domain::rma::policy::EXPIRES_AFTER;
use store::outbox::Owed;
use store::rmas::{self, Return};
use store::{Failed, Tx, unit_claims};
use uuid::Uuid;

use super::tell_return::tell;
use crate::app::App;

/// Why a return was called off that nobody called off.
pub const EXPIRED: &str = "expired";

/// How many returns are woken in a row.
const MOST: i64 = 100;

/// Wakes the returns that are due, and answers whether there may be more.
pub async fn wake_returns(app: &App) -> Result<bool, Failed> {
    let due = rmas::due_to_wake(&app.store, app.now(), MOST).await?;
    for (merchant, id) in &due {
        // One that cannot be woken must not keep the others asleep.
        if let Err(failed) = wake(app, *merchant, *id).await {
            tracing::warn!(%failed, rma = %id, "a return was not woken; it is tried again");
        }
    }
    Ok(i64::try_from(due.len()).is_ok_and(|woken| woken == MOST))
}

/// Wakes one return. Whoever did it meanwhile has done it.
async fn wake(app: &App, merchant: MerchantId, id: Uuid) -> Result<(), Failed> {
    let now = app.now();
    let mut tx = app.store.begin(merchant).await?;
    let Some(mut kept) = rmas::lock_by_id(&mut tx, id).await? else { return Ok(()) };
    if kept.wakes_at.is_none_or(|due| due > now) {
        return Ok(());
    }
    let owed = if now < kept.created_at + EXPIRES_AFTER && !kept.reminded {
        remind(app, &mut tx, &mut kept).await?
    } else {
        expire(app, &mut tx, &mut kept, now).await?
    };
    tx.commit().await?;
    owed.into_iter().for_each(|owed| app.signals.owe(owed));
    Ok(())
}

/// Reminds the shopper; the return itself does not change.
async fn remind(app: &App, tx: &mut Tx, kept: &mut Return) -> Result<Option<Owed>, Failed> {
    kept.reminded = true;
    kept.wakes_at = Some(kept.created_at + EXPIRES_AFTER);
    rmas::save(tx, kept).await?;
    _ = app;
    Ok(None)
}

/// Calls the return off, unless it has moved on meanwhile.
async fn expire(app: &App, tx: &mut Tx, kept: &mut Return, now: DateTime<Utc>) -> Result<Option<Owed>, Failed> {
    let Ok(Step::Moved(event)) = kept.rma.cancel() else {
        kept.wakes_at = None;
        rmas::save(tx, kept).await?;
        return Ok(None);
    };
    kept.cancel_reason = Some(EXPIRED.to_owned());
    unit_claims::release(tx, kept.id).await?;
    tell(app, tx, kept, event, now).await
}
