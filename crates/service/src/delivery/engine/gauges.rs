//! What a deliverer tells the metrics of what waits: a chore of its own, whose cost does not grow with what waits.

use std::sync::Arc;
use std::time::Duration;

use chrono::{NaiveTime, TimeDelta};
use store::messages::backlog;
use tokio::time::{MissedTickBehavior, interval};

use super::lease::Leases;
use crate::delivery::handle::Delivery;
use crate::platform::metrics::DeliveryGauges;

/// How often it is looked.
const EVERY: Duration = Duration::from_secs(5);
/// What has been due for longer than this is past due.
const LATE: TimeDelta = TimeDelta::seconds(60);
/// Up to how many are counted.
const MOST_COUNTED: i64 = 10_000;

/// Keeps the gauges of delivery current. A failure leaves them as they are; the next look follows.
pub(super) async fn watch(delivery: Delivery, held: Arc<Leases>) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(failed) = look(&delivery, &held.working()).await {
            tracing::debug!(%failed, "what waits could not be counted");
        }
    }
}

/// Looks once, for the endpoints of `buckets`.
async fn look(delivery: &Delivery, buckets: &[u8]) -> Result<(), store::Failed> {
    let gauges: &DeliveryGauges = &delivery.metrics.delivery;
    let now = delivery.now();
    gauges.buckets.set(i64::try_from(buckets.len()).unwrap_or(i64::MAX));
    gauges.past_due.set(backlog::past_due(delivery.cell(), buckets, now - LATE, MOST_COUNTED).await?);
    let oldest = backlog::oldest_due(delivery.cell(), buckets, now).await?;
    gauges.oldest_due_seconds.set(oldest.map_or(0, |oldest| (now - oldest).num_seconds()));
    gauges.failure_queue.set(backlog::open_failures(delivery.cell(), buckets, false, MOST_COUNTED).await?);
    gauges.internal_failures.set(backlog::open_failures(delivery.cell(), buckets, true, MOST_COUNTED).await?);
    gauges.unowned.set(backlog::unowned(delivery.cell()).await?);
    if let Some(last) = backlog::last_day(delivery.cell()).await? {
        let ends = last.and_time(NaiveTime::MIN).and_utc() + TimeDelta::days(1);
        gauges.partitions_ahead_days.set((ends - now).num_days());
    }
    Ok(())
}
