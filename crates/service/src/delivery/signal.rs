//! Signals: after a commit, they tell the engine which endpoints have work, so that it need not poll for it.
//!
//! A signal may get lost; the poller then finds the work a few seconds later. Signals are never sent inside a business
//! transaction, because `NOTIFY` takes a lock that all commits of the database share. Within a process, a signal costs a map entry;
//! for other processes, one statement sends all signals that have gathered.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use store::messages::outbox::Signal;
use tokio::sync::Notify;

use super::subscribers::Subscribers;

/// The maximum number of waiting signals. Any further work is left to the poller.
const MOST_WAITING: usize = 100_000;

/// The signals that wait for the engine, one per endpoint, with the earliest due time.
#[derive(Default)]
pub struct Signals {
    waiting: Mutex<HashMap<EndpointId, Signal>>,
    arrived: Notify,
    /// Live readers of the feed on this node, which the same signals wake.
    pub subscribers: Arc<Subscribers>,
}

impl Signals {
    /// Adds a signal and wakes the engine and the merchant's subscribers.
    pub(super) fn give(&self, signal: Signal) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < MOST_WAITING {
            let entry = waiting.entry(signal.endpoint).or_insert(signal);
            entry.due_at = entry.due_at.min(signal.due_at);
        }
        drop(waiting);
        self.arrived.notify_one();
        self.subscribers.notify(signal.merchant);
    }

    /// Waits for a signal.
    pub(super) async fn arrived(&self) {
        self.arrived.notified().await;
    }

    /// Takes all waiting signals.
    pub(super) fn take(&self) -> Vec<Signal> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.drain().map(|(_, signal)| signal).collect()
    }
}

/// Formats a signal for other processes.
pub(super) fn write(signal: &Signal) -> String {
    format!("{} {} {} {}", signal.merchant, signal.endpoint, signal.bucket, signal.due_at.timestamp_micros())
}

/// Parses a signal from another process.
pub(super) fn read(line: &str) -> Option<Signal> {
    let mut words = line.split(' ');
    Some(Signal {
        merchant: MerchantId(words.next()?.parse().ok()?),
        endpoint: EndpointId(words.next()?.parse().ok()?),
        bucket: words.next()?.parse().ok()?,
        due_at: DateTime::<Utc>::from_timestamp_micros(words.next()?.parse().ok()?)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signal(endpoint: u128, micros: i64) -> Signal {
        Signal {
            merchant: MerchantId(uuid::Uuid::from_u128(7)),
            endpoint: EndpointId(uuid::Uuid::from_u128(endpoint)),
            bucket: 200,
            due_at: DateTime::from_timestamp_micros(micros).expect("a time"),
        }
    }

    #[test]
    fn a_signal_is_read_as_it_was_written() {
        let signal = signal(9, 1_772_366_400_123_456);
        assert_eq!(read(&write(&signal)), Some(signal));
        assert_eq!(read(""), None);
        assert_eq!(read("a b c d"), None);
    }

    #[test]
    fn signals_of_an_endpoint_gather_with_the_earliest_time() {
        let signals = Signals::default();
        [signal(1, 30), signal(1, 10), signal(1, 20), signal(2, 40)].into_iter().for_each(|signal| signals.give(signal));
        let mut taken = signals.take();
        taken.sort_by_key(|signal| signal.endpoint);
        assert_eq!(taken, [signal(1, 10), signal(2, 40)]);
        assert!(signals.take().is_empty());
    }
}
