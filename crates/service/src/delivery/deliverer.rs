//! A deliverer in this process: runs an engine, and restarts it if it fails.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use store::messages::leases;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{oneshot, watch};

use super::engine::event::Event;
use super::engine::{Engine, Exit};
use super::handlers::Handlers;
use crate::delivery::handle::Delivery;
use crate::platform::task::Task;

/// The pause before a failed engine is replaced.
const RESTART_AFTER: Duration = Duration::from_secs(1);

/// A running deliverer. If it is dropped without [`Deliverer::leave`], its leases expire.
pub struct Deliverer {
    /// The channel to the current engine.
    events: Arc<Mutex<UnboundedSender<Event>>>,
    leave: watch::Sender<bool>,
    supervisor: Task<()>,
}

impl Deliverer {
    /// Starts to deliver. `handlers` is the part of the flows.
    #[must_use]
    pub fn start(delivery: Delivery, handlers: Handlers) -> Self {
        let (sender, arriving) = unbounded_channel();
        let events = Arc::new(Mutex::new(sender));
        let (leave, leaving) = watch::channel(false);
        let supervisor = Task::spawn(supervise(delivery, handlers, Arc::clone(&events), arriving, leaving));
        Self { events, leave, supervisor }
    }

    /// Delivers everything that is due by the app's clock, and waits until nothing more is.
    pub async fn deliver_all_due(&self) {
        let (sender, drained) = oneshot::channel();
        let sent = self.events.lock().unwrap_or_else(PoisonError::into_inner).send(Event::Drain(sender));
        if sent.is_ok() {
            let _ = drained.await;
        }
    }

    /// Starts no more calls, finishes those in flight, and gives the leases back.
    pub async fn leave(self) {
        let _ = self.leave.send(true);
        let _ = self.supervisor.ended().await;
    }
}

/// Runs engines one after the other until one leaves. A failed engine is logged and replaced.
async fn supervise(
    delivery: Delivery,
    handlers: Handlers,
    events: Arc<Mutex<UnboundedSender<Event>>>,
    mut arriving: UnboundedReceiver<Event>,
    leaving: watch::Receiver<bool>,
) {
    loop {
        let sender = events.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let engine = Engine::new(delivery.clone(), &handlers, sender, leaving.clone());
        let id = engine.id;
        match Task::spawn(engine.run(arriving)).ended().await {
            Ok(Exit::Left) => return,
            Ok(Exit::Failed) => {}
            Err(error) => tracing::error!(engine = %id, %error, "the delivery engine stopped unexpectedly, restarting it"),
        }
        delivery.metrics.engines_broken.inc();
        // Its calls ended with it, so its leases are free at once.
        if let Err(failed) = leases::leave(delivery.cell(), id).await {
            tracing::warn!(engine = %id, %failed, "giving up the leases of a failed engine failed, they will expire");
        }
        if *leaving.borrow() {
            return;
        }
        tokio::time::sleep(RESTART_AFTER).await;
        let (sender, next) = unbounded_channel();
        *events.lock().unwrap_or_else(PoisonError::into_inner) = sender;
        arriving = next;
    }
}
