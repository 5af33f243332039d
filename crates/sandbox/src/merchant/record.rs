//! The merchant's record of received requests.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use hyper::http::request;
use tokio::sync::watch;

use super::paths::{is_at, is_token_endpoint};
use super::received::Received;

/// A callback that sees every request.
type Observe = Arc<dyn Fn(&Received) + Send + Sync>;

/// The timeout error of [`Merchant::wait_for`](super::Merchant::wait_for).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("only {came} of {wanted} requests arrived within {within:?}")]
pub struct TooFew {
    pub wanted: usize,
    pub came: usize,
    pub within: Duration,
}

/// The received requests and the observer.
#[derive(Default)]
pub(super) struct Record {
    log: Mutex<Log>,
    last_number: AtomicU64,
    /// Signals every request kept.
    changes: watch::Sender<()>,
    without_content: AtomicBool,
    observe: Mutex<Option<Observe>>,
}

#[derive(Default)]
struct Log {
    messages: Vec<Received>,
    token_requests: Vec<Received>,
}

impl Record {
    /// Numbers a request that has just arrived and shows it to the observer.
    pub(super) fn arrive(&self, head: request::Parts, body: Bytes) -> Received {
        let received = Received::now(self.last_number.fetch_add(1, Relaxed) + 1, head, body);
        let observe = self.observe.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(observe) = observe {
            observe(&received);
        }
        received
    }

    /// Adds a request to the record and wakes those who wait for it.
    pub(super) fn keep(&self, received: &Received) {
        let kept = if self.without_content.load(Relaxed) { received.without_content() } else { received.clone() };
        let mut log = self.lock();
        let list = if is_token_endpoint(kept.path()) { &mut log.token_requests } else { &mut log.messages };
        list.push(kept);
        drop(log);
        self.changes.send_replace(());
    }

    pub(super) fn list(&self) -> Vec<Received> {
        in_order(self.lock().messages.clone())
    }

    pub(super) fn list_at(&self, path: &str) -> Vec<Received> {
        in_order(self.lock().at(path).cloned().collect())
    }

    pub(super) fn count(&self) -> usize {
        self.lock().messages.len()
    }

    pub(super) fn count_at(&self, path: &str) -> usize {
        self.lock().at(path).count()
    }

    pub(super) fn token_requests(&self) -> Vec<Received> {
        in_order(self.lock().token_requests.clone())
    }

    pub(super) fn token_fetches(&self) -> usize {
        self.lock().token_requests.len()
    }

    /// Waits until `count` is at least `wanted`.
    pub(super) async fn wait_for(&self, wanted: usize, within: Duration, count: impl Fn() -> usize) -> Result<(), TooFew> {
        let mut changes = self.changes.subscribe();
        let enough = async { while count() < wanted && changes.changed().await.is_ok() {} };
        match tokio::time::timeout(within, enough).await {
            Ok(()) => Ok(()),
            Err(_) => Err(TooFew { wanted, came: count(), within }),
        }
    }

    pub(super) fn clear(&self) {
        *self.lock() = Log::default();
    }

    pub(super) fn keep_bodies(&self, keep: bool) {
        self.without_content.store(!keep, Relaxed);
    }

    pub(super) fn observe(&self, observe: impl Fn(&Received) + Send + Sync + 'static) {
        *self.observe.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(observe));
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log {
    fn at(&self, path: &str) -> impl Iterator<Item = &Received> {
        let list = if is_token_endpoint(path) { &self.token_requests } else { &self.messages };
        list.iter().filter(move |received| is_at(received.path(), path))
    }
}

/// Sorts by number, because concurrent requests may be recorded out of order.
fn in_order(mut list: Vec<Received>) -> Vec<Received> {
    list.sort_by_key(Received::number);
    list
}
