//! A set of endpoints that the loop has to look at.

use std::collections::{HashSet, VecDeque};

use domain::id::EndpointId;

/// Endpoints to look at, each once, in the order in which they were inserted.
#[derive(Default)]
pub(super) struct Ready {
    queue: VecDeque<EndpointId>,
    queued: HashSet<EndpointId>,
}

impl Ready {
    pub(super) fn insert(&mut self, endpoint: EndpointId) {
        if self.queued.insert(endpoint) {
            self.queue.push_back(endpoint);
        }
    }

    /// Removes and returns up to `most` endpoints.
    pub(super) fn take(&mut self, most: usize) -> Vec<EndpointId> {
        let taken: Vec<EndpointId> = self.queue.drain(..most.min(self.queue.len())).collect();
        taken.iter().for_each(|endpoint| _ = self.queued.remove(endpoint));
        taken
    }

    pub(super) fn contains(&self, endpoint: EndpointId) -> bool {
        self.queued.contains(&endpoint)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}
