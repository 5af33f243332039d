//! Deletes a whole merchant: first whatever could still write or be read, then every row, in parts that any process can continue.

use chrono::{DateTime, TimeDelta, Utc};
use store::Failed;
use store::merchants::accounts::Merchant;
use store::merchants::audit::{self, Entry};
use store::merchants::deletions::{self, Deletion, EMPTIED};
use store::merchants::merchant_keys;
use store::messages::endpoints;
use store::node::directory;

use crate::app::App;

/// The time for which a merchant must have been paused, so that nothing is under way any more and nobody deletes in haste.
const PAUSED_FOR: TimeDelta = TimeDelta::minutes(10);
/// The time after the endpoints were removed in which calls under way end.
const CALLS_END_WITHIN: TimeDelta = TimeDelta::minutes(5);
/// The most rows deleted in one transaction.
const MOST: i64 = 1_000;
/// The most transactions in one run, so that other timers have their turn.
const MOST_PARTS: usize = 200;

/// The reasons a merchant is not deleted.
#[derive(Debug, thiserror::Error)]
pub enum DeleteMerchantError {
    #[error("the merchant `{0}` is not paused; pause it with `backhaul merchant pause {0}`, and delete it 10 minutes later")]
    NotPaused(String),
    #[error("the merchant was paused less than 10 minutes ago; calls may be under way until {}, so delete it after that", wire::time::write(*.0))]
    TooEarly(DateTime<Utc>),
    #[error("the merchant `{0}` is being deleted already")]
    Deleting(String),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Whether the merchant may be deleted now.
pub async fn check(app: &App, merchant: &Merchant) -> Result<(), DeleteMerchantError> {
    if merchant.deleting_at.is_some() {
        return Err(DeleteMerchantError::Deleting(merchant.handle.clone()));
    }
    let paused_at = merchant.paused_at.ok_or_else(|| DeleteMerchantError::NotPaused(merchant.handle.clone()))?;
    let from = paused_at + PAUSED_FOR;
    if app.shared_now().await? < from {
        return Err(DeleteMerchantError::TooEarly(from));
    }
    Ok(())
}

/// Begins to delete the merchant. From here on there is no way back: its data key is gone, and with it whatever the key sealed.
pub async fn begin_deleting_merchant(app: &App, actor: &str, merchant: &Merchant) -> Result<(), DeleteMerchantError> {
    check(app, merchant).await?;
    let now = app.shared_now().await?;
    let mut tx = app.begin(merchant.id).await?;
    if !deletions::begin(&mut tx, now).await? {
        return Err(DeleteMerchantError::Deleting(merchant.handle.clone()));
    }
    endpoints::remove_all(&mut tx, app.now()).await?;
    merchant_keys::delete(&mut tx).await?;
    let entry = Entry { id: app.mint(), actor, action: "merchant.deletion_begun", detail: &merchant.handle, done_at: app.now() };
    audit::record(&mut tx, entry).await?;
    Ok(app.commit(tx).await?)
}

/// Continues to delete merchants. Returns whether there is more to delete.
pub async fn delete_merchants(app: &App) -> Result<bool, Failed> {
    let mut more = false;
    for deletion in deletions::list(app.cell(), app.shared_now().await? - CALLS_END_WITHIN).await? {
        more |= !delete_merchant(app, &deletion).await?;
    }
    Ok(more)
}

/// Deletes some of a merchant's rows, and the merchant itself once none is left. Returns whether it is gone.
async fn delete_merchant(app: &App, deletion: &Deletion) -> Result<bool, Failed> {
    let mut parts = 0;
    for table in EMPTIED {
        loop {
            if parts == MOST_PARTS {
                return Ok(false);
            }
            parts += 1;
            let mut tx = app.begin(deletion.merchant).await?;
            let deleted = deletions::delete(&mut tx, table, MOST).await?;
            app.commit(tx).await?;
            if deleted < MOST.unsigned_abs() {
                break;
            }
        }
    }
    // Before the merchant itself: whoever continues after that would find nothing to continue.
    if app.has_several_cells() {
        let mut tx = app.begin_home().await?;
        directory::forget(&mut tx, deletion.merchant).await?;
        app.commit_home(tx).await?;
    }
    let mut tx = app.begin(deletion.merchant).await?;
    if !deletions::finish(&mut tx).await? {
        // Another process was faster.
        return Ok(true);
    }
    let entry = Entry { id: app.mint(), actor: "timer", action: "merchant.deleted", detail: &deletion.handle, done_at: app.now() };
    audit::record(&mut tx, entry).await?;
    app.commit(tx).await?;
    Ok(true)
}
