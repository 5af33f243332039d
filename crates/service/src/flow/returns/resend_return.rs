//! Sends the current state of a return again: a new message although nothing has changed.

use domain::id::MerchantId;
use domain::returns::rma::Event;
use store::Failed;
use store::merchants::audit::{self, Entry};
use store::returns::rmas::{self, Return};

use super::save_return::save_change;
use crate::app::App;

/// Sends the current state of a return. `None` if the merchant has no such return.
pub async fn resend_return(app: &App, actor: &str, merchant: MerchantId, identifier: &str) -> Result<Option<Return>, Failed> {
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    let Some(mut kept) = rmas::lock(&mut tx, identifier).await? else { return Ok(None) };
    save_change(app, &mut tx, &mut kept, Event::Resent, now).await?;
    audit::record(&mut tx, Entry { id: app.mint(), actor, action: "return.resent", detail: &kept.identifier, done_at: now }).await?;
    app.commit(tx).await?;
    Ok(Some(kept))
}
