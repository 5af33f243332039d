//! Adds the warnings that this process has counted to those of the day.

use store::Failed;
use store::orders::warning_days::{self, DayOfKind};

use crate::app::App;

/// Stores the counts of every merchant, each in a transaction of its own.
pub async fn count_warnings(app: &App) -> Result<(), Failed> {
    while let Some(taken) = app.intake.warned.take() {
        let counts = taken.counts.iter().map(|((day, kind), count)| DayOfKind { day: *day, kind: kind.clone(), count: *count });
        let counts: Vec<DayOfKind> = counts.collect();
        let mut tx = app.begin(taken.merchant).await?;
        warning_days::add(&mut tx, &counts).await?;
        app.commit(tx).await?;
        taken.stored();
    }
    Ok(())
}
