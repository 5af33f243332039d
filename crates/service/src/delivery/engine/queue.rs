//! The queue of an endpoint: what its owner holds of it in memory. Nothing here waits or calls.
//!
//! It knows which messages are in hand (called, or waiting to be settled), how many calls may start, and from which due
//! time on the table has to be read. Messages of one lane never meet here: only a lane's head is ever handed out, and its
//! row stays in the table until it is settled.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use store::messages::deliveries::DueQuery;
use store::messages::settlements::Hold;
use uuid::Uuid;

use crate::delivery::rate_limiter::Pace;
use crate::delivery::transports::peer::Peer;

/// The most rows that are read for an endpoint at a time.
const MOST_READ: usize = 256;

/// How many rows are read of an endpoint whose settings are not known yet.
const USUAL: usize = 10;

/// How many messages may be in hand for each slot: a call ends before it is settled, and when settling stands still no more
/// is read.
const IN_HAND_PER_SLOT: usize = 4;

/// How long after a reading that left something behind the next one waits, unless half of the slots are free by then: a few
/// rows at a time cost the database much more than half of the slots at once.
const GATHER: Duration = Duration::from_millis(10);

/// What the owner holds of an endpoint.
pub(super) struct EndpointQueue {
    pub(super) merchant: MerchantId,
    /// By which hold on its bucket. What was begun by another one is none of its business.
    pub(super) hold: Hold,
    /// How to call it, as last read.
    pub(super) peer: Option<Arc<Peer>>,
    /// Messages in hand, with their due times.
    in_hand: HashMap<Uuid, DateTime<Utc>>,
    /// Calls that are out.
    calls: usize,
    /// Everything due before this is in hand, unless it is signalled.
    since: DateTime<Utc>,
    /// The earliest due time of what may be in the table and not in hand.
    signalled: Option<DateTime<Utc>>,
    /// Whether it is being read at the moment.
    reading: bool,
    /// When the last reading ended, if it left something behind.
    left_behind: Option<Duration>,
    pace: Pace,
    /// When something last happened.
    pub(super) touched: Duration,
}

impl EndpointQueue {
    pub(super) fn new(merchant: MerchantId, hold: Hold, now: Duration) -> Self {
        Self {
            merchant,
            hold,
            peer: None,
            in_hand: HashMap::new(),
            calls: 0,
            since: DateTime::<Utc>::MAX_UTC,
            signalled: None,
            reading: false,
            left_behind: None,
            pace: Pace::default(),
            touched: now,
        }
    }

    /// Something is due since `due_at` that may not be in hand.
    pub(super) fn signal(&mut self, due_at: DateTime<Utc>, now: Duration) {
        self.signalled = Some(self.signalled.map_or(due_at, |signalled| signalled.min(due_at)));
        self.touched = now;
    }

    fn slots(&self) -> usize {
        self.peer.as_ref().map_or(USUAL, |peer| peer.slots)
    }

    /// Whether its table should be read now: there may be something, and calls may start. If only the rate is in the way,
    /// how long.
    pub(super) fn wants(&mut self, now: Duration) -> Wants {
        if self.signalled.is_none() || self.reading {
            return Wants::Nothing;
        }
        let room = (self.slots() * IN_HAND_PER_SLOT).saturating_sub(self.in_hand.len());
        let free = self.slots().saturating_sub(self.calls).min(room);
        if free == 0 {
            return Wants::Nothing;
        }
        if let Some(ended) = self.left_behind.filter(|_| free * 2 < self.slots()) {
            let waited = now.saturating_sub(ended);
            if waited < GATHER {
                return Wants::Later(GATHER.saturating_sub(waited));
            }
        }
        let rate = self.peer.as_ref().map_or(USUAL, |peer| peer.per_second);
        match self.pace.allowed(rate, now) {
            0 => Wants::Later(self.pace.next(rate, now)),
            allowed => Wants::Read(free.min(allowed).min(MOST_READ)),
        }
    }

    /// Whether one more call may start.
    pub(super) fn may_start(&mut self, now: Duration) -> bool {
        let rate = self.peer.as_ref().map_or(1, |peer| peer.per_second);
        self.calls < self.slots() && self.pace.allowed(rate, now) > 0
    }

    /// Starts a reading of `most` rows.
    pub(super) fn read(&mut self, endpoint: EndpointId, most: usize) -> DueQuery {
        self.reading = true;
        self.since = self.signalled.take().map_or(self.since, |signalled| signalled.min(self.since));
        DueQuery { merchant: self.merchant, endpoint, since: self.since, most: i64::try_from(most).unwrap_or(i64::MAX) }
    }

    /// Whether a message is in hand.
    pub(super) fn holds(&self, message: Uuid) -> bool {
        self.in_hand.contains_key(&message)
    }

    /// The messages in hand.
    pub(super) fn in_hand(&self) -> impl Iterator<Item = Uuid> + '_ {
        self.in_hand.keys().copied()
    }

    /// The messages in hand that a reading from `since` on would bring again.
    pub(super) fn in_hand_since(&self, since: DateTime<Utc>) -> impl Iterator<Item = Uuid> + '_ {
        self.in_hand.iter().filter(move |(_, due_at)| **due_at >= since).map(|(message, _)| *message)
    }

    /// A reading ended: it brought everything that was due up to `through`, and there may be `more`.
    pub(super) fn was_read(&mut self, through: DateTime<Utc>, more: bool, now: Duration) {
        self.reading = false;
        self.since = through;
        self.left_behind = more.then_some(now);
        if more {
            self.signal(through, now);
        }
    }

    /// A reading failed: it is as if it had not begun.
    pub(super) fn was_not_read(&mut self, now: Duration) {
        self.reading = false;
        self.signal(self.since, now);
    }

    /// Takes a message in hand; `called` if a call starts.
    pub(super) fn take(&mut self, message: Uuid, due_at: DateTime<Utc>, called: bool) {
        self.in_hand.insert(message, due_at);
        if called {
            self.calls += 1;
            self.pace.start();
        }
    }

    /// A call ended; its message is still in hand until it is settled.
    pub(super) fn call_ended(&mut self, now: Duration) {
        self.calls = self.calls.saturating_sub(1);
        self.touched = now;
    }

    /// A message is not in hand any more. Answers since when it was due.
    pub(super) fn let_go(&mut self, message: Uuid) -> Option<DateTime<Utc>> {
        self.in_hand.remove(&message)
    }

    /// Whether nothing is in hand and nothing is expected.
    pub(super) fn is_idle(&self) -> bool {
        self.is_empty() && self.signalled.is_none()
    }

    /// Whether nothing of it is in hand.
    pub(super) fn is_empty(&self) -> bool {
        self.in_hand.is_empty() && !self.reading
    }
}

/// What a queue wants.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wants {
    /// Nothing for now.
    Nothing,
    /// So many rows.
    Read(usize),
    /// To be asked again after a while.
    Later(Duration),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(seconds, 0).expect("a time")
    }

    fn queue(slots: usize, per_second: usize) -> EndpointQueue {
        let mut queue = EndpointQueue::new(MerchantId(Uuid::nil()), Hold { bucket: 0, epoch: 1 }, Duration::ZERO);
        queue.peer = Some(Arc::new(Peer::for_tests(slots, per_second)));
        queue
    }

    fn message(number: u128) -> Uuid {
        Uuid::from_u128(number)
    }

    #[test]
    fn it_reads_only_what_it_has_slots_for() {
        let mut queue = queue(3, 100);
        assert_eq!(queue.wants(Duration::ZERO), Wants::Nothing);
        queue.signal(at(5), Duration::ZERO);
        assert_eq!(queue.wants(Duration::ZERO), Wants::Read(3));
        assert_eq!(queue.read(EndpointId(Uuid::nil()), 3).since, at(5));
        assert_eq!(queue.wants(Duration::ZERO), Wants::Nothing, "one reading at a time");
        queue.take(message(1), at(5), true);
        queue.take(message(2), at(6), true);
        queue.was_read(at(8), false, Duration::ZERO);
        assert_eq!(queue.wants(Duration::ZERO), Wants::Nothing, "there was no more");
        queue.signal(at(9), Duration::ZERO);
        assert_eq!(queue.wants(Duration::ZERO), Wants::Read(1));
        assert_eq!(queue.read(EndpointId(Uuid::nil()), 1).since, at(8), "what was read is not read again");
        queue.was_read(at(9), true, Duration::ZERO);
        queue.call_ended(Duration::ZERO);
        assert_eq!(queue.wants(Duration::ZERO), Wants::Read(2), "there is more");
    }

    #[test]
    fn a_signal_during_a_reading_is_not_lost() {
        let mut queue = queue(10, 100);
        queue.signal(at(9), Duration::ZERO);
        queue.read(EndpointId(Uuid::nil()), 10);
        queue.signal(at(3), Duration::ZERO);
        queue.take(message(1), at(9), true);
        queue.was_read(at(10), false, Duration::ZERO);
        assert_eq!(queue.wants(Duration::ZERO), Wants::Read(9));
        assert_eq!(queue.read(EndpointId(Uuid::nil()), 9).since, at(3));
    }

    #[test]
    fn it_reads_no_more_while_nothing_is_settled() {
        let mut queue = queue(2, 100);
        for number in 0..8 {
            queue.take(message(number), at(1), true);
            queue.call_ended(Duration::ZERO);
        }
        queue.signal(at(1), Duration::ZERO);
        assert_eq!(queue.wants(Duration::ZERO), Wants::Nothing);
        queue.let_go(message(0));
        assert_eq!(queue.wants(Duration::ZERO), Wants::Read(1));
    }

    #[test]
    fn the_rate_holds_calls_back() {
        let mut queue = queue(1_000, 20);
        queue.signal(at(1), Duration::ZERO);
        assert_eq!(queue.wants(Duration::ZERO), Wants::Read(20));
        (0..20).for_each(|number| queue.take(message(number), at(1), true));
        queue.signal(at(1), Duration::ZERO);
        assert_eq!(queue.wants(Duration::ZERO), Wants::Later(Duration::from_millis(50)));
        assert_eq!(queue.wants(Duration::from_millis(50)), Wants::Read(1));
        assert_eq!(queue.wants(Duration::from_millis(150)), Wants::Read(3));
        assert_eq!(queue.wants(Duration::from_mins(1)), Wants::Read(20), "no more than a second's worth gathers");
    }

    #[test]
    fn it_is_idle_when_nothing_is_in_hand_and_nothing_is_expected() {
        let mut queue = queue(5, 100);
        assert!(queue.is_idle());
        queue.signal(at(1), Duration::ZERO);
        assert!(!queue.is_idle() && queue.is_empty());
        queue.read(EndpointId(Uuid::nil()), 5);
        queue.take(message(1), at(1), true);
        queue.was_read(at(1), false, Duration::ZERO);
        queue.call_ended(Duration::ZERO);
        assert!(!queue.is_empty(), "it is not settled yet");
        assert_eq!(queue.let_go(message(1)), Some(at(1)));
        assert!(queue.is_idle());
        queue.read(EndpointId(Uuid::nil()), 5);
        queue.was_not_read(Duration::ZERO);
        assert!(!queue.is_idle(), "a reading that failed is made up for");
    }
}
