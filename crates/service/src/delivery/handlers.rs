//! The work of flows that the engine does for them. Whoever starts a deliverer hands it in, so that the engine knows no flow.

use std::sync::Arc;

use super::reaction::Reactions;
use super::timer::Timer;

/// The reactions to messages, and the timer.
#[derive(Clone)]
pub struct Handlers {
    pub reactions: Reactions,
    pub timer: Arc<dyn Timer>,
}
