//! A merchant's system, or the operator for it, asks for the current state of a return again: a new message on it, though
//! nothing has changed.

use domain::id::MerchantId;
use domain::returns::rma::Event;
use store::Failed;
use store::merchants::audit::{self, Entry};
use store::returns::rmas::{self, Return};

use super::tell_return::tell;
use crate::app::App;

/// Sends a return as it stands once more; nothing if there is none.
pub async fn resend_return(app: &App, actor: &str, merchant: MerchantId, identifier: &str) -> Result<Option<Return>, Failed> {
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    let Some(mut kept) = rmas::lock(&mut tx, identifier).await? else { return Ok(None) };
    tell(app, &mut tx, &mut kept, Event::Resent, now).await?;
    audit::record(&mut tx, Entry { id: app.mint(), actor, action: "return.resent", detail: &kept.identifier, done_at: now }).await?;
    app.commit(tx).await?;
    Ok(Some(kept))
}
