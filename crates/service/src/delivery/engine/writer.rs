//! The writers: what became of messages is settled in batches.
//!
//! A bucket always has the same writer, and a writer settles one batch after the other, so that no two changes of a lane are
//! ever on their way together. A free writer takes whatever has gathered, at once; under load the batches grow by
//! themselves.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::messages::message::Kind;
use store::Failed;
use store::messages::settlements::{self, Attempt, Disposition, Hold, Settlement};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use uuid::Uuid;

use super::lease::Leases;
use super::settling::{Reacted, settle_and_react};
use crate::delivery::engine::Event;
use crate::delivery::handle::Delivery;
use crate::delivery::reaction::{Ending, Followed, Reactions};

/// How much is settled at a time.
const MOST: usize = 64;
/// How long a writer waits before it tries again when the database did not take a batch.
const TRY_AGAIN: Duration = Duration::from_millis(200);
/// After how long a message is sent again whose reaction cannot be done.
const RECONSIDERED_AFTER: TimeDelta = TimeDelta::minutes(1);

/// What became of a message.
pub(in crate::delivery) struct Result {
    pub(in crate::delivery) endpoint: EndpointId,
    pub(in crate::delivery) settlement: Settlement,
    pub(in crate::delivery) attempts: Vec<Attempt>,
    /// When it is due again, if it is.
    pub(in crate::delivery) due_again: Option<DateTime<Utc>>,
    /// How it ended, if its kind has a reaction to that.
    pub(in crate::delivery) ending: Option<Reacts>,
}

/// What a reaction is told, and what is needed to send the message again if it cannot be done.
pub(in crate::delivery) struct Reacts {
    pub(in crate::delivery) kind: Kind,
    pub(in crate::delivery) ending: Ending,
    /// Counted attempts of this round, without this one.
    pub(in crate::delivery) attempts: i16,
}

impl Result {
    /// What became of a message without a call.
    pub(in crate::delivery) fn uncalled(endpoint: EndpointId, settlement: Settlement, due_again: Option<DateTime<Utc>>) -> Self {
        Self { endpoint, settlement, attempts: Vec::new(), due_again, ending: None }
    }
}

/// What an attempt says of its endpoint.
pub(in crate::delivery) enum Saw {
    /// The message arrived.
    Success,
    /// It did not.
    Failure {
        /// When the call began.
        at: DateTime<Utc>,
        /// Whether the message was given up.
        given_up: bool,
        /// The outcome in a word.
        outcome: String,
    },
}

impl Saw {
    /// What the last call of a message says. Trials and work of our own say nothing.
    fn of(result: &Result) -> Option<Self> {
        let attempt = result.attempts.last().filter(|attempt| attempt.counted_as.is_some())?;
        Some(if attempt.arrived() {
            Self::Success
        } else {
            let given_up = matches!(result.settlement.fate, Disposition::Failed { .. });
            Self::Failure { at: attempt.started_at, given_up, outcome: attempt.outcome.clone() }
        })
    }
}

/// A message that was settled.
pub(in crate::delivery) struct Settled {
    pub(in crate::delivery) merchant: MerchantId,
    pub(in crate::delivery) endpoint: EndpointId,
    pub(in crate::delivery) hold: Hold,
    pub(in crate::delivery) message: Uuid,
    /// When it is due again, if it is.
    pub(in crate::delivery) due_again: Option<DateTime<Utc>>,
    /// What it says of its endpoint.
    pub(in crate::delivery) saw: Option<Saw>,
}

impl Settled {
    fn new(result: &Result) -> Self {
        let Settlement { hold, merchant, message, .. } = result.settlement;
        Self { merchant, endpoint: result.endpoint, hold, message, due_again: result.due_again, saw: Saw::of(result) }
    }
}

/// A batch that was settled.
pub(in crate::delivery) struct Batch {
    /// Every message of it.
    pub(in crate::delivery) messages: Vec<Settled>,
    /// Buckets that turned out to be somebody else's.
    pub(in crate::delivery) lost: Vec<Hold>,
    /// Endpoints whose lanes go on.
    pub(in crate::delivery) unparked: Vec<(MerchantId, EndpointId)>,
    /// Since when these are due.
    pub(in crate::delivery) now: DateTime<Utc>,
}

/// Settles what arrives until nothing more can. What waits here is bounded by the messages in hand.
pub(in crate::delivery) async fn run(
    delivery: Delivery,
    leases: Arc<Leases>,
    reactions: Reactions,
    mut results: UnboundedReceiver<Result>,
    events: UnboundedSender<Event>,
) {
    let mut gathered = Vec::with_capacity(MOST);
    while results.recv_many(&mut gathered, MOST).await > 0 {
        let (alone, together): (Vec<_>, Vec<_>) = gathered.drain(..).partition(|result: &Result| result.ending.is_some());
        if !together.is_empty() {
            let _ = events.send(Event::Settled(settle(&delivery, &leases, together).await));
        }
        for result in alone {
            let _ = events.send(Event::Settled(settle_alone(&delivery, &leases, &reactions, result).await));
        }
    }
}

/// Settles a batch, however long the database takes, as long as its buckets are ours.
async fn settle(delivery: &Delivery, leases: &Leases, results: Vec<Result>) -> Batch {
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
async fn settle_alone(delivery: &Delivery, leases: &Leases, reactions: &Reactions, mut result: Result) -> Batch {
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
