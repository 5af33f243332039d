//! The gauges of the backlog. The cost of updating them does not grow with the backlog.

use std::sync::Arc;
use std::time::Duration;

use domain::messages::message::Interface;
use store::messages::backlog::Figures;
use store::messages::late::GRACE;
use store::messages::{backlog, partitions};
use tokio::time::{MissedTickBehavior, interval};
use uuid::Uuid;

use super::lease::Leases;
use crate::delivery::handle::Delivery;
use crate::platform::metrics::{DeliveryGauges, QueueLabels};

/// The interval between two updates.
const EVERY: Duration = Duration::from_secs(5);
/// Counting stops here.
const MOST_COUNTED: i64 = 10_000;

/// Keeps the gauges current for as long as the engine runs. If an update fails, they keep their values until the next.
pub(super) async fn run(delivery: Delivery, leases: Arc<Leases>) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(failed) = update(&delivery, leases.owner(), &leases.active()).await {
            tracing::debug!(%failed, "updating the delivery gauges failed, will retry");
        }
    }
}

/// Updates the gauges once, for the endpoints of `buckets`.
async fn update(delivery: &Delivery, deliverer: Uuid, buckets: &[u8]) -> Result<(), store::Failed> {
    let gauges: &DeliveryGauges = &delivery.metrics.delivery;
    let now = delivery.now();
    let cell = delivery.place().label();
    gauges.buckets.of(cell).set(i64::try_from(buckets.len()).unwrap_or(i64::MAX));
    let by_interface = backlog::open_failures_by_interface(delivery.cell(), buckets, MOST_COUNTED).await?;
    let figures = Figures {
        past_due: backlog::past_due(delivery.cell(), buckets, now - GRACE, MOST_COUNTED).await?,
        oldest_due_at: backlog::oldest_due(delivery.cell(), buckets, now).await?,
        open_failures: by_interface.iter().map(|(_, count)| count).sum(),
    };
    gauges.past_due.of(cell).set(figures.past_due);
    let oldest_due = figures.oldest_due_at.map_or(0, |oldest| (now - oldest).num_seconds());
    gauges.oldest_due_seconds.of(cell).set(oldest_due);
    for interface in Interface::ALL {
        let open = by_interface.iter().find(|(name, _)| name == interface.as_str()).map_or(0, |(_, count)| *count);
        let labels = QueueLabels { cell: cell.map(str::to_owned), interface: interface.as_str() };
        gauges.failure_queue.get_or_create(&labels).set(open);
    }
    backlog::save(delivery.cell(), deliverer, figures).await?;
    let internal_failures = backlog::internal_failures(delivery.cell(), buckets, MOST_COUNTED).await?;
    gauges.internal_failures.of(cell).set(internal_failures);
    let unowned = backlog::unowned(delivery.cell()).await?;
    gauges.unowned.of(cell).set(unowned);
    if let Some((_, ends)) = partitions::range(delivery.cell()).await? {
        gauges.partitions_ahead_days.of(cell).set((ends - now).num_days());
    }
    Ok(())
}
