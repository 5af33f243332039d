//! A client that writes all the time, to measure for how long writes are impossible.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::bail;
use serde_json::Value;
use sqlx::PgConnection;
use tokio::task::JoinHandle;

use crate::orders::load::Connection;
use crate::orders::order::Request;
use crate::stage::Stage;

const WRITE_EVERY: Duration = Duration::from_millis(50);
/// The time a write may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// The timeout for the first write after a fault.
const BACK_WITHIN: Duration = Duration::from_mins(2);

/// The writes so far.
struct Beats {
    last: Instant,
    /// The longest time between two acknowledged writes.
    longest: Duration,
    /// The last acknowledged state.
    state: u64,
}

/// The running client; stopped when dropped.
pub(super) struct Pulse {
    order: u64,
    beats: Arc<Mutex<Beats>>,
    writing: JoinHandle<()>,
}

fn lock(beats: &Mutex<Beats>) -> MutexGuard<'_, Beats> {
    beats.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pulse {
    /// A client that writes this order again and again, each time in a later state. No merchant with returns may have it.
    pub(super) fn start(stage: &Stage, address: SocketAddr, order: u64) -> Self {
        let beats = Arc::new(Mutex::new(Beats { last: Instant::now(), longest: Duration::ZERO, state: 0 }));
        let writing = tokio::spawn(write(stage.token(order).to_owned(), address, order, Arc::clone(&beats)));
        Self { order, beats, writing }
    }

    /// Forgets the gaps so far.
    pub(super) fn reset(&self) {
        lock(&self.beats).longest = Duration::ZERO;
    }

    /// Waits for one more acknowledged write. Returns the longest gap since the last reset.
    pub(super) async fn longest_gap(&self) -> anyhow::Result<Duration> {
        let (started, state) = (Instant::now(), lock(&self.beats).state);
        while lock(&self.beats).state == state {
            if started.elapsed() > BACK_WITHIN {
                bail!("no order was acknowledged within {} s after a fault", BACK_WITHIN.as_secs());
            }
            tokio::time::sleep(WRITE_EVERY).await;
        }
        Ok(lock(&self.beats).longest)
    }

    /// Stops writing. Returns whether the last acknowledged state, or a later one, is stored.
    pub(super) async fn end(self, connection: &mut PgConnection) -> anyhow::Result<bool> {
        self.writing.abort();
        let snapshot: Option<String> = sqlx::query_scalar("select snapshot from customer_order where identifier = $1")
            .bind(format!("{:012}", self.order))
            .fetch_optional(connection)
            .await?;
        let stored: Value = serde_json::from_str(snapshot.as_deref().unwrap_or("{}"))?;
        let state = stored.get("raw_status").and_then(Value::as_str).and_then(|state| state.parse::<u64>().ok());
        Ok(state.is_some_and(|state| state >= lock(&self.beats).state))
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        self.writing.abort();
    }
}

async fn write(token: String, address: SocketAddr, order: u64, beats: Arc<Mutex<Beats>>) {
    let mut request = Request::new(1, token.len());
    let mut stream: Option<Connection> = None;
    for state in 1.. {
        tokio::time::sleep(WRITE_EVERY).await;
        if stream.is_none() {
            stream = Connection::open(address).await;
        }
        let Some(connection) = &mut stream else { continue };
        match connection.exchange_within(request.fill(&token, std::iter::once(order), state), PATIENCE).await {
            Some(200) => {
                let (mut beats, now) = (lock(&beats), Instant::now());
                beats.longest = beats.longest.max(now.saturating_duration_since(beats.last));
                (beats.last, beats.state) = (now, state);
            }
            Some(_) => {}
            None => stream = None,
        }
    }
}
