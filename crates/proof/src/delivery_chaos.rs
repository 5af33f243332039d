//! `chaos-delivery`: deliverers are killed while the merchant fails three calls in ten. Nothing may be lost, overtaken
//! within its subject, or altered; and the survivors share the work fairly.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::ensure;
use backhaul::app::App;
use backhaul::flow::configure_endpoint::Change;
use backhaul::outbound::signal;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use sandbox::merchant::{Answer, Merchant, Received};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::history::{self, Arrival, Owed, SEEDED, Stored};
use crate::owing::{self, BUCKETS, Target};
use crate::stage::{Service, Stage};

/// What is done to it.
pub(crate) struct Plan {
    /// How often a deliverer is killed.
    pub(crate) kills: usize,
    /// Subjects, each with [`MESSAGES`] messages.
    pub(crate) subjects: u64,
}

/// Messages of a subject.
const MESSAGES: i64 = 6;
/// Endpoints that the subjects are spread over.
const ENDPOINTS: usize = 50;
/// Flows that owe messages at a time.
const FLOWS: u64 = 8;
/// Of 100 calls, so many fail.
const FAILING: u8 = 30;
/// What decides which.
const SEED: u64 = 7;
/// How often a deliverer is killed.
const KILL_EVERY: Duration = Duration::from_secs(1);
/// How long everything owed may take after the last kill, and how long a new balance may.
const DRAINED_WITHIN: Duration = Duration::from_mins(4);
const BALANCED_WITHIN: Duration = Duration::from_secs(40);

/// What was owed and what arrived.
#[derive(Default)]
struct History {
    owed: Mutex<Vec<Owed>>,
    arrivals: Mutex<Vec<Arrival>>,
}

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting the stage: a temporary PostgreSQL, 100 merchants, {ENDPOINTS} endpoints …");
    let stage = Stage::set(program).await?;
    let app = stage.app()?;
    let history = Arc::new(History::default());
    let systems = systems(&history).await?;
    let mut targets = Vec::with_capacity(ENDPOINTS);
    for number in 0..ENDPOINTS {
        let change = Change { waits: Some(vec![1; 10]), ..Change::default() };
        targets.push(Target::set(&app, &stage, number, &systems, change).await?);
    }
    let forwarder = tokio::spawn(signal::forward(app.clone()));
    let pace = Pace::default();
    let flows: Vec<_> = (0..FLOWS)
        .map(|flow| tokio::spawn(owe(app.clone(), targets.clone(), Arc::clone(&history), flow, plan.subjects, pace.clone())))
        .collect();

    let mut deliverers = vec![stage.deliver()?, stage.deliver()?];
    kills(&stage, plan, &mut deliverers, &history, &pace).await?;
    let rebalanced = rebalance(&stage, &mut deliverers).await?;
    pace.ended.store(true, Ordering::SeqCst);
    for flow in flows {
        flow.await??;
    }
    println!("Everything is owed; waiting for the rest …");
    let mut connection = stage.connect().await?;
    let drained = owing::all_settled(&mut connection, DRAINED_WITHIN).await;
    for deliverer in &mut deliverers {
        deliverer.leave().await?;
    }
    forwarder.abort();
    let ids = |rows: Vec<Uuid>| rows.into_iter().collect::<HashSet<_>>();
    let stored = Stored {
        waiting: ids(sqlx::query_scalar("select message_id from delivery").fetch_all(&mut connection).await?),
        failed: ids(sqlx::query_scalar("select message_id from failure").fetch_all(&mut connection).await?),
    };
    app.store.close().await;
    let owed = history.owed.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let arrivals = history.arrivals.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let found = history::check(&owed, &arrivals, &stored);
    let caught = history::seed(&owed, &arrivals, &stored, &mut StdRng::seed_from_u64(SEED));
    let sent = arrivals.len();
    println!("{} messages, {sent} calls, of which {} repeated a success", owed.len(), found.duplicates);
    let result = json!({
        "chaos": "delivery",
        "kills": plan.kills, "owed": owed.len(), "sent": sent, "refused": arrivals.iter().filter(|arrival| !arrival.accepted).count(),
        "lost": found.lost.len(), "inversions": found.inverted.len(), "altered": found.altered.len(),
        "duplicates": found.duplicates, "in_failure_queue": stored.failed.len(), "waiting": stored.waiting.len(),
        "rebalanced": rebalanced, "seeded_caught": caught, "seeded": SEEDED,
    });
    ensure!(found.lost.is_empty(), "messages are lost: {result}");
    ensure!(found.inverted.is_empty(), "messages overtook others of their subject: {result}");
    ensure!(found.altered.is_empty(), "messages were altered: {result}");
    ensure!(caught == SEEDED, "the checker missed a seeded fault: {result}");
    ensure!(rebalanced, "the buckets are not spread fairly: {result}");
    drained?;
    Ok(result)
}

/// Systems that fail three calls in ten, in ways that depend on nothing but the message, the attempt and the seed.
async fn systems(history: &Arc<History>) -> anyhow::Result<Merchant> {
    let systems = Merchant::start().await?;
    systems.keep_bodies(false);
    let history = Arc::clone(history);
    systems.answer_by("/", move |received| {
        let [chance, manner, delay] = draw(received);
        let accepted = chance % 100 >= FAILING;
        if let Some(id) = received.message_id().and_then(|id| id.parse().ok()) {
            let arrival = Arrival { number: received.number(), id, digest: received.digest(), accepted };
            history.arrivals.lock().unwrap_or_else(PoisonError::into_inner).push(arrival);
        }
        let answer = match (accepted, manner % 4) {
            (true, _) => Answer::ok(),
            (false, 0) => Answer::reset(),
            (false, 1) => Answer::close(),
            (false, 2) => Answer::status(503),
            (false, _) => Answer::status(500),
        };
        // Some are slow, so that kills meet calls that are out.
        answer.delay(Duration::from_millis(u64::from(delay % 20)))
    });
    Ok(systems)
}

/// Three bytes that depend on the message, the attempt and the seed.
fn draw(received: &Received) -> [u8; 3] {
    let text = format!("{SEED} {} {}", received.message_id().unwrap_or_default(), received.attempt().unwrap_or_default());
    let digest: [u8; 32] = Sha256::digest(text).into();
    // The first two bytes as a number of two digits, nearly evenly.
    let chance = u16::from_be_bytes([digest[0], digest[1]]) % 100;
    [u8::try_from(chance).unwrap_or_default(), digest[2], digest[3]]
}

/// How far the flows are, and how fast they go.
#[derive(Clone, Default)]
struct Pace {
    owed: Arc<AtomicUsize>,
    /// The kills are over: whatever is left is owed at once.
    ended: Arc<AtomicBool>,
}

/// A flow goes through its subjects, again and again, each time a step further. The last step waits for the end of the
/// kills, so that the new balance comes about under load.
async fn owe(app: App, targets: Vec<Target>, history: Arc<History>, flow: u64, subjects: u64, pace: Pace) -> anyhow::Result<()> {
    for sequence in 1..=MESSAGES {
        for number in (0..subjects).filter(|number| number % FLOWS == flow) {
            let at = usize::try_from(number)? % targets.len();
            let Some(to) = targets.get(at) else { continue };
            let subject = format!("R-{number}");
            let (id, _) = owing::owe(&app, to, &subject, sequence).await?;
            let digest = Sha256::digest(owing::body(&subject, sequence)).into();
            history.owed.lock().unwrap_or_else(PoisonError::into_inner).push(Owed { id, subject: number, sequence, digest });
            pace.owed.fetch_add(1, Ordering::SeqCst);
            if !pace.ended.load(Ordering::SeqCst) {
                tokio::time::sleep(Duration::from_millis(if sequence == MESSAGES { 40 } else { 4 })).await;
            }
        }
    }
    Ok(())
}

/// Kills one of two deliverers again and again, and starts another in its place.
async fn kills(stage: &Stage, plan: &Plan, deliverers: &mut [Service], history: &History, pace: &Pace) -> anyhow::Result<()> {
    let mut rng = StdRng::seed_from_u64(SEED);
    for kill in 1..=plan.kills {
        tokio::time::sleep(KILL_EVERY).await;
        let victim = rng.random_range(0..deliverers.len());
        if let Some(deliverer) = deliverers.get_mut(victim) {
            deliverer.kill();
            *deliverer = stage.deliver()?;
        }
        if kill % 5 == 0 || kill == plan.kills {
            let arrived = history.arrivals.lock().unwrap_or_else(PoisonError::into_inner).len();
            println!("{kill} kills, {} owed, {arrived} calls arrived", pace.owed.load(Ordering::SeqCst));
        }
    }
    Ok(())
}

/// A third deliverer joins, and then one stops: whether each has its fair share after both.
async fn rebalance(stage: &Stage, deliverers: &mut Vec<Service>) -> anyhow::Result<bool> {
    println!("A third deliverer joins …");
    deliverers.push(stage.deliver()?);
    let joined = balanced(stage, deliverers.len()).await?;
    println!("One stops …");
    let mut leaver = deliverers.swap_remove(0);
    leaver.leave().await?;
    let left = balanced(stage, deliverers.len()).await?;
    Ok(joined && left)
}

/// Waits until the buckets are spread fairly over `count` deliverers.
async fn balanced(stage: &Stage, count: usize) -> anyhow::Result<bool> {
    let mut connection = stage.connect().await?;
    let started = Instant::now();
    let share = BUCKETS.unsigned_abs().div_ceil(count as u64);
    loop {
        let shares: Vec<i64> = sqlx::query_scalar(
            "select count(*) from delivery_bucket where owner is not null and leased_until > now() group by owner order by 1",
        )
        .fetch_all(&mut connection)
        .await?;
        let fair = shares.len() == count && shares.iter().sum::<i64>() == BUCKETS && shares.iter().all(|held| held.unsigned_abs() <= share);
        if fair || started.elapsed() > BALANCED_WITHIN {
            println!("buckets by deliverer: {shares:?} after {:.1} s", started.elapsed().as_secs_f64());
            return Ok(fair);
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
