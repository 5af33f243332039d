//! The calls that are out.

use std::collections::HashMap;

use domain::id::EndpointId;
use store::messages::settlements::Hold;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::AbortHandle;
use uuid::Uuid;

use super::event::Event;
use super::result::AttemptResult;

/// Whose call it is: of which endpoint, by which hold, with which message.
type At = (EndpointId, Hold, Uuid);

/// The calls that are out, by message; they end with whoever holds this.
#[derive(Default)]
pub(super) struct Calls(HashMap<Uuid, AbortHandle>);

impl Calls {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Starts one; that it ended, or that it broke off, is told by an event.
    pub(super) fn start(
        &mut self,
        at: At,
        events: UnboundedSender<Event>,
        call: impl Future<Output = Option<AttemptResult>> + Send + 'static,
    ) {
        let (.., message) = at;
        let mut guard = Broken { events, at: Some(at) };
        let task = tokio::spawn(async move {
            if let Some(result) = call.await {
                guard.at = None;
                let _ = guard.events.send(Event::Called(result));
            }
        });
        self.0.insert(message, task.abort_handle());
    }

    /// It came to its end.
    pub(super) fn ended(&mut self, message: Uuid) {
        self.0.remove(&message);
    }

    /// Ends it, if it is out.
    pub(super) fn abort(&mut self, message: Uuid) {
        if let Some(call) = self.0.remove(&message) {
            call.abort();
        }
    }
}

impl Drop for Calls {
    fn drop(&mut self) {
        self.0.values().for_each(AbortHandle::abort);
    }
}

/// Says that a call broke off, unless it came to its end.
struct Broken {
    events: UnboundedSender<Event>,
    at: Option<At>,
}

impl Drop for Broken {
    fn drop(&mut self) {
        if let Some((endpoint, hold, message)) = self.at.take() {
            let _ = self.events.send(Event::Broke(endpoint, hold, message));
        }
    }
}
