//! Counts the hours that are over by the day, for reports: of each merchant, and of all merchants together.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use store::Failed;
use store::messages::report_days;
use store::returns::return_days;

use crate::app::App;

/// The most merchants looked at in one run.
const MOST: i64 = 1_000;

/// Counts what is over. Returns whether there may be more.
pub async fn count_days(app: &App) -> Result<bool, Failed> {
    let now = app.shared_now().await?;
    let until = report_days::closed_until(now);
    let messages = report_days::list_uncounted(app.cell(), until, MOST).await?;
    let returns = return_days::list_uncounted(app.cell(), until, MOST).await?;
    let mut more = [&messages, &returns].into_iter().any(|found| i64::try_from(found.len()).is_ok_and(|found| found >= MOST));
    for (merchant, counted) in
        messages.into_iter().map(|of| (of, Counted::Messages)).chain(returns.into_iter().map(|of| (of, Counted::Returns)))
    {
        // A merchant that fails must not hold up the others.
        match count_days_of(app, merchant, counted, until, now).await {
            Ok(continues) => more |= continues,
            Err(failed) => tracing::warn!(%failed, %merchant, "counting the days of a merchant failed, will retry"),
        }
    }
    report_days::sum_up(app.cell(), now).await?;
    report_days::forget_totals(app.cell(), now).await?;
    Ok(more)
}

/// What is counted by the day.
#[derive(Clone, Copy)]
enum Counted {
    Messages,
    Returns,
}

async fn count_days_of(
    app: &App,
    merchant: MerchantId,
    counted: Counted,
    until: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<bool, Failed> {
    let Some(mut tx) = app.begin_here(merchant).await? else { return Ok(false) };
    let more = match counted {
        Counted::Messages => report_days::count(&mut tx, until, now).await?,
        Counted::Returns => return_days::count(&mut tx, until, now).await?,
    };
    app.commit(tx).await?;
    Ok(more)
}
