//! The worker: the delivery engine with the flows' reactions and timers.

use std::sync::Arc;

use crate::app::App;
use crate::delivery::Delivery;
use crate::delivery::deliverer::Deliverer;
use crate::delivery::handlers::Handlers;
use crate::flow;
use crate::timers::Timers;

/// Starts delivering.
#[must_use]
pub fn start(app: &App) -> Deliverer {
    let handlers = Handlers { reactions: flow::reactions(app), timer: Arc::new(Timers::new(app.clone())) };
    Deliverer::start(Delivery::clone(app), handlers)
}
