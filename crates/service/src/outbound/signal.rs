//! Signals: that an endpoint has work is told after the commit, so that nobody has to look for it.
//!
//! A signal may be lost, and then the backstop finds the work a few seconds later. It is never sent inside a business
//! transaction: `NOTIFY` takes a lock that all commits of the database share. Within a process it costs a map entry;
//! other processes are told by one statement for all that has gathered since the last one.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use store::leases;
use store::outbox::Owed;
use tokio::sync::Notify;

use crate::app::App;
use crate::followers::Followers;

/// How many endpoints can be signalled and not yet taken. What comes beyond is left to the backstop.
const MOST_WAITING: usize = 100_000;

/// What was signalled and not yet taken: by endpoint, with the earliest due time.
#[derive(Default)]
pub struct Signals {
    waiting: Mutex<HashMap<EndpointId, Owed>>,
    arrived: Notify,
    /// Who follows the feed live on this node, and hears of it too.
    pub followers: Followers,
}

impl Signals {
    /// Tells that something is owed. Call it after the commit.
    pub fn owe(&self, owed: Owed) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < MOST_WAITING {
            let entry = waiting.entry(owed.endpoint).or_insert(owed);
            entry.due_at = entry.due_at.min(owed.due_at);
        }
        drop(waiting);
        self.arrived.notify_one();
        self.followers.tell(owed.merchant);
    }

    /// Waits until something was signalled.
    pub(super) async fn arrived(&self) {
        self.arrived.notified().await;
    }

    /// Takes what was signalled.
    pub(super) fn take(&self) -> Vec<Owed> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.drain().map(|(_, owed)| owed).collect()
    }
}

/// A signal as one process tells it to the others.
pub(super) fn write(owed: &Owed) -> String {
    format!("{} {} {} {}", owed.merchant, owed.endpoint, owed.bucket, owed.due_at.timestamp_micros())
}

pub(super) fn read(line: &str) -> Option<Owed> {
    let mut words = line.split(' ');
    Some(Owed {
        merchant: MerchantId(words.next()?.parse().ok()?),
        endpoint: EndpointId(words.next()?.parse().ok()?),
        bucket: words.next()?.parse().ok()?,
        due_at: DateTime::<Utc>::from_timestamp_micros(words.next()?.parse().ok()?)?,
    })
}

/// How long signals for other processes gather before they are told in one statement.
const GATHER: Duration = Duration::from_millis(2);

/// Tells other processes whatever is signalled in this one, which delivers nothing itself.
pub async fn forward(app: App) {
    loop {
        app.signals.arrived().await;
        tokio::time::sleep(GATHER).await;
        tell_others(&app, &app.signals.take()).await;
    }
}

/// Tells other processes at once what was signalled in this one; for a command that is about to end.
pub async fn forward_now(app: &App) {
    tell_others(app, &app.signals.take()).await;
}

/// Tells other processes of these.
pub(super) async fn tell_others(app: &App, owed: &[Owed]) {
    let lines: Vec<String> = owed.iter().map(write).collect();
    if let Err(failed) = leases::notify(&app.store, &lines).await {
        tracing::debug!(%failed, "a signal was not told; the backstop finds its work");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owed(endpoint: u128, micros: i64) -> Owed {
        Owed {
            merchant: MerchantId(uuid::Uuid::from_u128(7)),
            endpoint: EndpointId(uuid::Uuid::from_u128(endpoint)),
            bucket: 200,
            due_at: DateTime::from_timestamp_micros(micros).expect("a time"),
        }
    }

    #[test]
    fn a_signal_is_read_as_it_was_written() {
        let owed = owed(9, 1_772_366_400_123_456);
        assert_eq!(read(&write(&owed)), Some(owed));
        assert_eq!(read(""), None);
        assert_eq!(read("a b c d"), None);
    }

    #[test]
    fn signals_of_an_endpoint_gather_with_the_earliest_time() {
        let signals = Signals::default();
        [owed(1, 30), owed(1, 10), owed(1, 20), owed(2, 40)].into_iter().for_each(|owed| signals.owe(owed));
        let mut taken = signals.take();
        taken.sort_by_key(|owed| owed.endpoint);
        assert_eq!(taken, [owed(1, 10), owed(2, 40)]);
        assert!(signals.take().is_empty());
    }
}
