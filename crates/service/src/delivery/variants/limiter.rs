//! The limiter of an endpoint: limits concurrent calls and calls per second, and admits none while the circuit breaker is open.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use store::messages::endpoints::Endpoint;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::circuit_breaker::{Changed, CircuitBreaker, Ticket};
use crate::delivery::rate_limiter::RateLimiter;
use crate::platform::clock::Clock;

/// The limiter of one endpoint, for one revision of its settings.
pub(super) struct Limiter {
    endpoint: uuid::Uuid,
    revision: i64,
    per_second: usize,
    slots: Semaphore,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    rate: RateLimiter,
    breaker: CircuitBreaker,
}

/// The circuit breaker is open, so no call is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CircuitOpen;

/// The permission to make a call. It holds a slot until it is dropped.
pub(super) struct Permit<'a> {
    pub(super) ticket: Ticket,
    _slot: Option<SemaphorePermit<'a>>,
}

impl Limiter {
    pub(super) fn new(endpoint: &Endpoint) -> Self {
        Self {
            endpoint: endpoint.id.0,
            revision: endpoint.revision,
            per_second: usize::try_from(endpoint.per_second).unwrap_or(1),
            slots: Semaphore::new(usize::try_from(endpoint.slots).unwrap_or(1)),
            state: Mutex::default(),
        }
    }

    /// True if it was made for the endpoint's current settings.
    pub(super) fn is_current(&self, endpoint: &Endpoint) -> bool {
        self.revision == endpoint.revision
    }

    /// Waits until a call is allowed. Dropping the future takes nothing.
    pub(super) async fn acquire(&self, clock: &Clock) -> Result<Permit<'_>, CircuitOpen> {
        if self.state().breaker.is_open(clock.uptime()) {
            return Err(CircuitOpen);
        }
        // The semaphore is never closed.
        let slot = self.slots.acquire().await.ok();
        loop {
            match self.try_acquire(clock.uptime())? {
                Ok(ticket) => return Ok(Permit { ticket, _slot: slot }),
                Err(wait) => tokio::time::sleep(wait).await,
            }
        }
    }

    /// A ticket, or the time to wait because of the rate.
    fn try_acquire(&self, now: Duration) -> Result<Result<Ticket, Duration>, CircuitOpen> {
        let mut state = self.state();
        let State { rate, breaker } = &mut *state;
        if breaker.is_open(now) {
            return Err(CircuitOpen);
        }
        if rate.allowed(self.per_second, now) == 0 {
            return Ok(Err(rate.wait(self.per_second)));
        }
        let ticket = breaker.admit(now).ok_or(CircuitOpen)?;
        rate.take();
        Ok(Ok(ticket))
    }

    /// Passes the result of a call on to the circuit breaker.
    pub(super) fn report(&self, ticket: Ticket, succeeded: bool, now: Duration) {
        let changed = self.state().breaker.report(ticket, succeeded, now);
        match changed {
            Some(Changed::Open) => {
                tracing::warn!(endpoint = %self.endpoint, "the circuit breaker for variants has opened after failures in a row, calls are suspended");
            }
            Some(Changed::Closed) => {
                tracing::info!(endpoint = %self.endpoint, "the circuit breaker for variants has closed, calls are resumed");
            }
            None => {}
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
