//! A deliverer in this process: it keeps an engine at work until it leaves.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use store::messages::leases;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{oneshot, watch};

use super::engine::event::Event;
use super::engine::{Ending, Engine};
use super::handlers::Handlers;
use crate::delivery::handle::Delivery;
use crate::platform::task::Task;

/// How long after an engine broke off the next one starts.
const AFTER_BREAK: Duration = Duration::from_secs(1);

/// A deliverer at work in this process. Dropped, it is gone without a word, and its leases run out.
pub struct Deliverer {
    /// The way to the engine that is at work.
    events: Arc<Mutex<UnboundedSender<Event>>>,
    leave: watch::Sender<bool>,
    supervisor: Task<()>,
}

impl Deliverer {
    /// Starts to deliver, with the flows' part in `handlers`.
    #[must_use]
    pub fn start(delivery: Delivery, handlers: Handlers) -> Self {
        let (sender, arriving) = unbounded_channel();
        let events = Arc::new(Mutex::new(sender));
        let (leave, leaving) = watch::channel(false);
        let supervisor = Task::spawn(supervise(delivery, handlers, Arc::clone(&events), arriving, leaving));
        Self { events, leave, supervisor }
    }

    /// Delivers what is due by the app's clock, and waits until nothing more is.
    pub async fn deliver_all_due(&self) {
        let (tell, told) = oneshot::channel();
        let sent = self.events.lock().unwrap_or_else(PoisonError::into_inner).send(Event::Drain(tell));
        if sent.is_ok() {
            let _ = told.await;
        }
    }

    /// Starts nothing more, finishes what is in flight, and gives the leases back.
    pub async fn leave(self) {
        let _ = self.leave.send(true);
        let _ = self.supervisor.ended().await;
    }
}

/// Keeps an engine at work until it leaves. One that breaks off is told of, and followed by another.
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
            Ok(Ending::Left) => return,
            Ok(Ending::Broke) => {}
            Err(error) => tracing::error!(%error, "the delivery engine broke off"),
        }
        delivery.metrics.engines_broken.inc();
        // Its calls ended with it, so that its leases can be taken at once.
        if let Err(failed) = leases::leave(delivery.cell(), id).await {
            tracing::warn!(%failed, "the leases run out by themselves");
        }
        if *leaving.borrow() {
            return;
        }
        tokio::time::sleep(AFTER_BREAK).await;
        let (sender, next) = unbounded_channel();
        *events.lock().unwrap_or_else(PoisonError::into_inner) = sender;
        arriving = next;
    }
}
