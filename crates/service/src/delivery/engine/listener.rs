//! The listener: receives the signals of other processes and passes them to the engine.

use std::mem;
use std::time::Duration;

use store::Failed;
use store::crash::{self, Point};
use store::messages::leases;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::sleep;

use super::event::Event;
use crate::delivery::handle::Delivery;
use crate::delivery::signal;

/// The pause before connecting again.
const RECONNECT_AFTER: Duration = Duration::from_millis(500);

/// Listens for as long as the engine runs. The poller finds the work whose signals were missed.
pub(super) async fn run(delivery: Delivery, events: UnboundedSender<Event>) {
    // Log a failure when it begins and when it ends, not at every attempt.
    let mut failing = false;
    loop {
        if let Err(failed) = receive(&delivery, &events, &mut failing).await
            && !mem::replace(&mut failing, true)
        {
            tracing::warn!(%failed, "listening for signals of other processes failed, polling for their work until it succeeds");
        }
        sleep(RECONNECT_AFTER).await;
    }
}

async fn receive(delivery: &Delivery, events: &UnboundedSender<Event>, failing: &mut bool) -> Result<(), Failed> {
    let mut listener = leases::Listener::new(delivery.cell()).await?;
    if mem::take(failing) {
        tracing::info!("listening for signals of other processes works again");
    }
    loop {
        if let Some(signal) = signal::read(&listener.next().await?) {
            crash::point(Point::SignalReceived);
            let _ = events.send(Event::SignalReceived(signal));
        }
    }
}
