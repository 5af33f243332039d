//! The listener: receives the signals of other processes and passes them to the engine.

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
    loop {
        if let Err(failed) = receive(&delivery, &events).await {
            tracing::debug!(%failed, "listening for signals of other processes failed, will reconnect");
        }
        sleep(RECONNECT_AFTER).await;
    }
}

async fn receive(delivery: &Delivery, events: &UnboundedSender<Event>) -> Result<(), Failed> {
    let mut listener = leases::Listener::new(delivery.cell()).await?;
    loop {
        if let Some(signal) = signal::read(&listener.next().await?) {
            crash::point(Point::SignalReceived);
            let _ = events.send(Event::SignalReceived(signal));
        }
    }
}
