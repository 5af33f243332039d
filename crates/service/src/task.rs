//! Tasks that do not outlive whoever watches over them.

use std::future::Future;

use tokio::task::{JoinError, JoinHandle};

/// A task that ends with whoever holds this.
pub struct Task<T>(JoinHandle<T>);

impl<T: Send + 'static> Task<T> {
    /// Starts it.
    pub fn spawn(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self(tokio::spawn(work))
    }

    /// Waits for its end: what came of it, or that it broke off.
    pub async fn ended(mut self) -> Result<T, JoinError> {
        (&mut self.0).await
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
