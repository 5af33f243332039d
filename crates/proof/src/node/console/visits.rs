//! People who open pages at a steady rate, one page after the other.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::orders::load::Connection;

/// A page that was opened.
pub(super) struct Seen {
    /// Its place in the list of pages.
    pub(super) page: usize,
    /// The time from the moment at which it was wanted, in microseconds.
    pub(super) took: u32,
    /// Zero if there was no answer.
    pub(super) status: u16,
}

pub(super) struct Visits {
    address: SocketAddr,
    requests: Arc<Vec<String>>,
    per_second: u32,
    /// The number of pages opened so far.
    opened: usize,
}

impl Visits {
    pub(super) fn new(address: SocketAddr, requests: Vec<String>, per_second: u32) -> Self {
        Self { address, requests: Arc::new(requests), per_second, opened: 0 }
    }

    /// Opens pages for this time, each on a connection of its own. They do not wait for each other.
    pub(super) async fn open_for(&mut self, duration: Duration) -> anyhow::Result<Vec<Seen>> {
        let mut ticks = tokio::time::interval(Duration::from_secs(1) / self.per_second);
        let (started, mut visits, mut seen) = (Instant::now(), JoinSet::new(), Vec::new());
        while started.elapsed() < duration {
            let wanted = ticks.tick().await;
            let (address, requests, page) = (self.address, Arc::clone(&self.requests), self.opened % self.requests.len());
            self.opened += 1;
            visits.spawn(async move {
                let request = requests.get(page).map(String::as_bytes).unwrap_or_default();
                let status = match Connection::open(address).await {
                    Some(mut connection) => connection.exchange(request).await,
                    None => None,
                };
                let took = u32::try_from(wanted.elapsed().as_micros()).unwrap_or(u32::MAX);
                Seen { page, took, status: status.unwrap_or_default() }
            });
        }
        while let Some(visit) = visits.join_next().await {
            seen.push(visit?);
        }
        Ok(seen)
    }
}
