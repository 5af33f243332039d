//! The listener: receives the signals of other processes and passes them to the engine.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use store::Failed;
use store::crash::{self, Point};
use store::messages::leases::{self, Heard};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::sleep;

use super::event::Event;
use super::poller::PollRequests;
use crate::delivery::handle::Delivery;
use crate::delivery::signal;

/// The pause before connecting again.
const RECONNECT_AFTER: Duration = Duration::from_millis(500);

/// Listens for as long as the engine runs. The poller finds the work whose signals were missed; it is asked to as soon as signals are
/// heard again.
pub(super) async fn run(delivery: Delivery, events: UnboundedSender<Event>, polls: Arc<PollRequests>) {
    // Log a failure when it begins and when it ends, not at every attempt.
    let mut failing = false;
    loop {
        if let Err(failed) = receive(&delivery, &events, &polls, &mut failing).await {
            if !mem::replace(&mut failing, true) {
                tracing::warn!(%failed, "listening for signals of other processes failed, polling for their work until it succeeds");
            }
            sleep(RECONNECT_AFTER).await;
        }
    }
}

/// Listens until the cell moves to another node.
async fn receive(delivery: &Delivery, events: &UnboundedSender<Event>, polls: &PollRequests, failing: &mut bool) -> Result<(), Failed> {
    let mut listener = leases::Listener::new(delivery.cell()).await?;
    polls.request();
    if mem::take(failing) {
        tracing::info!("listening for signals of other processes works again");
    }
    loop {
        let line = match listener.next().await? {
            Heard::Line(line) => line,
            Heard::Moved => return Ok(()),
        };
        if let Some(signal) = signal::read(&line) {
            crash::point(Point::SignalReceived);
            let _ = events.send(Event::SignalReceived(signal));
        }
    }
}
