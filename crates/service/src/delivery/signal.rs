//! Signals: after a commit, they tell the engine which endpoints have work, so that it need not poll for it.
//!
//! A message that is next in its lane is handed over as it was written. If its endpoint has nothing else to do, the engine calls it
//! without reading anything; otherwise it is worth a signal.
//!
//! A signal may get lost; the poller then finds the work a few seconds later. Signals are never sent inside a business
//! transaction, because `NOTIFY` takes a lock that all commits of the database share. Within a process, a signal costs a map entry;
//! for other processes, one statement sends all signals that have gathered.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use store::messages::deliveries::DueRow;
use store::messages::outbox::Signal;
use tokio::sync::Notify;

use super::subscribers::Subscribers;

/// The maximum number of waiting signals. Any further work is left to the poller.
const MOST_WAITING: usize = 100_000;

/// The maximum number of messages that are handed over and wait. Any further one is worth a signal, and read from the database.
const MOST_HANDED: usize = 256;

/// The signals that wait for the engine, one per endpoint, with the earliest due time.
#[derive(Default)]
pub struct Signals {
    waiting: Mutex<HashMap<EndpointId, Signal>>,
    /// Messages that were handed over.
    handed: Mutex<Vec<DueRow>>,
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

    /// Hands a message over that is next in its lane, and wakes the engine and the merchant's subscribers.
    pub(super) fn hand_over(&self, message: DueRow) {
        let (signal, mut handed) = (message.signal(), self.handed.lock().unwrap_or_else(PoisonError::into_inner));
        if handed.len() >= MOST_HANDED {
            drop(handed);
            return self.give(signal);
        }
        handed.push(message);
        drop(handed);
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

    /// Takes the messages that were handed over, in the order in which they were.
    pub(super) fn take_handed(&self) -> Vec<DueRow> {
        std::mem::take(&mut *self.handed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes everything as signals.
    pub(super) fn take_all(&self) -> Vec<Signal> {
        let mut signals = self.take();
        signals.extend(self.take_handed().iter().map(DueRow::signal));
        signals
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
    use store::messages::deliveries::Text;

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

    fn message(endpoint: u128, number: u128) -> DueRow {
        let Signal { merchant, endpoint, due_at, .. } = signal(endpoint, 10);
        let text = Text { kind: "rma_event".to_owned(), event: "rma.created".to_owned(), body: "{}".to_owned(), trace: None };
        DueRow {
            merchant,
            endpoint,
            message: uuid::Uuid::from_u128(number),
            due_at,
            lane: "RMA-1".to_owned(),
            sequence: 1,
            attempts: 0,
            attempts_before: 0,
            discard: false,
            revision: 1,
            is_head: true,
            text: Some(text),
        }
    }

    #[test]
    fn messages_are_handed_over_up_to_a_bound_and_announced_beyond_it() {
        let signals = Signals::default();
        (0..=MOST_HANDED).for_each(|number| signals.hand_over(message(3, number as u128)));
        assert_eq!(signals.take().len(), 1, "the one that is too many");
        let handed = signals.take_handed();
        assert_eq!(handed.len(), MOST_HANDED);
        assert!(handed.iter().zip(0_u128..).all(|(handed, number)| handed.message.as_u128() == number), "in their order");
        assert!(signals.take_handed().is_empty());
    }

    #[test]
    fn whoever_does_not_deliver_takes_messages_as_signals() {
        let signals = Signals::default();
        signals.give(signal(1, 10));
        signals.hand_over(message(2, 7));
        let taken: Vec<EndpointId> = signals.take_all().iter().map(|signal| signal.endpoint).collect();
        assert_eq!(taken, [signal(1, 10).endpoint, signal(2, 10).endpoint]);
        assert!(signals.take_all().is_empty());
    }
}
