//! Counts the hours that are over by the day, for reports: of each merchant, and of all merchants together.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use store::Failed;
use store::messages::report_days;

use crate::app::App;

/// The most merchants looked at in one run.
const MOST: i64 = 1_000;

/// Counts what is over. Returns whether there may be more.
pub async fn count_days(app: &App) -> Result<bool, Failed> {
    let now = app.shared_now().await?;
    let until = report_days::closed_until(now);
    let merchants = report_days::list_uncounted(app.cell(), until, MOST).await?;
    let mut more = i64::try_from(merchants.len()).is_ok_and(|found| found >= MOST);
    for merchant in merchants {
        // A merchant that fails must not hold up the others.
        match count_days_of(app, merchant, until, now).await {
            Ok(continues) => more |= continues,
            Err(failed) => tracing::warn!(%failed, %merchant, "counting the days of a merchant failed, will retry"),
        }
    }
    report_days::sum_up(app.cell(), now).await?;
    report_days::forget_totals(app.cell(), now).await?;
    Ok(more)
}

async fn count_days_of(app: &App, merchant: MerchantId, until: DateTime<Utc>, now: DateTime<Utc>) -> Result<bool, Failed> {
    let mut tx = app.begin(merchant).await?;
    let more = report_days::count(&mut tx, until, now).await?;
    app.commit(tx).await?;
    Ok(more)
}
