//! The writers: settle the results of attempts in batches.
//!
//! A bucket always has the same writer, and a writer settles one batch after the other, so two changes of the same lane never
//! run concurrently. A free writer takes all results that have gathered, so batches grow with the load.

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

/// The maximum size of a batch.
const MOST: usize = 64;
/// The pause before a batch that failed is settled again.
const RETRY_AFTER: Duration = Duration::from_millis(200);
/// The delay of a message whose reaction failed.
const POSTPONED_FOR: TimeDelta = TimeDelta::minutes(1);

/// Settles results until the engine drops its end of the channel. The channel is bounded by the number of messages in flight.
pub(super) async fn run(
    delivery: Delivery,
    leases: Arc<Leases>,
    reactions: Reactions,
    mut results: UnboundedReceiver<AttemptResult>,
    events: UnboundedSender<Event>,
) {
    let mut gathered = Vec::with_capacity(MOST);
    while results.recv_many(&mut gathered, MOST).await > 0 {
        let (alone, together): (Vec<_>, Vec<_>) = gathered.drain(..).partition(|result: &AttemptResult| result.reaction.is_some());
        if !together.is_empty() {
            let _ = events.send(Event::Settled(settle(&delivery, &leases, together).await));
        }
        for result in alone {
            let _ = events.send(Event::Settled(settle_alone(&delivery, &leases, &reactions, result).await));
        }
    }
}

/// Settles a batch. Retries until it succeeds or none of its buckets is ours any more.
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
            let valid = leases.is_valid(settlement.hold, uptime);
            if !valid {
                lost.push(settlement.hold);
            }
            valid
        });
        attempts.retain(|attempt: &Attempt| leases.is_valid(attempt.hold, uptime));
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
                tracing::warn!(%failed, messages = settlements.len(), "settling a batch failed, will retry");
                tokio::time::sleep(RETRY_AFTER).await;
            }
        }
    }
}

/// Settles a message and runs the reaction of its kind in one transaction of its merchant. If the reaction fails, that is a bug of
/// ours: the message is postponed, and the attempt does not count.
async fn settle_alone(delivery: &Delivery, leases: &Leases, reactions: &Reactions, mut result: AttemptResult) -> Batch {
    loop {
        let hold = result.settlement.hold;
        if !leases.is_valid(hold, leases.now()) {
            return Batch { messages: vec![Settled::new(&result)], lost: vec![hold], unparked: Vec::new(), now: delivery.now() };
        }
        let Some(input) = &result.reaction else { return settle(delivery, leases, vec![result]).await };
        let reaction = reactions.of(input.kind).map(AsRef::as_ref);
        match settle_and_react(delivery, reaction, &result.settlement, &result.attempts, &input.ending).await {
            Ok(Reacted { settled, followed }) => {
                let now = input.ending.at;
                if followed == Followed::Withdrawn {
                    result.settlement.disposition = Disposition::Withdrawn;
                    result.due_again = None;
                }
                let lost = if settled.held.is_empty() { vec![hold] } else { Vec::new() };
                return Batch { messages: vec![Settled::new(&result)], lost, unparked: settled.unparked, now };
            }
            Err(failed @ (Failed::Unreachable(_) | Failed::Collided(_))) => {
                tracing::warn!(%failed, message = %result.settlement.message, "settling a message failed, will retry");
                tokio::time::sleep(RETRY_AFTER).await;
            }
            Err(failed @ (Failed::Constraint(_) | Failed::Refused(_) | Failed::Internal(_))) => {
                tracing::error!(%failed, message = %result.settlement.message, "a reaction failed, will send its message again");
                delivery.metrics.reactions_failed.inc();
                let due_at = delivery.now() + POSTPONED_FOR;
                result.settlement.disposition = Disposition::Postponed { due_at, attempts: input.attempts };
                result.due_again = Some(due_at);
                result.reaction = None;
            }
        }
    }
}
