//! Deletes what is outdated about operators: sessions, browsers, links, tokens, failed tries, requests, and entries of the audit trail.

use store::Failed;
use store::merchants::{
    home_audit, operator_devices, operator_invitations, operator_requests, operator_sessions, operator_tokens, sign_in_troubles,
};

use super::sign_in::session_limits;
use crate::app::App;

/// The most rows of each table deleted in one run.
const MOST: i64 = 1_000;

/// Deletes outdated rows. Returns whether there may be more.
pub async fn forget_outdated(app: &App) -> Result<bool, Failed> {
    let now = app.shared_now().await?;
    let entries = home_audit::list_outdated(app.home(), now, MOST).await?;
    let mut tx = app.begin_home().await?;
    if !entries.is_empty() {
        home_audit::forget(&mut tx, &entries).await?;
    }
    let forgotten = [
        operator_sessions::forget(&mut tx, session_limits(app).longest, now, MOST).await?,
        operator_devices::forget(&mut tx, now, MOST).await?,
        operator_invitations::forget(&mut tx, now, MOST).await?,
        sign_in_troubles::forget(&mut tx, now, MOST).await?,
        operator_tokens::forget(&mut tx, now, MOST).await?,
        operator_requests::forget(&mut tx, now, MOST).await?,
        u64::try_from(entries.len()).unwrap_or_default(),
    ];
    app.commit_home(tx).await?;
    Ok(forgotten.into_iter().any(|count| i64::try_from(count).is_ok_and(|count| count >= MOST)))
}
