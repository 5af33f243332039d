//! The poller: looks in the table for work that no signal announced, every few seconds and on request.
//!
//! A signal can get lost, and some deliveries have to be cleaned up without ever being due. The poller finds both and passes
//! them to the engine as an event.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use store::Failed;
use store::messages::deliveries;
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::event::Event;
use super::lease::Leases;
use crate::delivery::handle::Delivery;

/// The interval between two polls.
const POLL_EVERY: Duration = Duration::from_secs(3);
/// The pause after a poll that failed.
const RETRY_AFTER: Duration = Duration::from_millis(500);
/// The maximum number of deliveries to clean up, per reason, that one poll returns.
const MOST_CLEANUPS: i64 = 500;

/// Requests for an early poll, numbered so that the engine can tell which poll answers which request.
#[derive(Default)]
pub(super) struct PollRequests {
    last: AtomicU64,
    notify: Notify,
}

impl PollRequests {
    /// Requests a poll and returns the number of the request.
    pub(super) fn request(&self) -> u64 {
        let number = self.last.fetch_add(1, Ordering::SeqCst) + 1;
        self.notify.notify_one();
        number
    }

    async fn requested(&self) {
        self.notify.notified().await;
    }

    /// The number of the last request. A poll that starts now answers all requests up to it.
    fn last(&self) -> u64 {
        self.last.load(Ordering::SeqCst)
    }
}

/// Polls for as long as the engine runs.
pub(super) async fn run(delivery: Delivery, leases: Arc<Leases>, events: UnboundedSender<Event>, requests: Arc<PollRequests>) {
    let mut ticks = interval(POLL_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut round = 0_usize;
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = requests.requested() => {}
        }
        let answers = requests.last();
        while let Err(failed) = poll(&delivery, &leases, &events, round, answers).await {
            tracing::warn!(%failed, "polling for work failed, will retry");
            sleep(RETRY_AFTER).await;
        }
        round = round.wrapping_add(1);
    }
}

async fn poll(delivery: &Delivery, leases: &Leases, events: &UnboundedSender<Event>, round: usize, answers: u64) -> Result<(), Failed> {
    let buckets = leases.active();
    if buckets.is_empty() {
        return Ok(());
    }
    let mut cleanups = deliveries::cleanups(delivery.cell(), &buckets, MOST_CLEANUPS).await?;
    // Looking for stuck lanes reads the parked rows, so each round checks only one bucket.
    if let Some(bucket) = buckets.get(round % buckets.len()) {
        let stuck = deliveries::stuck(delivery.cell(), *bucket).await?;
        if !stuck.is_empty() {
            delivery.metrics.lanes_rescued.inc_by(stuck.len() as u64);
            tracing::error!(lanes = stuck.len(), bucket, "found lanes stuck without a head, releasing them");
        }
        cleanups.extend(stuck);
    }
    let found = deliveries::endpoints_with_work(delivery.cell(), &buckets, delivery.now()).await?;
    let _ = events.send(Event::Polled { found, cleanups, answers });
    Ok(())
}
