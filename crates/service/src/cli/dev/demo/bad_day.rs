//! The merchant's system on a bad day: it fails so many times, or refuses a token, when it is told to.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sandbox::merchant::{Answer, Merchant as Receiver, Received};
use sandbox::shop::Told;
use tokio::sync::mpsc;
use uuid::Uuid;

/// The most calls that wait to be told; a story has fewer.
const MOST_WAITING: usize = 1_000;

/// A call that the merchant's system got, and its answer.
pub(super) struct Seen {
    pub(super) message: Uuid,
    pub(super) told: Told,
    pub(super) sequence: u64,
    pub(super) attempt: u32,
    pub(super) digest: [u8; 32],
    pub(super) status: u16,
}

#[derive(Default)]
struct State {
    /// The number of the next calls that fail.
    failures: usize,
    /// The token of the last call.
    token: Option<String>,
    /// The token that is not accepted any more.
    refused: Option<String>,
}

/// The merchant's system.
#[derive(Clone, Default)]
pub(super) struct BadDay(Arc<Mutex<State>>);

impl BadDay {
    /// Answers calls to `path` from now on. Every call can be received.
    pub(super) fn begin(receiver: &Receiver, path: &str) -> (Self, mpsc::Receiver<Seen>) {
        let (sender, calls) = mpsc::channel(MOST_WAITING);
        let day = Self::default();
        let deciding = day.clone();
        receiver.answer_by(path, move |received| {
            let status = deciding.decide(received.bearer());
            if let Some(seen) = read(received, status) {
                // If nobody listens any more, the story is over.
                let _ = sender.try_send(seen);
            }
            Answer::status(status)
        });
        (day, calls)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn decide(&self, token: Option<&str>) -> u16 {
        let mut state = self.state();
        state.token = token.map(str::to_owned);
        if state.token.is_none() || state.token == state.refused {
            return 401;
        }
        match state.failures.checked_sub(1) {
            Some(left) => {
                state.failures = left;
                500
            }
            None => 200,
        }
    }

    /// Fails the next calls.
    pub(super) fn fails(&self, times: usize) {
        self.state().failures = times;
    }

    /// Accepts the token that it knows no longer, as if it had been revoked.
    pub(super) fn revokes_the_token(&self) {
        let mut state = self.state();
        state.refused = state.token.take();
    }
}

fn read(received: &Received, status: u16) -> Option<Seen> {
    Some(Seen {
        message: received.message_id()?.parse().ok()?,
        told: Told::read(received)?,
        sequence: received.sequence()?,
        attempt: received.attempt()?,
        digest: received.digest(),
        status,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_day_is_as_bad_as_it_is_told() {
        let day = BadDay::default();
        assert_eq!([day.decide(None), day.decide(Some("a"))], [401, 200]);
        day.fails(2);
        assert_eq!([(); 3].map(|()| day.decide(Some("a"))), [500, 500, 200]);
        day.revokes_the_token();
        assert_eq!([day.decide(Some("a")), day.decide(Some("b"))], [401, 200]);
    }
}
