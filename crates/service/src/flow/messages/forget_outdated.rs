//! Deletes entries of the failure queue 30 days after they were resolved or discarded, and jobs that retry or replay 90 days
//! after they ended.

use store::Failed;
use store::messages::{failures, replays, retry_jobs};

use crate::app::App;
use crate::flow::returns::forget_outdated::by_merchant;

/// The most rows of each table dated or deleted in one run.
const MOST: i64 = 1_000;

/// Deletes outdated rows. Returns whether there may be more.
pub async fn forget_outdated(app: &App) -> Result<bool, Failed> {
    let now = app.shared_now().await?;
    let ended = failures::list_ended(app.cell(), MOST).await?;
    let outdated = failures::list_outdated(app.cell(), now, MOST).await?;
    let jobs = retry_jobs::list_outdated(app.cell(), now, MOST).await?;
    let replayed = replays::list_outdated(app.cell(), now, MOST).await?;
    let found = [ended.len(), outdated.len(), jobs.len(), replayed.len()];
    let more = found.into_iter().any(|found| i64::try_from(found).is_ok_and(|found| found == MOST));
    for (merchant, messages) in by_merchant(ended) {
        let Some(mut tx) = app.begin_here(merchant).await? else { continue };
        failures::date_end(&mut tx, &messages, now).await?;
        app.commit(tx).await?;
    }
    for (merchant, messages) in by_merchant(outdated) {
        let Some(mut tx) = app.begin_here(merchant).await? else { continue };
        failures::forget(&mut tx, &messages, now).await?;
        app.commit(tx).await?;
    }
    for (merchant, jobs) in by_merchant(jobs) {
        let Some(mut tx) = app.begin_here(merchant).await? else { continue };
        retry_jobs::forget(&mut tx, &jobs).await?;
        app.commit(tx).await?;
    }
    for (merchant, jobs) in by_merchant(replayed) {
        let Some(mut tx) = app.begin_here(merchant).await? else { continue };
        replays::forget(&mut tx, &jobs).await?;
        app.commit(tx).await?;
    }
    Ok(more)
}
