//! Adds what this process has counted of the intake to the counts of the day.

use store::Failed;
use store::orders::order_days::{self, Taken};
use store::orders::warning_days::{self, DayOfKind};

use crate::app::App;
use crate::intake::counted::What;

/// Stores the counts of every merchant, each in a transaction of its own.
pub async fn count_intake(app: &App) -> Result<(), Failed> {
    while let Some(counted) = app.intake.counted.take() {
        let (mut warnings, mut taken) = (Vec::new(), Vec::new());
        for ((day, what), count) in &counted.counts {
            let (day, count) = (*day, *count);
            match what {
                What::Warning(kind) => warnings.push(DayOfKind { day, kind: kind.clone(), count }),
                What::Order(result) => taken.push(Taken { day, figure: order_days::ORDER, value: result, count }),
                What::Message(result) => taken.push(Taken { day, figure: order_days::MESSAGE, value: result, count }),
            }
        }
        let mut tx = app.begin(counted.merchant).await?;
        warning_days::add(&mut tx, &warnings).await?;
        order_days::add(&mut tx, &taken, app.now()).await?;
        app.commit(tx).await?;
        counted.stored();
    }
    Ok(())
}
