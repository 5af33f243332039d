//! Work that comes due with time rather than with a message. The process that holds the first bucket does it, so that one process does.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::handle::Delivery;
use crate::delivery::engine::lease::{Leases, RENEW_EVERY};

/// The pause between two runs.
const EVERY: Duration = Duration::from_secs(10);
/// The pause while there is more to do.
const GOES_ON: Duration = Duration::from_millis(500);

/// One run of a timer: answers whether there may be more to do at once.
pub type Run<'a> = Pin<Box<dyn Future<Output = bool> + Send + 'a>>;

/// Work that comes due with time. It is handed to the deliverer by whoever starts it.
pub trait Timer: Send + Sync {
    /// Does what is due. A failure is its own to log; the next run tries again.
    fn run(&self) -> Run<'_>;
}

/// Runs `timer` for as long as this process holds the first bucket.
pub(super) async fn keep(delivery: Delivery, held: Arc<Leases>, timer: Arc<dyn Timer>) {
    loop {
        if !held.working().contains(&0) {
            // The bucket may come with any renewal.
            sleep(RENEW_EVERY).await;
            continue;
        }
        let moved = delivery.clock.moved();
        let pause = if timer.run().await { GOES_ON } else { EVERY };
        // A clock that is moved may make much due at once.
        let _ = timeout(pause, moved).await;
    }
}
