//! The queues that are to be looked at.

use std::collections::{HashSet, VecDeque};

use domain::id::EndpointId;

/// Desks to look at, each once, the longest waiting first.
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

    pub(super) fn take(&mut self, most: usize) -> Vec<EndpointId> {
        let taken: Vec<EndpointId> = self.queue.drain(..most.min(self.queue.len())).collect();
        taken.iter().for_each(|endpoint| _ = self.queued.remove(endpoint));
        taken
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}
