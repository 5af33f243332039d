//! The deadlines of a connection: what it is waiting for, and until when.
//!
//! The stream, the requests and the answers report what happens; [`Deadlines::overdue`] resolves when the client misses a
//! deadline. Hyper cannot do all of this: its deadline for a head also runs while a connection is merely idle, and it does not
//! notice a client that stops reading.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use tokio::time::{Instant, Sleep};

use crate::platform::config::Http;

/// The most of an answer that is handed to the protocol at once: 16 KiB. A client counts as reading when the next portion is
/// taken, so no more than one portion may wait inside the protocol, even with a small HTTP/2 window.
pub(super) const PORTION: u16 = 16 * 1024;

/// A deadline that a client missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overdue {
    /// For the head of a request.
    Head,
    /// For the next request.
    Request,
    /// For reading the answer.
    Reading,
}

impl Overdue {
    /// The label in the metrics.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Head => "head",
            Self::Request => "idle",
            Self::Reading => "write",
        }
    }
}

/// The deadlines of one connection. Clones share their state.
#[derive(Clone)]
pub(super) struct Deadlines(Arc<Mutex<State>>);

struct State {
    head: Duration,
    idle: Duration,
    write: Duration,
    /// Requests in flight.
    requests: usize,
    /// The time since which no request is in flight.
    idle_since: Instant,
    /// Set by the first request.
    used: bool,
    /// The time at which the first byte of a head arrived.
    head_since: Option<Instant>,
    /// HTTP/2, where an incoming byte need not be the start of a head.
    multiplexed: bool,
    /// The time since which writes are blocked by the client, and the bytes sent since then.
    blocked: Option<(Instant, usize)>,
    /// Answers with a portion that was not taken yet, and the time at which the last one was taken.
    untaken: usize,
    taken_at: Instant,
    /// Wakes the task of the connection.
    waker: Option<Waker>,
}

impl Deadlines {
    pub(super) fn new(limits: &Http) -> Self {
        // A deadline must not overflow the machine's clock.
        let within_a_day = |timeout: Duration| timeout.min(Duration::from_hours(24));
        let now = Instant::now();
        Self(Arc::new(Mutex::new(State {
            head: within_a_day(limits.head_timeout()),
            idle: within_a_day(limits.idle_timeout()),
            write: within_a_day(limits.write_timeout()),
            requests: 0,
            idle_since: now,
            used: false,
            head_since: None,
            multiplexed: false,
            blocked: None,
            untaken: 0,
            taken_at: now,
            waker: None,
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the deadlines after the handshake, whose traffic does not count.
    pub(super) fn start(&self) {
        let mut state = self.state();
        state.idle_since = Instant::now();
        state.head_since = None;
        state.blocked = None;
    }

    /// Shortens the idle deadline of a connection that closes once its requests are answered.
    pub(super) fn close_soon(&self) {
        let mut state = self.state();
        state.idle = state.write;
        state.idle_since = Instant::now();
    }

    /// Notes that bytes arrived.
    pub(super) fn received(&self) {
        let mut state = self.state();
        if state.requests == 0 && !state.multiplexed && state.head_since.is_none() {
            state.head_since = Some(Instant::now());
        }
    }

    /// Notes that a write is blocked because the client does not read.
    pub(super) fn blocked(&self) {
        self.state().blocked.get_or_insert_with(|| (Instant::now(), 0));
    }

    /// Notes that bytes were sent. Fewer than a portion do not count: a client could read one at a time for ever.
    pub(super) fn sent(&self, bytes: usize) {
        let mut state = self.state();
        state.blocked = state.blocked.map(|(since, before)| (since, before + bytes)).filter(|(_, sum)| *sum < usize::from(PORTION));
    }

    /// Notes that everything was sent.
    pub(super) fn flushed(&self) {
        self.state().blocked = None;
    }

    /// Counts a request as in flight until the returned guard is dropped.
    pub(super) fn request_arrived(&self, multiplexed: bool) -> InFlight {
        let mut state = self.state();
        state.requests += 1;
        state.used = true;
        state.head_since = None;
        state.multiplexed |= multiplexed;
        InFlight { deadlines: self.clone(), untaken: false }
    }

    /// Whether no request is in flight.
    pub(super) fn is_idle(&self) -> bool {
        self.state().requests == 0
    }

    /// Resolves once the client misses a deadline. Poll it after every poll of the connection, which moves the deadlines.
    pub(super) fn overdue<'a>(&'a self, mut timer: Pin<&'a mut Sleep>) -> impl Future<Output = Overdue> + 'a {
        poll_fn(move |context| {
            let mut state = self.state();
            if !state.waker.as_ref().is_some_and(|known| known.will_wake(context.waker())) {
                state.waker = Some(context.waker().clone());
            }
            let deadline = state.deadline();
            drop(state);
            let Some((deadline, overdue)) = deadline else { return std::task::Poll::Pending };
            if timer.deadline() != deadline {
                timer.as_mut().reset(deadline);
            }
            timer.as_mut().poll(context).map(|()| overdue)
        })
    }
}

impl State {
    /// The next deadline.
    fn deadline(&self) -> Option<(Instant, Overdue)> {
        let request = match (self.requests, self.head_since, self.used) {
            (0, Some(since), _) => Some((since + self.head, Overdue::Head)),
            (0, None, false) => Some((self.idle_since + self.head, Overdue::Head)),
            (0, None, true) => Some((self.idle_since + self.idle, Overdue::Request)),
            // The body has a deadline of its own; everything else is up to us.
            (1.., _, _) => None,
        };
        let writing = self.blocked.map(|(since, _)| (since + self.write, Overdue::Reading));
        let taking = (self.untaken > 0).then(|| (self.taken_at + self.write, Overdue::Reading));
        [request, writing, taking].into_iter().flatten().min_by_key(|(at, _)| *at)
    }
}

/// The guard of a request in flight.
pub(super) struct InFlight {
    deadlines: Deadlines,
    /// A portion of its answer was handed out and not taken yet.
    untaken: bool,
}

impl InFlight {
    /// Notes that a portion of the answer was handed out: the client has to take it.
    pub(super) fn handed_out(&mut self) {
        let mut state = self.deadlines.state();
        state.taken_at = Instant::now();
        state.untaken += usize::from(!self.untaken);
        self.untaken = true;
    }

    /// Notes that the portion was taken: the next one is up to us.
    pub(super) fn taken(&mut self) {
        let mut state = self.deadlines.state();
        state.taken_at = Instant::now();
        state.untaken -= usize::from(self.untaken);
        self.untaken = false;
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.taken();
        let mut state = self.deadlines.state();
        state.requests -= 1;
        state.idle_since = Instant::now();
        // An HTTP/2 answer ends in a task of its own, so the task of the connection must be woken to see the new deadline.
        let waker = if state.multiplexed { state.waker.take() } else { None };
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }
}
