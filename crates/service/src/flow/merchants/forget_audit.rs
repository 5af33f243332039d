//! Deletes entries of the audit trail after 7 years.

use store::Failed;
use store::merchants::audit;

use crate::app::App;
use crate::flow::returns::forget_outdated::by_merchant;

/// The most entries deleted in one run.
const MOST: i64 = 1_000;

/// Deletes outdated entries. Returns whether there may be more.
pub async fn forget_audit(app: &App) -> Result<bool, Failed> {
    let outdated = audit::list_outdated(app.cell(), app.shared_now().await?, MOST).await?;
    let more = i64::try_from(outdated.len()).is_ok_and(|found| found == MOST);
    for (merchant, entries) in by_merchant(outdated) {
        let Some(mut tx) = app.begin_here(merchant).await? else { continue };
        audit::forget(&mut tx, &entries).await?;
        app.commit(tx).await?;
    }
    Ok(more)
}
