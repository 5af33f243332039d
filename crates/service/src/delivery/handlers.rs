//! The parts of flows that the engine runs. They are passed in when a deliverer starts, so that the engine depends on no flow.

use std::sync::Arc;

use super::reaction::Reactions;
use super::timer::Timer;

/// The reactions to messages, and the timer.
#[derive(Clone)]
pub struct Handlers {
    pub reactions: Reactions,
    pub timer: Arc<dyn Timer>,
}
