//! The writers: settle the results of attempts in batches.
//!
//! A bucket always has the same writer, and a writer settles one batch after the other, so two changes of the same lane never
//! run concurrently. A free writer takes all results that have gathered, so batches grow with the load. While there is traffic, it
//! waits a moment for more: half of what a small batch costs is the same for a large one. Results with a reaction, and those of a
//! batch that failed twice, are settled [`apart`](super::apart).

use std::sync::Arc;
use std::time::Duration;

use store::messages::settlements::{self, Attempt, Hold, Settlement};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::timeout;

use super::apart::Apart;
use super::event::Event;
use super::lease::Leases;
use super::result::{AttemptResult, Batch, Settled};
use crate::delivery::handle::Delivery;

/// The maximum size of a batch. In one of 256, a message costs the database about three quarters of what it costs in one of 64.
const MOST: usize = 256;
/// A batch of this size is a sign of traffic. The next one waits until it is full, or for [`GATHER`].
const TRAFFIC: usize = 3;
/// The wait for a batch to fill while there is traffic. Lanes continue this much later then, and calls go on meanwhile.
const GATHER: Duration = Duration::from_millis(20);
/// The pause before a batch that failed is settled again.
const RETRY_AFTER: Duration = Duration::from_millis(200);

/// Settles results until the engine drops its end of the channel. The channel is bounded by the number of messages in flight.
pub(super) async fn run(
    delivery: Delivery,
    leases: Arc<Leases>,
    mut apart: Apart,
    mut results: UnboundedReceiver<AttemptResult>,
    events: UnboundedSender<Event>,
) {
    let mut gathered = Vec::with_capacity(MOST);
    let mut traffic = false;
    while results.recv_many(&mut gathered, MOST).await > 0 {
        if traffic {
            let _ = timeout(GATHER, fill(&mut results, &mut gathered)).await;
        }
        traffic = gathered.len() >= TRAFFIC;
        let (alone, together): (Vec<_>, Vec<_>) = gathered.drain(..).partition(|result| apart.takes(result));
        if !together.is_empty() {
            let (settled, failed) = settle(&delivery, &leases, together).await;
            let _ = events.send(Event::Settled(settled));
            failed.into_iter().for_each(|result| apart.add(result));
        }
        alone.into_iter().for_each(|result| apart.add(result));
    }
}

/// Receives more results until the batch is full, or none can follow. What has been received stays in the batch if this is dropped.
async fn fill<T>(results: &mut UnboundedReceiver<T>, batch: &mut Vec<T>) {
    while let Some(room) = MOST.checked_sub(batch.len()).filter(|room| *room > 0) {
        if results.recv_many(batch, room).await == 0 {
            return;
        }
    }
}

/// Settles a batch. If that fails twice although the database is there, the results are returned, to be settled one by one: somebody
/// may have locked a row that only one of them needs. During an outage, it retries until none of the buckets is ours any more.
async fn settle(delivery: &Delivery, leases: &Leases, mut results: Vec<AttemptResult>) -> (Batch, Vec<AttemptResult>) {
    let (mut messages, mut lost) = (Vec::with_capacity(results.len()), Vec::new());
    let mut failures = 0;
    loop {
        let uptime = leases.now();
        for result in results.extract_if(.., |result| !leases.is_valid(result.settlement.hold, uptime)) {
            lost.push(result.settlement.hold);
            messages.push(Settled::new(&result));
        }
        let now = delivery.now();
        if results.is_empty() {
            return (Batch { messages, lost, unparked: Vec::new(), now }, results);
        }
        let settlements: Vec<&Settlement> = results.iter().map(|result| &result.settlement).collect();
        let attempts: Vec<&Attempt> = results.iter().flat_map(|result| &result.attempts).collect();
        match settlements::settle(delivery.cell(), &settlements, &attempts, now).await {
            Ok(settled) => {
                delivery.metrics.settled_together.observe(f64::from(u32::try_from(results.len()).unwrap_or(u32::MAX)));
                let holds = results.iter().map(|result| result.settlement.hold);
                lost.extend(holds.filter(|hold: &Hold| !settled.held.contains(hold)));
                messages.extend(results.iter().map(Settled::new));
                return (Batch { messages, lost, unparked: settled.unparked, now }, Vec::new());
            }
            Err(failed) => {
                failures += u8::from(!failed.is_outage());
                if failures > 1 {
                    tracing::warn!(%failed, messages = results.len(), "settling a batch failed twice, will settle its messages one by one");
                    return (Batch { messages, lost, unparked: Vec::new(), now }, results);
                }
                tracing::warn!(%failed, messages = results.len(), "settling a batch failed, will retry");
                tokio::time::sleep(RETRY_AFTER).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    #[tokio::test]
    async fn a_batch_is_filled_and_the_rest_is_left_for_the_next() {
        let (sender, mut results) = unbounded_channel();
        let mut batch: Vec<usize> = (0..MOST - 4).collect();
        (MOST - 4..MOST + 6).for_each(|number| sender.send(number).unwrap());
        fill(&mut results, &mut batch).await;
        assert_eq!(batch, (0..MOST).collect::<Vec<_>>());
        drop(sender);
        batch.clear();
        fill(&mut results, &mut batch).await;
        assert_eq!(batch, (MOST..MOST + 6).collect::<Vec<_>>(), "nothing can follow, so it does not wait");
    }

    #[tokio::test]
    async fn what_was_received_before_the_time_was_over_is_not_lost() {
        let (sender, mut results) = unbounded_channel();
        let mut batch = vec![1];
        sender.send(2).unwrap();
        assert!(timeout(Duration::ZERO, fill(&mut results, &mut batch)).await.is_err());
        sender.send(3).unwrap();
        assert_eq!(results.recv_many(&mut batch, MOST).await, 1);
        assert_eq!(batch, [1, 2, 3]);
    }
}
