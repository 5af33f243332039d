//! Work that comes due with time: reminding of and expiring returns, listing exchanges without an identifier,
//! deleting what is outdated, and counting what was dropped.

use store::Failed;

use crate::app::App;
use crate::delivery::timer::{Run, Timer};
use crate::flow::merchants::forget_audit::forget_audit;
use crate::flow::messages::count_dropped::count_dropped;
use crate::flow::orders::forget_outdated::forget_outdated as forget_orders;
use crate::flow::returns::forget_outdated::forget_outdated as forget_returns;
use crate::flow::returns::list_unidentified_exchanges::list_unidentified_exchanges;
use crate::flow::returns::wake_returns::wake_returns;

/// The timers of all flows.
pub struct Timers(pub App);

impl Timer for Timers {
    fn run(&self) -> Run<'_> {
        Box::pin(async {
            let app = &self.0;
            let more = [
                continues("waking returns", wake_returns(app).await),
                continues("listing exchange orders without an identifier", list_unidentified_exchanges(app).await),
                continues("deleting outdated rows of returns", forget_returns(app).await),
                continues("deleting outdated rows of orders", forget_orders(app).await),
                continues("deleting outdated audit entries", forget_audit(app).await),
                continues("counting dropped messages", count_dropped(app).await.map(|()| false)),
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
