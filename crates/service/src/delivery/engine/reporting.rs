//! The tasks behind incidents: one finds the endpoints in trouble after buckets were gained, the other reports one incident.

use std::time::Duration;

use store::messages::notices;
use store::messages::settlements::Hold;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::sleep;

use super::event::Event;
use super::incidents::Candidate;
use super::notices::notify;
use crate::delivery::handle::Delivery;

/// The pause after a failure.
const RETRY_AFTER: Duration = Duration::from_millis(500);

/// Finds the endpoints in trouble in buckets that this process has gained, so that their incidents continue here.
pub(super) async fn review(delivery: Delivery, gained: Vec<Hold>, events: UnboundedSender<Event>) {
    let buckets: Vec<u8> = gained.iter().map(|hold| hold.bucket).collect();
    while !events.is_closed() {
        match notices::troubled(delivery.cell(), &buckets, delivery.now()).await {
            Ok(found) => {
                let hold_of = |bucket| gained.iter().find(|hold| hold.bucket == bucket).copied();
                let found = found.into_iter().filter_map(|endpoint| hold_of(endpoint.bucket).map(|hold| (endpoint, hold)));
                let _ = events.send(Event::Reviewed(found.collect()));
                return;
            }
            Err(failed) => {
                tracing::warn!(%failed, buckets = buckets.len(), "looking for endpoints in trouble failed, will retry");
                sleep(RETRY_AFTER).await;
            }
        }
    }
}

/// Sends the notices about an endpoint, if any are needed.
pub(super) async fn report(delivery: Delivery, candidate: Candidate, events: UnboundedSender<Event>) {
    let Candidate { merchant, endpoint, hold, history } = candidate;
    let reported = notify(&delivery, merchant, endpoint, hold, &history).await;
    if let Err(failed) = &reported {
        tracing::warn!(%failed, %endpoint, "reporting the health of an endpoint failed, will retry");
        sleep(RETRY_AFTER).await;
    }
    let _ = events.send(Event::Reported(endpoint, hold, reported));
}
