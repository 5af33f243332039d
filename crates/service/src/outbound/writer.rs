//! The writers: what became of messages is settled in batches.
//!
//! A bucket always has the same writer, and a writer settles one batch after the other, so that no two changes of a lane are
//! ever on their way together. A free writer takes whatever has gathered, at once; under load the batches grow by
//! themselves.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use store::settlements::{self, Attempt, Hold, Settlement};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use uuid::Uuid;

use super::engine::Event;
use super::lease::Leases;
use crate::app::App;

/// How much is settled at a time.
const MOST: usize = 64;
/// How long a writer waits before it tries again when the database did not take a batch.
const TRY_AGAIN: Duration = Duration::from_millis(200);

/// What became of a message.
pub(super) struct Result {
    pub(super) endpoint: EndpointId,
    pub(super) settlement: Settlement,
    pub(super) attempts: Vec<Attempt>,
    /// When it is due again, if it is.
    pub(super) due_again: Option<DateTime<Utc>>,
}

/// A message that was settled.
pub(super) struct Settled {
    pub(super) endpoint: EndpointId,
    pub(super) hold: Hold,
    pub(super) message: Uuid,
    /// When it is due again, if it is.
    pub(super) due_again: Option<DateTime<Utc>>,
}

impl Settled {
    fn new(result: &Result) -> Self {
        let Settlement { hold, message, .. } = result.settlement;
        Self { endpoint: result.endpoint, hold, message, due_again: result.due_again }
    }
}

/// A batch that was settled.
pub(super) struct Batch {
    /// Every message of it.
    pub(super) messages: Vec<Settled>,
    /// Buckets that turned out to be somebody else's.
    pub(super) lost: Vec<Hold>,
    /// Endpoints whose lanes go on.
    pub(super) unparked: Vec<(MerchantId, EndpointId)>,
    /// Since when these are due.
    pub(super) now: DateTime<Utc>,
}

/// Settles what arrives until nothing more can. What waits here is bounded by the messages in hand.
pub(super) async fn run(app: App, leases: Arc<Leases>, mut results: UnboundedReceiver<Result>, events: UnboundedSender<Event>) {
    let mut gathered = Vec::with_capacity(MOST);
    while results.recv_many(&mut gathered, MOST).await > 0 {
        let batch = settle(&app, &leases, std::mem::take(&mut gathered)).await;
        if events.send(Event::Settled(batch)).is_err() {
            return;
        }
    }
}

/// Settles a batch, however long the database takes, as long as its buckets are ours.
async fn settle(app: &App, leases: &Leases, results: Vec<Result>) -> Batch {
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
        let now = app.now();
        if settlements.is_empty() {
            return Batch { messages, lost, unparked: Vec::new(), now };
        }
        match settlements::settle(&app.store, &settlements, &attempts, now).await {
            Ok(settled) => {
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
