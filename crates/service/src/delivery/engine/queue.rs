//! The queue of an endpoint: the owner's in-memory state of it. Nothing here waits or calls.
//!
//! It knows the messages in flight (being called, or waiting to be settled), the number of calls that may start, and the due
//! time from which the table has to be read. Two messages of one lane are never called at the same time: only the head of a lane
//! is called, and its row stays in the table until it is settled.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use store::messages::deliveries::DueQuery;
use store::messages::settlements::Hold;
use uuid::Uuid;

use crate::delivery::rate_limiter::RateLimiter;
use crate::delivery::transports::peer::Peer;

/// The maximum number of rows that one reading returns for an endpoint.
const MOST_READ: usize = 256;

/// The slots and the rate of an endpoint whose settings are not known yet.
const DEFAULT_SLOTS: usize = 10;

/// The number of messages in flight per slot. A call frees its slot before its message is settled; this bound stops the reading
/// when settling stalls.
const IN_FLIGHT_PER_SLOT: usize = 4;

/// The wait after a reading that left rows behind, unless half of the slots are free: many small readings cost the database much
/// more than a few large ones.
const GATHER: Duration = Duration::from_millis(10);

/// The wait after a reading that left nothing behind, while messages are in flight: a busy endpoint is read for several new messages
/// at once. Whoever has nothing in flight is read at once.
const PACE: Duration = Duration::from_millis(5);

/// The owner's state of one endpoint.
pub(super) struct EndpointQueue {
    pub(super) merchant: MerchantId,
    /// The hold on the bucket. Results from an earlier hold are ignored.
    pub(super) hold: Hold,
    /// The settings of the endpoint as last read.
    pub(super) peer: Option<Arc<Peer>>,
    /// Messages being called or waiting to be settled, with their due times.
    in_flight: HashMap<Uuid, DateTime<Utc>>,
    calls: usize,
    /// Everything due before this time is in flight, unless `signalled` says otherwise.
    since: DateTime<Utc>,
    /// The earliest due time of messages that may be in the table and not in flight.
    signalled: Option<DateTime<Utc>>,
    reading: bool,
    /// The end of the last reading.
    last_reading: Option<Duration>,
    /// True if it left rows behind.
    left_behind: bool,
    limiter: RateLimiter,
    pub(super) last_active: Duration,
}

impl EndpointQueue {
    pub(super) fn new(merchant: MerchantId, hold: Hold, now: Duration) -> Self {
        Self {
            merchant,
            hold,
            peer: None,
            in_flight: HashMap::new(),
            calls: 0,
            since: DateTime::<Utc>::MAX_UTC,
            signalled: None,
            reading: false,
            last_reading: None,
            left_behind: false,
            limiter: RateLimiter::default(),
            last_active: now,
        }
    }

    /// Notes that something is due at `due_at` that may not be in flight.
    pub(super) fn signal(&mut self, due_at: DateTime<Utc>, now: Duration) {
        self.signalled = Some(self.signalled.map_or(due_at, |signalled| signalled.min(due_at)));
        self.last_active = now;
    }

    fn slots(&self) -> usize {
        self.peer.as_ref().map_or(DEFAULT_SLOTS, |peer| peer.slots)
    }

    /// Decides whether the table has to be read now: there may be something due, and calls may start.
    pub(super) fn next_reading(&mut self, now: Duration) -> NextReading {
        if self.signalled.is_none() || self.reading {
            return NextReading::None;
        }
        let capacity = (self.slots() * IN_FLIGHT_PER_SLOT).saturating_sub(self.in_flight.len());
        let free = self.slots().saturating_sub(self.calls).min(capacity);
        if free == 0 {
            return NextReading::None;
        }
        if let Some(left) = self.last_reading.map(|ended| (ended + self.pace(free)).saturating_sub(now)).filter(|left| !left.is_zero()) {
            return NextReading::Later(left);
        }
        let rate = self.peer.as_ref().map_or(DEFAULT_SLOTS, |peer| peer.per_second);
        match self.limiter.allowed(rate, now) {
            0 => NextReading::Later(self.limiter.wait(rate)),
            allowed => NextReading::Now(free.min(allowed).min(MOST_READ)),
        }
    }

    /// True if the last reading left rows behind.
    pub(super) fn has_more(&self) -> bool {
        self.left_behind
    }

    /// The time between two readings, with so many `free` slots.
    fn pace(&self, free: usize) -> Duration {
        if self.left_behind {
            if free * 2 < self.slots() { GATHER } else { Duration::ZERO }
        } else if self.in_flight.is_empty() {
            Duration::ZERO
        } else {
            PACE
        }
    }

    /// True if one more call may start.
    pub(super) fn may_start(&mut self, now: Duration) -> bool {
        let rate = self.peer.as_ref().map_or(1, |peer| peer.per_second);
        self.calls < self.slots() && self.limiter.allowed(rate, now) > 0
    }

    /// True if a message may be called that was not read: everything else is in flight and nothing is being read, so that nobody
    /// waits longer for it, and no reading returns it again once it is settled.
    pub(super) fn takes(&mut self, message: Uuid, now: Duration) -> bool {
        let caught_up = !self.reading && !self.left_behind && self.signalled.is_none();
        caught_up && !self.contains(message) && self.in_flight.len() < self.slots() * IN_FLIGHT_PER_SLOT && self.may_start(now)
    }

    /// Starts a reading of up to `limit` rows.
    pub(super) fn begin_reading(&mut self, endpoint: EndpointId, limit: usize) -> DueQuery {
        self.reading = true;
        self.since = self.signalled.take().map_or(self.since, |signalled| signalled.min(self.since));
        DueQuery { merchant: self.merchant, endpoint, since: self.since, limit: i64::try_from(limit).unwrap_or(i64::MAX) }
    }

    /// True if the message is in flight.
    pub(super) fn contains(&self, message: Uuid) -> bool {
        self.in_flight.contains_key(&message)
    }

    pub(super) fn in_flight(&self) -> impl Iterator<Item = Uuid> + '_ {
        self.in_flight.keys().copied()
    }

    /// The messages in flight that a reading from `since` on would return again.
    pub(super) fn in_flight_since(&self, since: DateTime<Utc>) -> impl Iterator<Item = Uuid> + '_ {
        self.in_flight.iter().filter(move |(_, due_at)| **due_at >= since).map(|(message, _)| *message)
    }

    /// Ends a reading that returned everything due up to `through`; `more` says whether there may be more rows.
    pub(super) fn finish_reading(&mut self, through: DateTime<Utc>, more: bool, now: Duration) {
        self.reading = false;
        self.since = through;
        (self.last_reading, self.left_behind) = (Some(now), more);
        if more {
            self.signal(through, now);
        }
    }

    /// Ends a reading that failed, as if it had not begun.
    pub(super) fn fail_reading(&mut self, now: Duration) {
        self.reading = false;
        self.signal(self.since, now);
    }

    /// Adds a message in flight; `called` says whether a call starts.
    pub(super) fn add(&mut self, message: Uuid, due_at: DateTime<Utc>, called: bool) {
        self.in_flight.insert(message, due_at);
        if called {
            self.calls += 1;
            self.limiter.take();
        }
    }

    /// Ends a call. Its message stays in flight until it is settled.
    pub(super) fn end_call(&mut self, now: Duration) {
        self.calls = self.calls.saturating_sub(1);
        self.last_active = now;
    }

    /// Removes a message that is no longer in flight, and returns its due time.
    pub(super) fn remove(&mut self, message: Uuid) -> Option<DateTime<Utc>> {
        self.in_flight.remove(&message)
    }

    /// True if nothing is in flight and nothing has been signalled.
    pub(super) fn is_idle(&self) -> bool {
        self.is_empty() && self.signalled.is_none()
    }

    /// True if nothing is in flight or being read.
    pub(super) fn is_empty(&self) -> bool {
        self.in_flight.is_empty() && !self.reading
    }
}

/// The time of a queue's next reading.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NextReading {
    /// No reading until something changes.
    None,
    /// A reading of up to so many rows.
    Now(usize),
    /// Not before this time has passed.
    Later(Duration),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(seconds, 0).expect("a time")
    }

    fn queue(slots: usize, per_second: usize) -> EndpointQueue {
        let mut queue = EndpointQueue::new(MerchantId(Uuid::nil()), Hold { bucket: 0, epoch: 1, owner: Uuid::nil() }, Duration::ZERO);
        queue.peer = Some(Arc::new(Peer::for_tests(slots, per_second)));
        queue
    }

    fn message(number: u128) -> Uuid {
        Uuid::from_u128(number)
    }

    #[test]
    fn it_reads_only_what_it_has_slots_for() {
        let mut queue = queue(3, 100);
        assert_eq!(queue.next_reading(Duration::ZERO), NextReading::None);
        queue.signal(at(5), Duration::ZERO);
        assert_eq!(queue.next_reading(Duration::ZERO), NextReading::Now(3));
        assert_eq!(queue.begin_reading(EndpointId(Uuid::nil()), 3).since, at(5));
        assert_eq!(queue.next_reading(Duration::ZERO), NextReading::None, "one reading at a time");
        queue.add(message(1), at(5), true);
        queue.add(message(2), at(6), true);
        queue.finish_reading(at(8), false, Duration::ZERO);
        assert_eq!(queue.next_reading(Duration::ZERO), NextReading::None, "there was no more");
        queue.signal(at(9), Duration::ZERO);
        assert_eq!(queue.next_reading(PACE), NextReading::Now(1));
        assert_eq!(queue.begin_reading(EndpointId(Uuid::nil()), 1).since, at(8), "what was read is not read again");
        queue.finish_reading(at(9), true, Duration::ZERO);
        queue.end_call(Duration::ZERO);
        assert_eq!(queue.next_reading(Duration::ZERO), NextReading::Now(2), "there is more");
    }

    #[test]
    fn a_signal_during_a_reading_is_not_lost() {
        let mut queue = queue(10, 100);
        queue.signal(at(9), Duration::ZERO);
        queue.begin_reading(EndpointId(Uuid::nil()), 10);
        queue.signal(at(3), Duration::ZERO);
        queue.add(message(1), at(9), true);
        queue.finish_reading(at(10), false, Duration::ZERO);
        assert_eq!(queue.next_reading(PACE), NextReading::Now(9));
        assert_eq!(queue.begin_reading(EndpointId(Uuid::nil()), 9).since, at(3));
    }

    #[test]
    fn a_busy_endpoint_is_read_for_several_new_messages_at_once() {
        let mut queue = queue(10, 100);
        queue.signal(at(1), Duration::ZERO);
        queue.begin_reading(EndpointId(Uuid::nil()), 10);
        queue.add(message(1), at(1), true);
        queue.finish_reading(at(1), false, Duration::from_millis(100));
        queue.signal(at(2), Duration::from_millis(101));
        assert_eq!(queue.next_reading(Duration::from_millis(102)), NextReading::Later(Duration::from_millis(3)));
        assert_eq!(queue.next_reading(Duration::from_millis(105)), NextReading::Now(9));
        queue.end_call(Duration::from_millis(102));
        queue.remove(message(1));
        assert_eq!(queue.next_reading(Duration::from_millis(102)), NextReading::Now(10), "nothing is in flight, so nothing waits");
    }

    #[test]
    fn it_reads_no_more_while_nothing_is_settled() {
        let mut queue = queue(2, 100);
        for number in 0..8 {
            queue.add(message(number), at(1), true);
            queue.end_call(Duration::ZERO);
        }
        queue.signal(at(1), Duration::ZERO);
        assert_eq!(queue.next_reading(Duration::ZERO), NextReading::None);
        queue.remove(message(0));
        assert_eq!(queue.next_reading(Duration::ZERO), NextReading::Now(1));
    }

    #[test]
    fn a_message_is_taken_unread_only_when_nobody_waits_for_a_reading() {
        let taken = |change: fn(&mut EndpointQueue)| {
            let mut queue = queue(2, 100);
            change(&mut queue);
            queue.takes(message(9), Duration::ZERO)
        };
        assert!(taken(|_| {}));
        assert!(taken(|queue| queue.add(message(1), at(1), true)), "one more slot is free");
        assert!(!taken(|queue| queue.signal(at(1), Duration::ZERO)), "others are due");
        assert!(!taken(|queue| _ = queue.begin_reading(EndpointId(Uuid::nil()), 2)), "the reading may return it too");
        assert!(!taken(|queue| queue.finish_reading(at(1), true, Duration::ZERO)), "others were left behind");
        assert!(!taken(|queue| queue.add(message(9), at(1), true)), "it is in flight");
        assert!(!taken(|queue| (1..3).for_each(|number| queue.add(message(number), at(1), true))), "all slots are taken");
        let unsettled = |queue: &mut EndpointQueue| {
            for number in 10..18 {
                queue.add(message(number), at(1), true);
                queue.end_call(Duration::ZERO);
            }
        };
        assert!(!taken(unsettled), "nothing is settled");
    }

    #[test]
    fn the_rate_holds_calls_back() {
        let mut queue = queue(1_000, 20);
        queue.signal(at(1), Duration::ZERO);
        assert_eq!(queue.next_reading(Duration::ZERO), NextReading::Now(20));
        (0..20).for_each(|number| queue.add(message(number), at(1), true));
        queue.signal(at(1), Duration::ZERO);
        assert_eq!(queue.next_reading(Duration::ZERO), NextReading::Later(Duration::from_millis(50)));
        assert_eq!(queue.next_reading(Duration::from_millis(50)), NextReading::Now(1));
        assert_eq!(queue.next_reading(Duration::from_millis(150)), NextReading::Now(3));
        assert_eq!(queue.next_reading(Duration::from_mins(1)), NextReading::Now(20), "no more than a second's worth gathers");
    }

    #[test]
    fn it_is_idle_when_nothing_is_in_flight_and_nothing_is_expected() {
        let mut queue = queue(5, 100);
        assert!(queue.is_idle());
        queue.signal(at(1), Duration::ZERO);
        assert!(!queue.is_idle() && queue.is_empty());
        queue.begin_reading(EndpointId(Uuid::nil()), 5);
        queue.add(message(1), at(1), true);
        queue.finish_reading(at(1), false, Duration::ZERO);
        queue.end_call(Duration::ZERO);
        assert!(!queue.is_empty(), "it is not settled yet");
        assert_eq!(queue.remove(message(1)), Some(at(1)));
        assert!(queue.is_idle());
        queue.begin_reading(EndpointId(Uuid::nil()), 5);
        queue.fail_reading(Duration::ZERO);
        assert!(!queue.is_idle(), "a reading that failed is repeated");
    }
}
