//! Work that comes due with time: reminding of and expiring returns, listing exchanges without an identifier,
//! deleting and overwriting what is outdated, and counting what was dropped.

use std::sync::Mutex;
use std::time::Duration;

use store::Failed;

use crate::app::App;
use crate::delivery::timer::{Run, Timer};
use crate::flow::merchants::end_retention::end_retention;
use crate::flow::merchants::forget_audit::forget_audit;
use crate::flow::merchants::note_first_orders::note_first_orders;
use crate::flow::merchants::operators::forget_outdated::forget_outdated as forget_operators;
use crate::flow::messages::count_dropped::count_dropped;
use crate::flow::messages::forget_outdated::forget_outdated as forget_messages;
use crate::flow::orders::forget_outdated::forget_outdated as forget_orders;
use crate::flow::returns::forget_outdated::forget_outdated as forget_returns;
use crate::flow::returns::list_unidentified_exchanges::list_unidentified_exchanges;
use crate::flow::returns::wake_returns::wake_returns;

/// The interval between two looks at what every merchant keeps, which take a few statements for each.
const RETENTION_EVERY: Duration = Duration::from_hours(1);

/// The timers of all flows.
pub struct Timers {
    app: App,
    /// The uptime at which every merchant is looked at again.
    retention_due: Mutex<Duration>,
}

impl Timers {
    /// Timers that look at everything in their first run.
    #[must_use]
    pub fn new(app: App) -> Self {
        Self { app, retention_due: Mutex::default() }
    }

    /// Ends retention once an hour, and again at once as long as there is more. Returns whether there may be more.
    async fn end_retention(&self) -> Result<bool, Failed> {
        let now = self.app.clock.uptime();
        if self.retention_due.lock().is_ok_and(|due| now < *due) {
            return Ok(false);
        }
        let more = end_retention(&self.app).await?;
        if let Ok(mut due) = self.retention_due.lock() {
            *due = if more { now } else { now + RETENTION_EVERY };
        }
        Ok(more)
    }
}

impl Timer for Timers {
    fn run(&self) -> Run<'_> {
        Box::pin(async {
            let app = &self.app;
            let more = [
                continues("waking returns", wake_returns(app).await),
                continues("listing exchange orders without an identifier", list_unidentified_exchanges(app).await),
                continues("deleting outdated rows of returns", forget_returns(app).await),
                continues("deleting outdated rows of orders", forget_orders(app).await),
                continues("deleting outdated rows of messages", forget_messages(app).await),
                continues("deleting outdated audit entries", forget_audit(app).await),
                continues("deleting outdated rows of operators", forget_operators(app).await),
                continues("ending retention", self.end_retention().await),
                continues("counting dropped messages", count_dropped(app).await),
                continues("noting first orders", note_first_orders(app).await),
            ];
            more.contains(&true)
        })
    }
}

/// Whether a timer has more to do. One that failed runs again later.
fn continues(work: &'static str, done: Result<bool, Failed>) -> bool {
    done.unwrap_or_else(|failed| {
        tracing::warn!(%failed, work, "a timer failed, will retry");
        false
    })
}
