//! Deletes refused messages and import reports after 90 days, and counts of warnings after 400.

use store::Failed;
use store::orders::{imports, refusals, warning_days};

use crate::app::App;
use crate::flow::returns::forget_outdated::by_merchant;

/// The most refusals, and the most imports, deleted in one run.
const MOST: i64 = 1_000;
const MOST_IMPORTS: i64 = 10;

/// Deletes outdated rows. Returns whether there may be more.
pub async fn forget_outdated(app: &App) -> Result<bool, Failed> {
    let now = app.shared_now().await?;
    let refused = refusals::list_outdated(app.cell(), now, MOST).await?;
    let imported = imports::list_outdated(app.cell(), now, MOST_IMPORTS).await?;
    let warned = warning_days::list_outdated(app.cell(), now, MOST).await?;
    let full = |found: usize, most: i64| i64::try_from(found).is_ok_and(|found| found == most);
    let mut more = full(refused.len(), MOST) || full(imported.len(), MOST_IMPORTS) || full(warned.len(), MOST);
    for (merchant, refusals) in by_merchant(refused) {
        let Some(mut tx) = app.begin_here(merchant).await? else { continue };
        refusals::forget(&mut tx, &refusals).await?;
        app.commit(tx).await?;
    }
    for (merchant, days) in by_merchant(warned) {
        let Some(mut tx) = app.begin_here(merchant).await? else { continue };
        warning_days::forget(&mut tx, &days).await?;
        app.commit(tx).await?;
    }
    for (merchant, import) in imported {
        let Some(mut tx) = app.begin_here(merchant).await? else { continue };
        more |= !imports::forget(&mut tx, import, now).await?;
        app.commit(tx).await?;
    }
    Ok(more)
}
