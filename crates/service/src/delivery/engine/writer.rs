//! The writers: what became of messages is settled in batches.
//!
//! A bucket always has the same writer, and a writer settles one batch after the other, so that no two changes of a lane are
//! ever on their way together. A free writer takes whatever has gathered, at once; under load the batches grow by
//! themselves.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use store::Failed;
use store::messages::settlements::{self, Attempt, Disposition, Settlement};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use super::event::Event;
use super::lease::Leases;
use super::result::{AttemptResult, Batch, Settled};
use crate::delivery::handle::Delivery;
use crate::delivery::reaction::{Followed, Reactions};
use crate::delivery::settling::{Reacted, settle_and_react};

/// How much is settled at a time.
const MOST: usize = 64;
/// How long a writer waits before it tries again when the database did not take a batch.
const TRY_AGAIN: Duration = Duration::from_millis(200);
/// After how long a message is sent again whose reaction cannot be done.
const RECONSIDERED_AFTER: TimeDelta = TimeDelta::minutes(1);

/// Settles what arrives until nothing more can. What waits here is bounded by the messages in hand.
pub(super) async fn run(
    delivery: Delivery,
    leases: Arc<Leases>,
    reactions: Reactions,
    mut results: UnboundedReceiver<AttemptResult>,
    events: UnboundedSender<Event>,
) {
    let mut gathered = Vec::with_capacity(MOST);
    while results.recv_many(&mut gathered, MOST).await > 0 {
        let (alone, together): (Vec<_>, Vec<_>) = gathered.drain(..).partition(|result: &AttemptResult| result.ending.is_some());
        if !together.is_empty() {
            let _ = events.send(Event::Settled(settle(&delivery, &leases, together).await));
        }
        for result in alone {
            let _ = events.send(Event::Settled(settle_alone(&delivery, &leases, &reactions, result).await));
        }
    }
}

/// Settles a batch, however long the database takes, as long as its buckets are ours.
async fn settle(delivery: &Delivery, leases: &Leases, results: Vec<AttemptResult>) -> Batch {
    let messages: Vec<Settled> = results.iter().map(Settled::new).collect();
    let (mut settlements, mut attempts) = (Vec::with_capacity(results.len()), Vec::with_capacity(results.len()));
    for result in results {
        settlements.push(result.settlement);
        attempts.extend(result.attempts);
    }
    let mut lost = Vec::new();
    loop {
        let uptime = leases.now();
        settlements.retain(|settlement: &Settlement| {
            let good = leases.is_good(settlement.hold, uptime);
            if !good {
                lost.push(settlement.hold);
            }
            good
        });
        attempts.retain(|attempt: &Attempt| leases.is_good(attempt.hold, uptime));
        let now = delivery.now();
        if settlements.is_empty() {
            return Batch { messages, lost, unparked: Vec::new(), now };
        }
        match settlements::settle(delivery.cell(), &settlements, &attempts, now).await {
            Ok(settled) => {
                delivery.metrics.settled_together.observe(f64::from(u32::try_from(messages.len()).unwrap_or(u32::MAX)));
                lost.extend(settlements.iter().map(|settlement| settlement.hold).filter(|hold| !settled.held.contains(hold)));
                return Batch { messages, lost, unparked: settled.unparked, now };
            }
            Err(failed) => {
                tracing::warn!(%failed, messages = settlements.len(), "a batch could not be settled; it is tried again");
                tokio::time::sleep(TRY_AGAIN).await;
            }
        }
    }
}

/// Settles a message in its merchant's transaction, together with the reaction of its kind. When the reaction cannot be
/// done, that is a fault of ours: the message is sent again later, and no attempt is counted against it.
async fn settle_alone(delivery: &Delivery, leases: &Leases, reactions: &Reactions, mut result: AttemptResult) -> Batch {
    loop {
        let hold = result.settlement.hold;
        if !leases.is_good(hold, leases.now()) {
            return Batch { messages: vec![Settled::new(&result)], lost: vec![hold], unparked: Vec::new(), now: delivery.now() };
        }
        let Some(reacts) = &result.ending else { return settle(delivery, leases, vec![result]).await };
        let reaction = reactions.of(reacts.kind).map(AsRef::as_ref);
        match settle_and_react(delivery, reaction, &result.settlement, &result.attempts, &reacts.ending).await {
            Ok(Reacted { settled, followed }) => {
                let now = reacts.ending.at;
                if followed == Followed::Withdrawn {
                    result.settlement.fate = Disposition::Withdrawn;
                    result.due_again = None;
                }
                let lost = if settled.held.is_empty() { vec![hold] } else { Vec::new() };
                return Batch { messages: vec![Settled::new(&result)], lost, unparked: settled.unparked, now };
            }
            Err(failed @ (Failed::Unreachable(_) | Failed::Collided(_))) => {
                tracing::warn!(%failed, "a message could not be settled; it is tried again");
                tokio::time::sleep(TRY_AGAIN).await;
            }
            Err(failed @ (Failed::Constraint(_) | Failed::Refused(_) | Failed::Internal(_))) => {
                tracing::error!(%failed, message = %result.settlement.message, "a reaction failed; its message is sent again");
                delivery.metrics.reactions_failed.inc();
                let due_at = delivery.now() + RECONSIDERED_AFTER;
                result.settlement.fate = Disposition::Postponed { due_at, attempts: reacts.attempts };
                result.due_again = Some(due_at);
                result.ending = None;
            }
        }
    }
}
