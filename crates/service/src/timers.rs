//! Work that comes due with time: reminding of and expiring returns, listing exchanges without an identifier, and deleting what is
//! outdated.

use crate::app::App;
use crate::delivery::timer::{Run, Timer};
use crate::flow::returns::forget_outdated::forget_outdated;
use crate::flow::returns::list_unidentified_exchanges::list_unidentified_exchanges;
use crate::flow::returns::wake_returns::wake_returns;

/// The timers of all flows.
pub struct Timers(pub App);

impl Timer for Timers {
    fn run(&self) -> Run<'_> {
        Box::pin(async {
            let returns = wake_returns(&self.0).await.unwrap_or_else(|failed| {
                tracing::warn!(%failed, "waking returns failed, will retry");
                false
            });
            let unidentified = list_unidentified_exchanges(&self.0).await.unwrap_or_else(|failed| {
                tracing::warn!(%failed, "listing exchange orders without an identifier failed, will retry");
                false
            });
            let outdated = forget_outdated(&self.0).await.unwrap_or_else(|failed| {
                tracing::warn!(%failed, "deleting outdated rows of returns failed, will retry");
                false
            });
            returns || unidentified || outdated
        })
    }
}
