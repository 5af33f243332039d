//! `feed`: readers follow a merchant's feed by cursor, over HTTP, while many writers commit transactions of all lengths. The
//! database fails over to a standby, and then moves to a cluster restored from a backup. Each reader must see every committed
//! message exactly once, numbered without a gap, and all readers must see the same order.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use backhaul::app::App;
use domain::id::MerchantId;
use domain::messages::message::{Interface, Kind};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use sandbox::postgres::Cluster;
use serde_json::{Value, json};
use store::messages::outbox::Message;
use tokio::sync::watch;
use uuid::Uuid;

use crate::messages::feed_history::{self, SEEDED, Said, Seen};
use crate::messages::owing;
use crate::meter::{percentile, round};
use crate::orders::load::Connection;
use crate::stage::{Elsewhere, Service, Stage};

/// The size of the run.
pub(crate) struct Plan {
    /// The time of writing before the failover, after it, and after the restore.
    pub(crate) part: Duration,
    pub(crate) writers: u64,
    pub(crate) readers: u64,
}

/// One in this many transactions is held open for [`HELD`], and one in this many is rolled back.
const ONE_HELD_OF: u32 = 60;
const HELD: Duration = Duration::from_secs(2);
const ONE_UNDONE_OF: u32 = 6;
/// The number of empty pages after which a reader has reached the end, and the pause between them.
const NOTHING_MORE: u32 = 20;
const PAUSE: Duration = Duration::from_millis(10);
/// The longest time the feed may be unavailable while its database moves.
const GONE_FOR: Duration = Duration::from_mins(1);

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL with a standby, 100 merchants, the service …");
    let mut stage = Stage::set(program).await?;
    let mut standby = Elsewhere(stage.cluster()?.standby(&Elsewhere::dir("standby"))?);
    let said = Arc::new(Mutex::new(Said::default()));
    let service = serve(&stage).await?;
    let (moved, address) = watch::channel(service.address);
    let done = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..plan.readers)
        .map(|number| {
            // The others join at some moment of the first two parts.
            let later = if number < plan.readers / 2 { Duration::ZERO } else { plan.part * 2 * u32::try_from(number).unwrap_or(0) / 16 };
            let token = stage.token(0).to_owned();
            tokio::spawn(Reader { number, later, token, address: address.clone(), done: Arc::clone(&done) }.follow())
        })
        .collect();

    println!("{} writers, {} readers …", plan.writers, plan.readers);
    let writers = Writers::start(&stage, plan.writers, &said, 0)?;
    tokio::time::sleep(plan.part).await;
    println!("The primary is halted while they write, and its standby promoted …");
    stage.cluster()?.halt(sandbox::postgres::Halt::Immediate)?;
    writers.end().await;
    drop(service);
    standby.0.promote()?;
    stage.move_to(&mut standby);
    drop(standby);
    let service = serve(&stage).await?;
    moved.send(service.address)?;
    write_for(plan, &stage, &said, 1).await?;

    println!("A backup is restored into another cluster …");
    drop(service);
    let mut restored = Elsewhere(Cluster::start(&Elsewhere::dir("restored"))?);
    stage.cluster()?.restore_into(&restored.0, "postgres")?;
    stage.move_to(&mut restored);
    drop(restored);
    let service = serve(&stage).await?;
    moved.send(service.address)?;
    write_for(plan, &stage, &said, 2).await?;

    println!("Everything is written; the readers come to the end …");
    done.store(true, Ordering::SeqCst);
    let (mut seen, mut latencies) = (Vec::new(), Vec::new());
    for reader in readers {
        let (one, mut took) = reader.await??;
        seen.push(one);
        latencies.append(&mut took);
    }
    latencies.sort_unstable();
    let epochs: i32 = sqlx::query_scalar("select feed_epoch from installation").fetch_one(&mut stage.connect().await?).await?;
    let said = said.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let found = feed_history::check(&said, &seen);
    let caught = feed_history::seed(&said, &seen);
    println!("{} messages, {} pages read", said.committed.len(), latencies.len());
    let result = json!({
        "prove": "feed", "writers": plan.writers, "readers": plan.readers,
        "committed": said.committed.len(), "undone": said.undone.len(), "unknown": said.unknown.len(), "epoch": epochs,
        "missed": found.missed, "doubled": found.doubled, "never_said": found.never_said, "disordered": found.disordered,
        "gaps": found.gaps,
        "pages": latencies.len(), "page_p50_ms": round(percentile(&latencies, 0.5), 2),
        "page_p99_ms": round(percentile(&latencies, 0.99), 2), "seeded_caught": caught, "seeded": SEEDED,
    });
    ensure!(found == feed_history::Found::default(), "the feed is wrong: {result}");
    ensure!(caught == SEEDED, "the checker missed a seeded fault: {result}");
    ensure!(epochs == 1, "the epoch grows once, for the backup: {result}");
    Ok(result)
}

async fn serve(stage: &Stage) -> anyhow::Result<Service> {
    let service = stage.serve()?;
    service.ready().await?;
    Ok(service)
}

async fn write_for(plan: &Plan, stage: &Stage, said: &Arc<Mutex<Said>>, part: u64) -> anyhow::Result<()> {
    let writers = Writers::start(stage, plan.writers, said, part)?;
    tokio::time::sleep(plan.part).await;
    writers.end().await;
    Ok(())
}

/// The writers to one database.
struct Writers {
    app: App,
    ended: Arc<AtomicBool>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl Writers {
    fn start(stage: &Stage, count: u64, said: &Arc<Mutex<Said>>, part: u64) -> anyhow::Result<Self> {
        let (app, ended) = (stage.app()?, Arc::new(AtomicBool::new(false)));
        let merchant = MerchantId(*stage.merchants.first().context("there is a merchant")?);
        let tasks = (0..count)
            .map(|number| {
                let (app, ended, said, seed) = (app.clone(), Arc::clone(&ended), Arc::clone(said), part * 1_000 + number);
                tokio::spawn(async move {
                    let mut rng = StdRng::seed_from_u64(seed);
                    while !ended.load(Ordering::Relaxed) {
                        let mut written = Vec::new();
                        let outcome = write(&app, merchant, seed, &mut rng, &mut written).await;
                        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
                        match outcome {
                            Ok(Outcome::Committed) => said.committed.append(&mut written),
                            Ok(Outcome::Unknown) => said.unknown.append(&mut written),
                            // A transaction that was never sent for commit is rolled back with its connection.
                            Ok(Outcome::Undone) | Err(_) => said.undone.append(&mut written),
                        }
                    }
                })
            })
            .collect();
        Ok(Self { app, ended, tasks })
    }

    async fn end(self) {
        self.ended.store(true, Ordering::Relaxed);
        for task in self.tasks {
            let _ = task.await;
        }
        self.app.cell().close().await;
    }
}

/// The outcome of a transaction.
enum Outcome {
    Committed,
    Undone,
    Unknown,
}

/// Writes one to four messages in a transaction.
async fn write(app: &App, merchant: MerchantId, writer: u64, rng: &mut StdRng, written: &mut Vec<Uuid>) -> Result<Outcome, store::Failed> {
    let subject = format!("R-{writer}-{}", rng.random_range(0..1_000_000));
    let mut tx = app.begin(merchant).await?;
    for sequence in 1..=rng.random_range(1..=4_i64) {
        let (id, body) = (app.mint(), owing::body(&subject, sequence));
        written.push(id);
        let kind = Kind::Of(Interface::Rma);
        tx.owe(Message { id, kind, event: "rma.updated", subject: subject.clone(), sequence, body, due_at: app.now() });
        // Some at once, so that transactions write their messages in one order and commit in another.
        if rng.random_range(0..2) == 0 {
            tx.write_early().await?;
        }
        tokio::time::sleep(Duration::from_millis(rng.random_range(0..10))).await;
    }
    if rng.random_range(0..ONE_HELD_OF) == 0 {
        tokio::time::sleep(HELD).await;
    }
    if rng.random_range(0..ONE_UNDONE_OF) == 0 {
        tx.rollback().await?;
        return Ok(Outcome::Undone);
    }
    Ok(if tx.commit().await.is_ok() { Outcome::Committed } else { Outcome::Unknown })
}

/// A reader that follows the feed, even when it moves.
struct Reader {
    number: u64,
    later: Duration,
    token: String,
    address: watch::Receiver<SocketAddr>,
    done: Arc<AtomicBool>,
}

impl Reader {
    /// Reads to the end. Returns the events seen, and the time for each page in microseconds.
    async fn follow(self) -> anyhow::Result<(Seen, Vec<u32>)> {
        let mut rng = StdRng::seed_from_u64(self.number);
        tokio::time::sleep(self.later).await;
        let mut seen = Seen { whole: self.later.is_zero(), ..Seen::default() };
        let mut query = if seen.whole { "from=beginning".to_owned() } else { "from=now".to_owned() };
        let (mut latencies, mut nothing_more, mut connection, mut answered) = (Vec::new(), 0, None, Instant::now());
        while nothing_more < NOTHING_MORE {
            let done = self.done.load(Ordering::SeqCst);
            let asked = Instant::now();
            let Some(page) = self.page(&mut connection, &query, rng.random_range(1..=100)).await else {
                // The feed is unavailable or has moved: ask again, at its current address.
                connection = None;
                if answered.elapsed() > GONE_FOR {
                    bail!("the feed cannot be read for {} s", GONE_FOR.as_secs());
                }
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            answered = Instant::now();
            latencies.push(u32::try_from(asked.elapsed().as_micros()).unwrap_or(u32::MAX));
            query = format!("cursor={}", page.get("cursor").and_then(Value::as_str).context("a page has a cursor")?);
            let events = page.get("items").and_then(Value::as_array).context("a page has events")?;
            for event in events {
                seen.ids.push(event.get("id").and_then(Value::as_str).context("an event has an id")?.parse()?);
                seen.positions.push(event.get("position").and_then(Value::as_i64).context("an event has a position")?);
            }
            if events.is_empty() {
                nothing_more += u32::from(done);
                tokio::time::sleep(PAUSE).await;
            }
        }
        Ok((seen, latencies))
    }

    async fn page(&self, connection: &mut Option<Connection>, query: &str, limit: u32) -> Option<Value> {
        if connection.is_none() {
            let address = *self.address.borrow();
            *connection = Connection::open(address).await;
        }
        let connection = connection.as_mut()?;
        let head = format!("GET /v1/events?{query}&limit={limit} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\r\n", self.token);
        match connection.exchange(head.as_bytes()).await? {
            200 => serde_json::from_slice(connection.body()).ok(),
            _ => None,
        }
    }
}
