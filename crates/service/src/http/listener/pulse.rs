//! The pulse of a connection: what it waits for, and until when.
//!
//! The stream, the requests and the answers tell the pulse what happens; [`Pulse::overdue`] resolves when the client is
//! late with something. Protocol libraries do not see all of it: hyper's own deadline for a head runs while a connection
//! is merely idle, and nothing in it notices a client who stops reading.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use tokio::time::{Instant, Sleep};

use super::answer::PORTION;
use crate::config::Http;

/// What a client is late with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overdue {
    /// The head of a request.
    Head,
    /// The next request.
    Request,
    /// Reading the answer.
    Reading,
}

impl Overdue {
    /// How it is counted.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Head => "head",
            Self::Request => "idle",
            Self::Reading => "write",
        }
    }
}

/// What is known of one connection. A clone is the same pulse.
#[derive(Clone)]
pub(super) struct Pulse(Arc<Mutex<State>>);

struct State {
    head: Duration,
    idle: Duration,
    write: Duration,
    /// Requests that are being answered.
    requests: usize,
    /// Since when there are none.
    idle_since: Instant,
    /// Whether there ever was one.
    used: bool,
    /// Since when the head of one is arriving.
    head_since: Option<Instant>,
    /// Whether this is HTTP/2, where a byte may be anything and not only the start of a head.
    multiplexed: bool,
    /// Since when bytes wait for the client to make room, and how many have gone out since.
    stuck: Option<(Instant, usize)>,
    /// Answers of which a portion waits to be taken, and when the last portion was taken.
    standing: usize,
    taken_at: Instant,
    /// Who attends to the connection.
    attendant: Option<Waker>,
}

impl Pulse {
    pub(super) fn new(limits: &Http) -> Self {
        // A deadline must be a moment that the machine's clock can name.
        let within_a_day = |patience: Duration| patience.min(Duration::from_hours(24));
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
            stuck: None,
            standing: 0,
            taken_at: now,
            attendant: None,
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The handshake is over; what it read and wrote does not count.
    pub(super) fn start(&self) {
        let mut state = self.state();
        state.idle_since = Instant::now();
        state.head_since = None;
        state.stuck = None;
    }

    /// The connection is to close once its requests are answered; it is not waited for as long as one that may stay.
    pub(super) fn part(&self) {
        let mut state = self.state();
        state.idle = state.write;
        state.idle_since = Instant::now();
    }

    /// Bytes arrived.
    pub(super) fn heard(&self) {
        let mut state = self.state();
        if state.requests == 0 && !state.multiplexed && state.head_since.is_none() {
            state.head_since = Some(Instant::now());
        }
    }

    /// Bytes want to go out and cannot.
    pub(super) fn stuck(&self) {
        self.state().stuck.get_or_insert_with(|| (Instant::now(), 0));
    }

    /// Bytes went out. Few of them do not count: a client could take one at a time for ever.
    pub(super) fn sent(&self, bytes: usize) {
        let mut state = self.state();
        state.stuck = state.stuck.map(|(since, before)| (since, before + bytes)).filter(|(_, sum)| *sum < usize::from(PORTION));
    }

    /// Nothing is left to go out.
    pub(super) fn flushed(&self) {
        self.state().stuck = None;
    }

    /// A request has arrived; it counts until what is given back is dropped.
    pub(super) fn asked(&self, multiplexed: bool) -> Asked {
        let mut state = self.state();
        state.requests += 1;
        state.used = true;
        state.head_since = None;
        state.multiplexed |= multiplexed;
        Asked { pulse: self.clone(), standing: false }
    }

    /// Resolves once the client is late. To be polled after every poll of the connection, which is what moves the deadline.
    pub(super) fn overdue<'a>(&'a self, mut timer: Pin<&'a mut Sleep>) -> impl Future<Output = Overdue> + 'a {
        poll_fn(move |context| {
            let mut state = self.state();
            if !state.attendant.as_ref().is_some_and(|known| known.will_wake(context.waker())) {
                state.attendant = Some(context.waker().clone());
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
    /// What is due next, and when.
    fn deadline(&self) -> Option<(Instant, Overdue)> {
        let request = match (self.requests, self.head_since, self.used) {
            (0, Some(since), _) => Some((since + self.head, Overdue::Head)),
            (0, None, false) => Some((self.idle_since + self.head, Overdue::Head)),
            (0, None, true) => Some((self.idle_since + self.idle, Overdue::Request)),
            // The body has a deadline of its own, and the rest is ours to do.
            (1.., _, _) => None,
        };
        let room = self.stuck.map(|(since, _)| (since + self.write, Overdue::Reading));
        let taking = (self.standing > 0).then(|| (self.taken_at + self.write, Overdue::Reading));
        [request, room, taking].into_iter().flatten().min_by_key(|(at, _)| *at)
    }
}

/// A request that is being answered.
pub(super) struct Asked {
    pulse: Pulse,
    standing: bool,
}

impl Asked {
    /// A portion of the answer is handed out: the client has to take it.
    pub(super) fn hand_out(&mut self) {
        let mut state = self.pulse.state();
        state.taken_at = Instant::now();
        state.standing += usize::from(!self.standing);
        self.standing = true;
    }

    /// The portion was taken; the next one is ours to make.
    pub(super) fn taken(&mut self) {
        let mut state = self.pulse.state();
        state.taken_at = Instant::now();
        state.standing -= usize::from(self.standing);
        self.standing = false;
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.taken();
        let mut state = self.pulse.state();
        state.requests -= 1;
        state.idle_since = Instant::now();
        // An answer of HTTP/2 ends in a task of its own; whoever attends to the connection has a new deadline to keep.
        let attendant = if state.multiplexed { state.attendant.take() } else { None };
        drop(state);
        attendant.into_iter().for_each(Waker::wake);
    }
}
