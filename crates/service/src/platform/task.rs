//! Tasks that are aborted when their handle is dropped.

use std::future::Future;

use tokio::task::{JoinError, JoinHandle};

/// A handle to a task; dropping it aborts the task.
pub struct Task<T>(JoinHandle<T>);

impl<T: Send + 'static> Task<T> {
    /// Spawns the task.
    pub fn spawn(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self(tokio::spawn(work))
    }

    /// Waits for the task to end. The error means that it panicked or was aborted.
    pub async fn ended(mut self) -> Result<T, JoinError> {
        (&mut self.0).await
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
