//! `chaos-intake`: kills, disconnects and overload during order intake. Every acknowledged order must be stored afterwards.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::ensure;
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::meter::{self, round};
use crate::orders::load::{self, Connection, Load};
use crate::orders::order::{MERCHANTS, Request};
use crate::stage::Stage;

/// The faults to inject.
pub(crate) struct Plan {
    pub(crate) kills: usize,
    pub(crate) database_kills: usize,
    pub(crate) disconnects: usize,
    pub(crate) overload: Duration,
}

/// Writers active during the kills. Each has its own order numbers, so it knows what must be stored.
const WRITERS: u64 = 16;
/// The orders of each writer, which it sends again and again.
const OWN: u64 = 500;
/// The time within which the service must be ready again.
const READY_WITHIN: Duration = Duration::from_secs(10);

/// The latest acknowledged state of each order.
type Acknowledged = Arc<Mutex<HashMap<u64, u64>>>;

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL, 100 merchants …");
    let stage = Arc::new(Stage::set(program).await?);
    let acknowledged = Acknowledged::default();
    let acked = Arc::new(AtomicU64::new(0));

    let slowest = kills(&stage, plan, &acknowledged, &acked).await?;
    let lost = missing(&stage, &acknowledged).await?;
    println!("{} requests acknowledged, {} orders, lost: {}", acked.load(Ordering::SeqCst), states(&acknowledged).len(), lost.len());
    let seeded_caught = seed_losses(&stage, &acknowledged).await?;

    let stuck = disconnects(&stage, plan.disconnects).await?;
    let (goodput, flat) = overload(&stage, plan.overload).await?;
    let result = json!({
        "chaos": "intake",
        "kills": plan.kills, "database_kills": plan.database_kills, "acked": acked.load(Ordering::SeqCst), "lost": lost.len(),
        "slowest_ready_ms": slowest.as_millis(), "seeded_caught": seeded_caught, "seeded": SEEDED,
        "disconnects": plan.disconnects, "stuck_in_transaction": stuck,
        "overload_goodput": round(goodput, 3), "overload_memory_growth_mb": round(flat, 1),
    });
    ensure!(lost.is_empty(), "acknowledged orders were lost: {result}");
    ensure!(seeded_caught == SEEDED, "the checker missed a seeded loss: {result}");
    ensure!(stuck == 0, "connections are stuck inside a transaction: {result}");
    ensure!(slowest <= READY_WITHIN, "the service was not ready in time: {result}");
    Ok(result)
}

fn states(acknowledged: &Acknowledged) -> HashMap<u64, u64> {
    acknowledged.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Kills the service and the database under load. Returns the longest time until the service was ready again.
async fn kills(stage: &Arc<Stage>, plan: &Plan, acknowledged: &Acknowledged, acked: &Arc<AtomicU64>) -> anyhow::Result<Duration> {
    let mut service = stage.serve()?;
    service.ready().await?;
    let (address, admin) = (service.address, service.admin);
    let ended = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| tokio::spawn(write(stage.clone(), address, writer, acknowledged.clone(), acked.clone(), ended.clone())))
        .collect();
    let mut rng = StdRng::seed_from_u64(5);
    let mut slowest = Duration::ZERO;
    let database_every = (plan.kills / plan.database_kills.max(1)).max(1);
    for kill in 1..=plan.kills {
        tokio::time::sleep(Duration::from_millis(rng.random_range(100..600))).await;
        service.kill();
        if plan.database_kills > 0 && kill % database_every == 0 {
            kill_database(stage).await?;
            stage.cluster()?.run()?;
        }
        service = stage.serve_on(address, admin)?;
        slowest = slowest.max(service.ready().await?);
        if kill % 10 == 0 {
            println!("{kill} kills, {} acknowledged, slowest ready {} ms", acked.load(Ordering::SeqCst), slowest.as_millis());
        }
    }
    ended.store(true, Ordering::SeqCst);
    for writer in writers {
        writer.await?;
    }
    Ok(slowest)
}

/// Kills the server and all its processes with SIGKILL, like a crash of the machine.
async fn kill_database(stage: &Stage) -> anyhow::Result<()> {
    let Some(server) = stage.cluster()?.pid() else { return Ok(()) };
    let mut doomed = vec![server];
    doomed.extend(meter::children(server));
    Command::new("kill").arg("-9").args(doomed.iter().map(ToString::to_string)).stderr(Stdio::null()).status()?;
    while doomed.iter().any(|pid| meter::is_alive(*pid)) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}

/// A writer: sends its orders again and again, each time in a later state.
async fn write(
    stage: Arc<Stage>,
    address: SocketAddr,
    writer: u64,
    acknowledged: Acknowledged,
    acked: Arc<AtomicU64>,
    ended: Arc<AtomicBool>,
) {
    let mut request = Request::new(1, stage.tokens.first().map_or(0, String::len));
    let mut stream: Option<Connection> = None;
    let mut turn = 0;
    while !ended.load(Ordering::SeqCst) {
        turn += 1;
        let number = writer * OWN * MERCHANTS + turn % OWN;
        let connected = match stream.take() {
            Some(stream) => Some(stream),
            None => Connection::open(address).await,
        };
        let Some(connected) = connected else {
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let connection = stream.insert(connected);
        match connection.exchange(request.fill(stage.token(number), std::iter::once(number), turn)).await {
            Some(200) => {
                acknowledged.lock().unwrap_or_else(PoisonError::into_inner).insert(number, turn);
                acked.fetch_add(1, Ordering::SeqCst);
            }
            Some(_) => {}
            None => stream = None,
        }
    }
}

/// The checker: finds acknowledged orders that are missing, or stored in an earlier state than the acknowledged one.
async fn missing(stage: &Stage, acknowledged: &Acknowledged) -> anyhow::Result<Vec<u64>> {
    let mut connection = stage.connect().await?;
    let rows: Vec<(String, String)> = sqlx::query_as("select identifier, snapshot from customer_order").fetch_all(&mut connection).await?;
    let mut stored: HashMap<u64, u64> = HashMap::new();
    for (identifier, snapshot) in rows {
        let snapshot: Value = serde_json::from_str(&snapshot)?;
        let turn = snapshot.get("raw_status").and_then(Value::as_str).and_then(|turn| turn.parse().ok()).unwrap_or_default();
        stored.insert(identifier.parse()?, turn);
    }
    let lost = states(acknowledged).into_iter().filter(|(number, state)| stored.get(number).is_none_or(|stored| stored < state));
    Ok(lost.map(|(number, _)| number).collect())
}

/// The number of seeded losses.
const SEEDED: usize = 20;

/// Deletes some acknowledged orders and sets others back, to test that the checker finds each.
async fn seed_losses(stage: &Stage, acknowledged: &Acknowledged) -> anyhow::Result<usize> {
    let mut numbers: Vec<u64> = states(acknowledged).into_keys().collect();
    numbers.sort_unstable();
    numbers.shuffle(&mut StdRng::seed_from_u64(6));
    numbers.truncate(SEEDED);
    let mut connection = stage.connect().await?;
    for (at, number) in numbers.iter().enumerate() {
        let identifier = format!("{number:012}");
        if at % 2 == 0 {
            sqlx::query("delete from customer_order where identifier = $1").bind(&identifier).execute(&mut connection).await?;
        } else {
            let earlier = crate::orders::order::text(*number, 0);
            sqlx::query("update customer_order set snapshot = $2 where identifier = $1")
                .bind(&identifier)
                .bind(earlier)
                .execute(&mut connection)
                .await?;
        }
    }
    let found = missing(stage, acknowledged).await?;
    Ok(numbers.iter().filter(|number| found.contains(number)).count())
}

/// Runs clients that send a request and disconnect after 0 to 20 ms. Returns the number of connections stuck inside a
/// transaction.
async fn disconnects(stage: &Arc<Stage>, count: usize) -> anyhow::Result<i64> {
    let service = stage.serve()?;
    service.ready().await?;
    println!("Disconnecting {count} clients …");
    let mut tasks = Vec::new();
    for part in 0..16_u64 {
        let (stage, address, share) = (stage.clone(), service.address, count / 16);
        tasks.push(tokio::spawn(async move {
            let mut rng = StdRng::seed_from_u64(part);
            let mut request = Request::new(1, stage.tokens.first().map_or(0, String::len));
            for at in 0..share as u64 {
                let number = (1_000_000 + part * 1_000_000 + at) * MERCHANTS;
                let Ok(mut stream) = TcpStream::connect(address).await else { continue };
                let _ = stream.write_all(request.fill(stage.token(number), std::iter::once(number), 1)).await;
                tokio::time::sleep(Duration::from_micros(rng.random_range(0..20_000))).await;
            }
        }));
    }
    for task in tasks {
        task.await?;
    }
    let mut connection = stage.connect().await?;
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let stuck: i64 = sqlx::query_scalar("select count(*) from pg_stat_activity where state like 'idle in transaction%'")
            .fetch_one(&mut connection)
            .await?;
        if stuck == 0 || Instant::now() > deadline {
            return Ok(stuck);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Applies three times the load the service can handle. Measures its goodput against the peak, and its memory growth.
async fn overload(stage: &Arc<Stage>, duration: Duration) -> anyhow::Result<(f64, f64)> {
    stage.clear().await?;
    let service = stage.serve()?;
    service.ready().await?;
    let tokens = Arc::new(stage.tokens.clone());
    let normal = Load { connections: 64, orders: 1, duration: duration / 4, numbers: crate::orders::intake::FRESH };
    println!("Measuring the peak …");
    let peak = load::drive(service.address, &tokens, &normal, 1).await;
    println!("Applying three times the load …");
    let three_times = Load { connections: 64 * 3, duration: duration / 2, ..normal };
    let early = load::drive(service.address, &tokens, &three_times, 2).await;
    let before = meter::memory(service.pid(), "VmRSS");
    let late = load::drive(service.address, &tokens, &three_times, 3).await;
    let after = meter::memory(service.pid(), "VmRSS");
    println!(
        "peak {:.0}/s, overloaded {:.0}/s and {:.0}/s, refused {}",
        peak.rate(),
        early.rate(),
        late.rate(),
        early.refused + late.refused
    );
    Ok((early.rate().min(late.rate()) / peak.rate(), after - before))
}
