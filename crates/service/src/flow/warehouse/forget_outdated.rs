//! Deletes the notes on receiving exceptions after 400 days.

use store::Failed;
use store::warehouse::exception_notes;

use crate::app::App;
use crate::flow::returns::forget_outdated::by_merchant;

/// The most notes deleted in one run.
const MOST: i64 = 1_000;

/// Deletes outdated rows. Returns whether there may be more.
pub async fn forget_outdated(app: &App) -> Result<bool, Failed> {
    let now = app.shared_now().await?;
    let noted = exception_notes::list_outdated(app.cell(), now, MOST).await?;
    let more = i64::try_from(noted.len()).is_ok_and(|found| found == MOST);
    for (merchant, exceptions) in by_merchant(noted) {
        let Some(mut tx) = app.begin_here(merchant).await? else { continue };
        exception_notes::forget(&mut tx, &exceptions, now).await?;
        app.commit(tx).await?;
    }
    Ok(more)
}
