//! Seals anew what another key than the active one has sealed, and retires keys that nothing needs any more.

use domain::id::MerchantId;
use store::Failed;
use store::merchants::audit::Entry;
use store::merchants::{home_audit, merchant_keys};
use store::messages::health;
use store::node::keys;
use uuid::Uuid;

use super::rotate_keys::depends;
use crate::app::App;
use crate::delivery::secrets::renewal::renew;
use crate::node::keys::active;
use crate::platform::keys::Kind;

/// The most merchants that one statement finds.
const PAGE: i64 = 100;
/// The most pages of one run.
const MOST_PAGES: usize = 10;

/// Seals anew what another key has sealed. Returns whether there may be more.
pub async fn renew_sealed(app: &App) -> Result<bool, Failed> {
    // While another version still delivers, it could not open what this one seals.
    let (processes, _) = health::processes(app.cell()).await?;
    if processes.iter().any(|process| process.version.as_deref() != Some(env!("CARGO_PKG_VERSION"))) {
        return Ok(false);
    }
    let active = app.keys.sealing.active().to_owned();
    let mut after = Uuid::nil();
    for _ in 0..MOST_PAGES {
        let page = merchant_keys::list_to_reseal(app.cell(), &active, after, PAGE).await?;
        for merchant in &page {
            // One merchant whose secrets do not open must not keep the others from being sealed anew.
            if let Err(failed) = renew_merchant(app, *merchant).await {
                tracing::warn!(%failed, %merchant, "sealing the secrets of a merchant anew failed, will retry");
            }
        }
        let full = i64::try_from(page.len()).is_ok_and(|found| found == PAGE);
        match page.last() {
            Some(last) if full => after = last.0,
            _ => {
                retire_keys(app).await?;
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Seals the secrets of one merchant with its data key, and the data key with the active key.
pub async fn renew_merchant(app: &App, merchant: MerchantId) -> Result<usize, Failed> {
    let Some(mut tx) = app.begin_here(merchant).await? else { return Ok(0) };
    let renewed = renew(app, &mut tx).await?;
    app.commit(tx).await?;
    Ok(renewed)
}

/// Notes of every key that was replaced whether anything needs it.
async fn retire_keys(app: &App) -> Result<(), Failed> {
    let used = keys::list(app.home()).await?;
    for key in used.iter().filter(|key| key.retired_at.is_none()) {
        let Ok(kind) = key.kind.parse::<Kind>() else { continue };
        let is_active = active(&used, kind).is_some_and(|active| active.id == key.id);
        // A key that was never used for what is new may be the next one.
        if is_active || key.activated_at.is_none() || depends(app, kind, &key.id, &used).await? > 0 {
            continue;
        }
        let mut tx = app.begin_home().await?;
        keys::retire(&mut tx, kind.as_str(), &key.id, app.now()).await?;
        let detail = format!("{}: {}", kind.as_str(), key.id);
        let entry = Entry { id: app.mint(), actor: "timer", action: "keys.retired", detail: &detail, done_at: app.now() };
        home_audit::record(&mut tx, entry).await?;
        app.commit_home(tx).await?;
    }
    Ok(())
}
