//! Work that comes due with time: reminding of and expiring returns, listing exchanges without an identifier,
//! deleting and overwriting what is outdated, counting what was dropped and what happened on each day, and numbering messages that are
//! not numbered.

use std::sync::Mutex;
use std::time::Duration;

use store::Failed;

use crate::app::App;
use crate::delivery::timer::{Run, Timer};
use crate::flow::merchants::delete_merchant::delete_merchants;
use crate::flow::merchants::end_retention::end_retention;
use crate::flow::merchants::forget_audit::forget_audit;
use crate::flow::merchants::note_first_orders::note_first_orders;
use crate::flow::merchants::operators::forget_outdated::forget_outdated as forget_operators;
use crate::flow::merchants::operators::renew_totps::renew_totps;
use crate::flow::messages::count_days::count_days;
use crate::flow::messages::count_dropped::count_dropped;
use crate::flow::messages::forget_outdated::forget_outdated as forget_messages;
use crate::flow::messages::number_messages::number_messages;
use crate::flow::node::renew_sealed::renew_sealed;
use crate::flow::orders::forget_outdated::forget_outdated as forget_orders;
use crate::flow::orders::renew_fingerprints::renew_fingerprints;
use crate::flow::returns::forget_outdated::forget_outdated as forget_returns;
use crate::flow::returns::list_unidentified_exchanges::list_unidentified_exchanges;
use crate::flow::returns::wake_returns::wake_returns;
use crate::flow::warehouse::forget_outdated::forget_outdated as forget_exception_notes;

/// The interval between two looks at what every merchant keeps, which take a few statements for each.
const RETENTION_EVERY: Duration = Duration::from_hours(1);

/// The interval between two looks at the hours that can be counted by the day.
const COUNTING_EVERY: Duration = Duration::from_mins(10);

/// The interval between two looks at what was sealed with another key than the active one.
const RENEWAL_EVERY: Duration = Duration::from_mins(1);

/// The timers of all flows.
pub struct Timers {
    app: App,
    /// The uptime at which hours are counted by the day again.
    counting_due: Mutex<Duration>,
    /// The uptime at which every merchant is looked at again.
    retention_due: Mutex<Duration>,
    /// The uptimes at which secrets are sealed anew, and fingerprints computed anew.
    sealed_due: Mutex<Duration>,
    fingerprints_due: Mutex<Duration>,
}

impl Timers {
    /// Timers that look at everything in their first run.
    #[must_use]
    pub fn new(app: App) -> Self {
        Self {
            app,
            counting_due: Mutex::default(),
            retention_due: Mutex::default(),
            sealed_due: Mutex::default(),
            fingerprints_due: Mutex::default(),
        }
    }

    /// Ends retention once an hour, and again at once as long as there is more. Returns whether there may be more.
    async fn end_retention(&self) -> Result<bool, Failed> {
        self.every(RETENTION_EVERY, &self.retention_due, end_retention(&self.app)).await
    }

    /// Counts closed hours by the day, and again at once as long as there are more. Returns whether there may be more.
    async fn count_days(&self) -> Result<bool, Failed> {
        self.every(COUNTING_EVERY, &self.counting_due, count_days(&self.app)).await
    }

    /// Seals anew what another key has sealed. Returns whether there may be more.
    async fn renew_sealed(&self) -> Result<bool, Failed> {
        self.every(RENEWAL_EVERY, &self.sealed_due, renew_sealed(&self.app)).await
    }

    /// Computes fingerprints anew after a rotation. Returns whether there may be more.
    async fn renew_fingerprints(&self) -> Result<bool, Failed> {
        self.every(RENEWAL_EVERY, &self.fingerprints_due, renew_fingerprints(&self.app)).await
    }

    /// Does `work` in the first cell alone, where what belongs to no merchant is.
    async fn at_home(&self, work: impl Future<Output = Result<bool, Failed>>) -> Result<bool, Failed> {
        if self.app.place().is_home() { work.await } else { Ok(false) }
    }

    /// Does `work` if it is due, and says when it is due next.
    async fn every(
        &self,
        interval: Duration,
        due: &Mutex<Duration>,
        work: impl Future<Output = Result<bool, Failed>>,
    ) -> Result<bool, Failed> {
        let now = self.app.clock.uptime();
        if due.lock().is_ok_and(|due| now < *due) {
            return Ok(false);
        }
        let more = work.await?;
        if let Ok(mut due) = due.lock() {
            *due = if more { now } else { now + interval };
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
                continues("deleting outdated notes on receiving exceptions", forget_exception_notes(app).await),
                continues("deleting outdated rows of messages", forget_messages(app).await),
                continues("deleting outdated audit entries", forget_audit(app).await),
                continues("deleting outdated rows of operators", self.at_home(forget_operators(app)).await),
                continues("deleting merchants", delete_merchants(app).await),
                continues("ending retention", self.end_retention().await),
                continues("counting hours by the day", self.count_days().await),
                continues("counting dropped messages", count_dropped(app).await),
                continues("numbering messages", number_messages(app).await),
                continues("noting first orders", note_first_orders(app).await),
                continues("sealing secrets anew", self.renew_sealed().await),
                continues("sealing authenticators anew", self.at_home(renew_totps(app)).await),
                continues("computing fingerprints anew", self.renew_fingerprints().await),
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
