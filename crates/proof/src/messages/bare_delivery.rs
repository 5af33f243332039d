//! The baseline for delivery: the same inserts, reads and settles as in the service, without any calls in between.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use backhaul::app::App;
use chrono::{DateTime, TimeDelta, Utc};
use domain::id::EndpointId;
use store::messages::deliveries::{DueQuery, DueRow, due};
use store::messages::leases;
use store::messages::settlements::{Attempt, Disposition, Hold, Settlement, settle};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use uuid::Uuid;

use crate::messages::owing::Target;

/// The number of writers and the size of their batches. They stay as they are, so that figures can be compared with earlier ones; the
/// service may find better ones.
const WRITERS: usize = 4;
const MOST_SETTLED: usize = 64;
/// The length of a lease; longer than any measurement.
const TERM: f64 = 3_600.0;
/// The longest delay between a transaction's timestamp and its commit.
const LATE: TimeDelta = TimeDelta::milliseconds(5);
/// The timeout of one measurement.
const LONGEST: Duration = Duration::from_mins(10);

/// The messages read but not yet settled, and the number settled.
#[derive(Default)]
struct State {
    in_flight: Mutex<HashSet<Uuid>>,
    settled: AtomicUsize,
}

impl State {
    fn in_flight(&self) -> MutexGuard<'_, HashSet<Uuid>> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A row that was read, and the lease it was read under.
type Read = (DueRow, Hold);

/// Reads and settles until `count` messages are settled. They may still be being added: `owed` counts them, so that reading
/// waits for a full batch.
pub(crate) async fn settle_all(app: &App, targets: &[Target], count: usize, owed: &AtomicUsize) -> anyhow::Result<()> {
    let id = app.mint();
    leases::renew(app.cell(), id, TERM, &leases::Known { name: "bare", version: "bare", calls: 0, takes_part: true }).await?;
    let taken = leases::take(app.cell(), id, crate::messages::owing::BUCKETS, TERM).await?;
    let holds: HashMap<u8, Hold> = taken.into_iter().map(|hold| (hold.bucket, hold)).collect();
    let state = Arc::new(State::default());
    let (senders, writers): (Vec<_>, Vec<_>) = (0..WRITERS)
        .map(|_| {
            let (sender, rows) = channel(10_000);
            (sender, tokio::spawn(write(app.clone(), Arc::clone(&state), rows)))
        })
        .unzip();
    read(app, targets, (count, owed), &holds, &state, &senders).await?;
    drop(senders);
    for writer in writers {
        writer.await??;
    }
    leases::release(app.cell(), id, &holds.into_keys().collect::<Vec<_>>()).await?;
    Ok(leases::leave(app.cell(), id).await?)
}

async fn read(
    app: &App,
    targets: &[Target],
    (count, owed): (usize, &AtomicUsize),
    holds: &HashMap<u8, Hold>,
    state: &State,
    writers: &[Sender<Read>],
) -> anyhow::Result<()> {
    let slots: usize = targets.iter().map(|target| target.slots).sum();
    let buckets: HashMap<EndpointId, u8> = targets.iter().map(|target| (target.endpoint, target.bucket)).collect();
    let mut since: HashMap<EndpointId, DateTime<Utc>> = HashMap::new();
    let (started, mut taken) = (Instant::now(), 0);
    while state.settled.load(Ordering::SeqCst) < count {
        if started.elapsed() > LONGEST {
            bail!("only {} of {count} messages were settled in time", state.settled.load(Ordering::SeqCst));
        }
        // Read at most one batch ahead of the one being settled.
        let owed = owed.load(Ordering::SeqCst);
        if state.in_flight().len() > slots || (owed < count && owed < taken + MOST_SETTLED) || taken >= count {
            tokio::time::sleep(Duration::from_micros(200)).await;
            continue;
        }
        let wanted = targets.iter().map(|target| DueQuery {
            merchant: target.merchant,
            endpoint: target.endpoint,
            since: since.get(&target.endpoint).map_or(DateTime::<Utc>::UNIX_EPOCH, |since| *since - LATE),
            limit: i64::try_from(target.slots).unwrap_or(i64::MAX),
        });
        let in_flight: Vec<Uuid> = state.in_flight().iter().copied().collect();
        let rows = due(app.cell(), &wanted.collect::<Vec<_>>(), &in_flight, app.now()).await?;
        if rows.is_empty() {
            since.clear();
        }
        taken += rows.len();
        state.in_flight().extend(rows.iter().map(|row| row.message));
        for row in rows {
            since.insert(row.endpoint, row.due_at);
            let bucket = buckets.get(&row.endpoint).context("a message of an unknown endpoint was read")?;
            let hold = *holds.get(bucket).context("the bucket is not leased")?;
            let writer = writers.get(usize::from(*bucket) % WRITERS).context("there is no such writer")?;
            writer.send((row, hold)).await.ok().context("the writer has ended")?;
        }
    }
    Ok(())
}

async fn write(app: App, state: Arc<State>, mut rows: Receiver<Read>) -> anyhow::Result<()> {
    let mut gathered = Vec::with_capacity(MOST_SETTLED);
    while rows.recv_many(&mut gathered, MOST_SETTLED).await > 0 {
        let now = app.now();
        let batch = std::mem::take(&mut gathered);
        let settlements: Vec<Settlement> = batch
            .iter()
            .map(|(row, hold)| Settlement { hold: *hold, merchant: row.merchant, message: row.message, disposition: Disposition::Finished })
            .collect();
        let attempts: Vec<Attempt> = batch.iter().map(|(row, hold)| attempt(&app, row, *hold, now)).collect();
        settle(app.cell(), &settlements.iter().collect::<Vec<_>>(), &attempts.iter().collect::<Vec<_>>(), now).await?;
        let mut in_flight = state.in_flight();
        batch.iter().for_each(|(row, _)| _ = in_flight.remove(&row.message));
        drop(in_flight);
        state.settled.fetch_add(batch.len(), Ordering::SeqCst);
    }
    Ok(())
}

/// The attempt that the service would record.
fn attempt(app: &App, row: &DueRow, hold: Hold, now: DateTime<Utc>) -> Attempt {
    Attempt {
        hold,
        id: app.mint(),
        merchant: row.merchant,
        message: row.message,
        endpoint: row.endpoint,
        started_at: now,
        took_ms: 1,
        by_hand: false,
        number: 1,
        status: Some(200),
        outcome: "200".to_owned(),
        reason: None,
        answer: Some(b"{}".to_vec()),
        counted_as: Some("rma"),
    }
}
