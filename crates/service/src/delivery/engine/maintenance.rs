//! Maintenance: creates and drops the daily partitions, and runs the flows' timer.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use store::Failed;
use store::messages::partitions;
use tokio::time::{sleep, timeout};

use super::lease::{Leases, RENEW_EVERY};
use crate::delivery::handle::Delivery;
use crate::delivery::timer::Timer;

/// The interval between two checks of the partitions.
const PARTITIONS_EVERY: Duration = Duration::from_hours(1);
/// The pause after a check that failed.
const RETRY_AFTER: Duration = Duration::from_millis(500);
/// The time for which messages and attempts are kept.
const KEPT_FOR: TimeDelta = TimeDelta::days(30);
/// The pause between two runs of the timer.
const TIMER_EVERY: Duration = Duration::from_secs(10);
/// The pause while the timer has more to do.
const TIMER_CONTINUES: Duration = Duration::from_millis(500);

/// Creates the partitions of the coming days and drops those that are too old.
pub(super) async fn keep_partitions(delivery: Delivery) {
    loop {
        let pause = match maintain_partitions(&delivery).await {
            Ok(()) => PARTITIONS_EVERY,
            Err(failed) => {
                tracing::warn!(%failed, "maintaining the partitions failed, will retry");
                RETRY_AFTER
            }
        };
        sleep(pause).await;
    }
}

async fn maintain_partitions(delivery: &Delivery) -> Result<(), Failed> {
    partitions::make_around(delivery.cell(), delivery.now()).await?;
    let kept = partitions::drop_before(delivery.cell(), delivery.now() - KEPT_FOR).await?;
    delivery.metrics.delivery.partitions_kept_late.set(i64::try_from(kept.len()).unwrap_or(i64::MAX));
    if !kept.is_empty() {
        tracing::warn!(?kept, "partitions past their retention are kept, because messages in them are still owed");
    }
    Ok(())
}

/// Runs `timer` for as long as this process holds the first bucket, so that only one process runs it.
pub(super) async fn run_timer(delivery: Delivery, leases: Arc<Leases>, timer: Arc<dyn Timer>) {
    loop {
        if !leases.active().contains(&0) {
            // Any renewal may bring the bucket.
            sleep(RENEW_EVERY).await;
            continue;
        }
        let moved = delivery.clock.moved();
        let pause = if timer.run().await { TIMER_CONTINUES } else { TIMER_EVERY };
        // Moving the clock ahead may make a lot due at once, so it ends the pause.
        let _ = timeout(pause, moved).await;
    }
}
