//! The worker: the delivery engine with the flows' reactions and timers, one for each cell.

use std::sync::Arc;

use futures::future::join_all;
use tokio::task::JoinHandle;

use crate::app::App;
use crate::delivery::deliverer::Deliverer;
use crate::delivery::handlers::Handlers;
use crate::delivery::{Delivery, forward_signals};
use crate::flow;
use crate::timers::Timers;

/// Starts delivering for the cell of `app`.
#[must_use]
pub fn start(app: &App) -> Deliverer {
    let handlers = Handlers { reactions: flow::reactions(app), timer: Arc::new(Timers::new(app.clone())) };
    Deliverer::start(Delivery::clone(app), handlers)
}

/// The deliverers of a process, and in the cells for which it does not deliver, the tasks that forward its signals to those who do.
pub struct Workers {
    deliverers: Vec<Deliverer>,
    forwarders: Vec<JoinHandle<()>>,
}

impl Workers {
    /// Delivers for those of the cells that `delivers` names.
    #[must_use]
    pub fn start(apps: &[App], delivers: impl Fn(&App) -> bool) -> Self {
        let (delivering, others): (Vec<&App>, Vec<&App>) = apps.iter().partition(|app| delivers(app));
        Self {
            deliverers: delivering.into_iter().map(start).collect(),
            forwarders: others.into_iter().map(|app| tokio::spawn(forward_signals(app.clone()))).collect(),
        }
    }

    /// Starts no more calls, finishes those in flight, and gives the leases back.
    pub async fn leave(self) {
        join_all(self.deliverers.into_iter().map(Deliverer::leave)).await;
        self.forwarders.iter().for_each(JoinHandle::abort);
    }
}
