//! Requests to look at the table for work that no signal told of.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

/// Requests to look at the table.
#[derive(Default)]
pub(super) struct Look {
    asked: AtomicU64,
    notify: Notify,
}

impl Look {
    /// Asks for a look, and answers the number of the request.
    pub(super) fn ask(&self) -> u64 {
        let number = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        self.notify.notify_one();
        number
    }

    /// Waits for a request.
    pub(super) async fn asked(&self) {
        self.notify.notified().await;
    }

    /// The last request that a look beginning now answers.
    pub(super) fn answers(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }
}
