//! What holds calls of an endpoint back: so many at once, so many a second, and none while its breaker is open.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use store::messages::endpoints::Endpoint;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::breaker::{Breaker, Ticket, Turned};
use crate::delivery::rate_limiter::Pace;
use crate::platform::clock::Clock;

/// The gate of one endpoint, as of one revision of its settings.
pub(super) struct Gate {
    endpoint: uuid::Uuid,
    revision: i64,
    per_second: usize,
    slots: Semaphore,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    pace: Pace,
    breaker: Breaker,
}

/// That the endpoint is left in peace for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Resting;

/// The right to make a call, until it is dropped.
pub(super) struct Pass<'a> {
    pub(super) ticket: Ticket,
    _slot: Option<SemaphorePermit<'a>>,
}

impl Gate {
    pub(super) fn new(endpoint: &Endpoint) -> Self {
        Self {
            endpoint: endpoint.id.0,
            revision: endpoint.revision,
            per_second: usize::try_from(endpoint.per_second).unwrap_or(1),
            slots: Semaphore::new(usize::try_from(endpoint.slots).unwrap_or(1)),
            state: Mutex::default(),
        }
    }

    /// Whether it goes by the settings that the endpoint has now.
    pub(super) fn is_for(&self, endpoint: &Endpoint) -> bool {
        self.revision == endpoint.revision
    }

    /// Waits until a call may be made. Whoever waits too long stops waiting, and has taken nothing.
    pub(super) async fn enter(&self, clock: &Clock) -> Result<Pass<'_>, Resting> {
        if self.state().breaker.is_open(clock.uptime()) {
            return Err(Resting);
        }
        // It is never closed.
        let slot = self.slots.acquire().await.ok();
        loop {
            match self.try_enter(clock.uptime())? {
                Ok(ticket) => return Ok(Pass { ticket, _slot: slot }),
                Err(wait) => tokio::time::sleep(wait).await,
            }
        }
    }

    /// A ticket, or how long the rate keeps it back.
    fn try_enter(&self, now: Duration) -> Result<Result<Ticket, Duration>, Resting> {
        let mut state = self.state();
        let State { pace, breaker } = &mut *state;
        if breaker.is_open(now) {
            return Err(Resting);
        }
        if pace.allowed(self.per_second, now) == 0 {
            return Ok(Err(pace.next(self.per_second, now)));
        }
        let ticket = breaker.admit(now).ok_or(Resting)?;
        pace.start();
        Ok(Ok(ticket))
    }

    /// The call with this ticket has ended.
    pub(super) fn report(&self, ticket: Ticket, went_well: bool, now: Duration) {
        let turned = self.state().breaker.report(ticket, went_well, now);
        match turned {
            Some(Turned::Open) => tracing::warn!(endpoint = %self.endpoint, "variants are not asked for any more: calls fail in a row"),
            Some(Turned::Closed) => tracing::info!(endpoint = %self.endpoint, "variants are asked for again"),
            None => {}
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
