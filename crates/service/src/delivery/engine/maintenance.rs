//! Maintenance: creates and drops the partitions, and runs the flows' timer.

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
/// The pause after a check that failed. It doubles with every further one, up to 16 minutes: what holds the tables, such as a backup,
/// takes its time, and partitions are there for two weeks.
const RETRY_AFTER: Duration = Duration::from_mins(1);
const MOST_DOUBLED: u32 = 4;
/// The time for which messages and attempts are kept.
const KEPT_FOR: TimeDelta = TimeDelta::days(30);
/// The pause between two runs of the timer.
const TIMER_EVERY: Duration = Duration::from_secs(10);
/// The pause while the timer has more to do.
const TIMER_CONTINUES: Duration = Duration::from_millis(500);

/// Creates the partitions of the coming weeks and drops those that are too old.
pub(super) async fn keep_partitions(delivery: Delivery) {
    let mut failures = 0;
    loop {
        let pause = match delivery.maintain_partitions().await {
            Ok(()) => {
                failures = 0;
                PARTITIONS_EVERY
            }
            Err(failed) => {
                delivery.metrics.partitions_failed.inc();
                let pause = RETRY_AFTER * 2_u32.pow(failures);
                failures = (failures + 1).min(MOST_DOUBLED);
                tracing::warn!(%failed, retry_in_s = pause.as_secs(), "maintaining the partitions failed, will retry");
                pause
            }
        };
        sleep(pause).await;
    }
}

impl Delivery {
    /// Creates the partitions that are missing, and drops those that ended 30 days ago by the database's clock.
    pub async fn maintain_partitions(&self) -> Result<(), Failed> {
        let now = self.shared_now().await?;
        partitions::make_around(self.cell(), now).await?;
        let kept = partitions::drop_before(self.cell(), now - KEPT_FOR).await?;
        let kept_late = i64::try_from(kept.len()).unwrap_or(i64::MAX);
        self.metrics.delivery.partitions_kept_late.of(self.place().label()).set(kept_late);
        if !kept.is_empty() {
            tracing::warn!(?kept, "partitions past their retention are kept, because messages in them are still owed");
        }
        Ok(())
    }
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
