//! The tasks of calls in flight.

use std::collections::HashMap;

use domain::id::EndpointId;
use store::messages::settlements::Hold;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::AbortHandle;
use uuid::Uuid;

use super::event::Event;
use super::result::AttemptResult;

/// The endpoint, hold and message of a call.
type CallKey = (EndpointId, Hold, Uuid);

/// The calls in flight, by message. Dropping this aborts them.
#[derive(Default)]
pub(super) struct Calls(HashMap<Uuid, AbortHandle>);

impl Calls {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Starts a call. An event follows in any case: `CallEnded` with its result, or `CallLost` without one.
    pub(super) fn start(
        &mut self,
        key: CallKey,
        events: UnboundedSender<Event>,
        call: impl Future<Output = Option<AttemptResult>> + Send + 'static,
    ) {
        let (.., message) = key;
        let mut guard = LossGuard { events, key: Some(key) };
        let task = tokio::spawn(async move {
            if let Some(result) = call.await {
                guard.key = None;
                let _ = guard.events.send(Event::CallEnded(result));
            }
        });
        self.0.insert(message, task.abort_handle());
    }

    /// Forgets a call that has ended.
    pub(super) fn remove(&mut self, message: Uuid) {
        self.0.remove(&message);
    }

    /// Aborts the call of `message`, if there is one.
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

/// Sends `CallLost` when it is dropped, unless the call has ended.
struct LossGuard {
    events: UnboundedSender<Event>,
    key: Option<CallKey>,
}

impl Drop for LossGuard {
    fn drop(&mut self) {
        if let Some((endpoint, hold, message)) = self.key.take() {
            let _ = self.events.send(Event::CallLost(endpoint, hold, message));
        }
    }
}
