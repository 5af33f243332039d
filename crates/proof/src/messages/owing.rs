//! The messages of the measurements: endpoints of the stage's merchants, a flow that owes them messages, and the simulated
//! systems that receive them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use backhaul::app::App;
use backhaul::flow::messages::configure_endpoint::{EndpointChange, set_endpoint};
use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::messages::message::{Interface, Kind};
use sandbox::merchant::Merchant;
use sqlx::PgConnection;
use store::messages::endpoints;
use store::messages::outbox::{Message, Signal};
use uuid::Uuid;

use crate::stage::{Service, Stage};

/// The interface of all endpoints here.
const INTERFACE: Interface = Interface::Rma;
/// The number of buckets of endpoints.
pub(crate) const BUCKETS: i64 = 256;

/// An endpoint that messages are owed to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) merchant: MerchantId,
    pub(crate) endpoint: EndpointId,
    pub(crate) bucket: u8,
    pub(crate) slots: usize,
}

impl Target {
    /// Sets up the endpoint of the stage's merchant `number`, at its own path of `systems` unless `change` names a URL.
    pub(crate) async fn set(app: &App, stage: &Stage, number: usize, systems: &Merchant, change: EndpointChange) -> anyhow::Result<Self> {
        let merchant = MerchantId(*stage.merchants.get(number).context("there are not so many merchants")?);
        let change = EndpointChange {
            url: change.url.or_else(|| Some(systems.url(&path(number)))),
            per_second: change.per_second.or(Some(100_000)),
            ..change
        };
        let app = app.of(merchant).await?;
        set_endpoint(&app, "proof", merchant, INTERFACE, change).await?;
        let endpoint = endpoints::list(app.cell(), merchant).await?.into_iter().next().context("the endpoint is not there")?;
        Ok(Self { merchant, endpoint: endpoint.id, bucket: endpoint.bucket, slots: usize::try_from(endpoint.slots)? })
    }

    /// Sets up endpoints for the merchants `numbers`, each with `slots`.
    pub(crate) async fn set_all(
        app: &App,
        stage: &Stage,
        numbers: std::ops::Range<usize>,
        systems: &Merchant,
        slots: i32,
    ) -> anyhow::Result<Vec<Self>> {
        let mut targets = Vec::with_capacity(numbers.len());
        for number in numbers {
            let change = EndpointChange { slots: Some(slots), ..EndpointChange::default() };
            targets.push(Self::set(app, stage, number, systems, change).await?);
        }
        Ok(targets)
    }

    /// The signal that a message is owed to it, due at `due_at`.
    pub(crate) fn signal(&self, due_at: DateTime<Utc>) -> Signal {
        Signal { merchant: self.merchant, endpoint: self.endpoint, bucket: self.bucket, due_at }
    }
}

/// The path of the merchant `number` in the simulated systems.
pub(crate) fn path(number: usize) -> String {
    format!("/merchants/{number}")
}

/// A body of 1.5 KB.
pub(crate) fn body(subject: &str, sequence: i64) -> String {
    let lines = r#"{"identifier":"L1","sku":"SHOE-42-1","quantity":1,"title":"Running shoe, blue, size 42, wide","reason":"TOO_SMALL","condition":"UNWORN","unit_price_amount_cents":5000}"#;
    let lines = [lines; 8].join(",");
    format!(r#"{{"rma_identifier":"{subject}","step":"{sequence:06}","status":"TRANSIT","lines":[{lines}]}}"#)
}

/// Acts as a flow: a change of `subject` owes a message. Returns its id and the time of the commit.
pub(crate) async fn owe(app: &App, to: &Target, subject: &str, sequence: i64) -> anyhow::Result<(Uuid, Instant)> {
    let id = app.mint();
    write(app, to, id, subject, sequence).await?;
    Ok((id, Instant::now()))
}

/// The transaction of such a flow in the merchant's cell, for a message with this id.
pub(crate) async fn write(app: &App, to: &Target, id: Uuid, subject: &str, sequence: i64) -> anyhow::Result<()> {
    let app = app.of(to.merchant).await?;
    let body = body(subject, sequence);
    let (kind, subject) = (Kind::Of(INTERFACE), subject.to_owned());
    let mut tx = app.begin(to.merchant).await?;
    tx.owe(Message { id, kind, event: "rma.updated", subject, sequence, body, due_at: app.now() });
    Ok(app.commit(tx).await?)
}

/// Runs flows that owe `count` messages, each of its own subject, to `targets` in turn, `flows` at a time. `done` counts the
/// commits.
pub(crate) async fn owe_many(app: &App, targets: &[Target], count: usize, flows: usize, done: &Arc<AtomicUsize>) -> anyhow::Result<()> {
    let next = Arc::new(AtomicUsize::new(0));
    let flows: Vec<_> = (0..flows)
        .map(|_| {
            let (app, targets, next, done) = (app.clone(), targets.to_vec(), Arc::clone(&next), Arc::clone(done));
            tokio::spawn(async move {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(to) = targets.get(at % targets.len()).filter(|_| at < count) else { return anyhow::Ok(()) };
                    owe(&app, to, &format!("R-{at}"), 1).await?;
                    done.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for flow in flows {
        flow.await??;
    }
    Ok(())
}

/// Writes `count` waiting messages in one statement, each of its own subject and spread over `targets`. The first is due at
/// `due_at`, and each further one a microsecond later.
pub(crate) async fn pile_up(
    connection: &mut PgConnection,
    targets: &[Target],
    count: usize,
    body: &str,
    due_at: DateTime<Utc>,
) -> anyhow::Result<()> {
    let merchants: Vec<Uuid> = targets.iter().map(|target| target.merchant.0).collect();
    let endpoints: Vec<Uuid> = targets.iter().map(|target| target.endpoint.0).collect();
    // The ids are version 7 with the current time, so that they fall into today's partition. As those of messages that were written
    // one after the other, they grow with the due time.
    sqlx::query(
        "with numbered as materialized (
             select n, 1 + n % $3 as at,
                 (lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex(n >> 12), 3, '0')
                     || '8' || lpad(to_hex(n & 4095), 3, '0') || md5(random()::text || n))::text as hex
             from generate_series(0, $4 - 1) as n
         ),
         waiting as materialized (
             select n, at, $1[at] as merchant_id, left(hex, 32)::uuid as id, row_number() over (partition by $1[at] order by n) as place
             from numbered
         ),
         taken as (
             update feed_counter set last = last + newest.place, last_message = newest.id
             from (select distinct on (merchant_id) merchant_id, place, id from waiting order by merchant_id, place desc) as newest
             where feed_counter.merchant_id = newest.merchant_id
             returning feed_counter.merchant_id, feed_counter.last - newest.place as before
         ),
         written as (
             insert into message (merchant_id, message_id, transaction, feed_epoch, sequence, kind, event, subject, body, position)
             select merchant_id, id, pg_current_xact_id(), (select feed_epoch from installation), 1, 'rma', 'rma.updated', 'W-' || n, $5,
                 taken.before + waiting.place
             from waiting join taken using (merchant_id)
         )
         insert into delivery (merchant_id, message_id, endpoint_id, sequence, due_at, attempts, attempts_before, discard, lane)
         select $1[at], id, $2[at], 1, $6 + n * interval '1 microsecond', 0, 0, false, 'W-' || n from waiting",
    )
    .bind(&merchants)
    .bind(&endpoints)
    .bind(i64::try_from(targets.len())?)
    .bind(i64::try_from(count)?)
    .bind(body)
    .bind(due_at)
    .execute(connection)
    .await?;
    Ok(())
}

/// Deletes all messages, deliveries and leases in every cell, and leaves the tables vacuumed and analysed.
pub(crate) async fn clear(stage: &Stage) -> anyhow::Result<()> {
    for mut connection in stage.connect_to_cells().await? {
        for statement in [
            "truncate delivery, message, attempt, attempt_hourly, delivered_hourly, failure, failure_note, retry_job, deliverer",
            "update delivery_bucket set owner = null, leased_until = null",
            "vacuum analyze delivery, message, attempt, attempt_hourly, delivered_hourly, endpoint, delivery_bucket, deliverer",
            "checkpoint",
        ] {
            sqlx::raw_sql(statement).execute(&mut connection).await?;
        }
    }
    Ok(())
}

/// Waits until all buckets of every cell have an owner.
pub(crate) async fn all_leased(stage: &Stage) -> anyhow::Result<()> {
    let started = Instant::now();
    for mut connection in stage.connect_to_cells().await? {
        while leased(&mut connection).await? != BUCKETS {
            if started.elapsed() > Duration::from_secs(30) {
                bail!("the buckets have no owners after 30 s");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    Ok(())
}

/// The number of buckets that have an owner.
async fn leased(connection: &mut PgConnection) -> anyhow::Result<i64> {
    Ok(sqlx::query_scalar("select count(*) from delivery_bucket where leased_until > now()").fetch_one(connection).await?)
}

/// Starts a delivery process, and waits until it owns all buckets.
pub(crate) async fn deliver(stage: &Stage) -> anyhow::Result<Service> {
    let service = stage.deliver()?;
    service.ready().await?;
    all_leased(stage).await?;
    Ok(service)
}

/// Waits until no message is owed.
pub(crate) async fn all_settled(connection: &mut PgConnection, within: Duration) -> anyhow::Result<()> {
    let started = Instant::now();
    while sqlx::query_scalar::<_, bool>("select exists (select from delivery)").fetch_one(&mut *connection).await? {
        if started.elapsed() > within {
            bail!("messages are still owed after {} s", within.as_secs());
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(())
}

/// Waits until no message is due.
pub(crate) async fn none_due(connection: &mut PgConnection, within: Duration) -> anyhow::Result<()> {
    let started = Instant::now();
    while sqlx::query_scalar::<_, bool>("select exists (select from delivery where due_at <= now())").fetch_one(&mut *connection).await? {
        if started.elapsed() > within {
            bail!("messages are still due after {} s", within.as_secs());
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(())
}

/// The simulated systems of all merchants, and the times of arrival there.
pub(crate) struct Receiver {
    pub(crate) systems: Merchant,
    arrivals: Arc<Arrivals>,
}

#[derive(Default)]
struct Arrivals {
    count: AtomicUsize,
    first: Mutex<HashMap<Uuid, Instant>>,
}

impl Arrivals {
    fn first(&self) -> MutexGuard<'_, HashMap<Uuid, Instant>> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Receiver {
    /// Starts systems that accept every message.
    pub(crate) async fn start() -> anyhow::Result<Self> {
        let systems = Merchant::start().await?;
        systems.keep_bodies(false);
        let arrivals = Arc::new(Arrivals::default());
        let seen = Arc::clone(&arrivals);
        systems.on_request(move |received| {
            if let Some(id) = received.message_id().and_then(|id| id.parse().ok()) {
                seen.first().entry(id).or_insert_with(|| received.arrived());
                seen.count.fetch_add(1, Ordering::Relaxed);
            }
        });
        Ok(Self { systems, arrivals })
    }

    /// Clears the record of arrivals.
    pub(crate) fn clear(&self) {
        self.systems.clear();
        self.arrivals.first().clear();
        self.arrivals.count.store(0, Ordering::Relaxed);
    }

    /// The number of requests received.
    pub(crate) fn count(&self) -> usize {
        self.arrivals.count.load(Ordering::Relaxed)
    }

    /// The number of requests that repeated a message.
    pub(crate) fn repeated(&self) -> usize {
        self.count() - self.arrivals.first().len()
    }

    /// Waits until `count` requests have arrived.
    pub(crate) async fn wait_for(&self, count: usize, within: Duration) -> anyhow::Result<()> {
        let started = Instant::now();
        while self.count() < count {
            if started.elapsed() > within {
                bail!("{} of {count} messages arrived within {} s", self.count(), within.as_secs());
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Ok(())
    }

    /// The times from commit to receipt, in microseconds, sorted. Messages that did not arrive count as infinitely late.
    pub(crate) fn latencies(&self, committed: &[(Uuid, Instant)]) -> Vec<u32> {
        let arrivals = self.arrivals.first();
        let latency = |(id, committed): &(Uuid, Instant)| {
            let late = arrivals.get(id).map(|arrived| arrived.saturating_duration_since(*committed).as_micros());
            late.and_then(|micros| u32::try_from(micros).ok()).unwrap_or(u32::MAX)
        };
        let mut latencies: Vec<u32> = committed.iter().map(latency).collect();
        latencies.sort_unstable();
        latencies
    }
}

/// Owes a message every interval to `targets` in turn, each of its own subject, for this `duration`. The commits do not wait
/// for each other.
pub(crate) async fn owe_steadily(
    app: &App,
    targets: &[Target],
    per_second: u32,
    duration: Duration,
    prefix: &str,
) -> anyhow::Result<Vec<(Uuid, Instant)>> {
    let mut ticks = tokio::time::interval(Duration::from_secs(1) / per_second);
    let (started, mut flows, mut at) = (Instant::now(), Vec::new(), 0_usize);
    while started.elapsed() < duration {
        ticks.tick().await;
        if let Some(to) = targets.get(at % targets.len()).copied() {
            let (app, subject) = (app.clone(), format!("{prefix}-{at}"));
            flows.push(tokio::spawn(async move { owe(&app, &to, &subject, 1).await }));
        }
        at += 1;
    }
    let mut committed = Vec::with_capacity(flows.len());
    for flow in flows {
        committed.push(flow.await??);
    }
    Ok(committed)
}
