//! Seals operators' authenticators anew, when the active key has changed.

use store::Failed;
use store::merchants::{merchant_keys, operators};

use super::ticket::renew_totp;
use crate::app::App;

/// The most operators of one run.
const MOST: i64 = 100;

/// Seals anew what another key has sealed. Returns whether there may be more.
pub async fn renew_totps(app: &App) -> Result<bool, Failed> {
    let found = merchant_keys::list_operators_to_reseal(app.home(), app.keyring.active(), MOST).await?;
    for id in &found {
        let Some(account) = operators::get(app.home(), *id).await? else { continue };
        let (Some(before), Some(new)) = (&account.totp, renew_totp(app, &account)?) else { continue };
        let mut tx = app.begin_home().await?;
        merchant_keys::save_operator(&mut tx, *id, &before.bytes, &new.key_id, &new.bytes).await?;
        app.commit_home(tx).await?;
    }
    Ok(i64::try_from(found.len()).is_ok_and(|found| found == MOST))
}
