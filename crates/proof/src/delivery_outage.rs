//! `outage-delivery`: PostgreSQL goes away for a while, again and again, under a steady load. Deliveries must go on soon
//! after it is back, with both deliverers, and nothing may be lost, overtaken within its subject, or altered.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use backhaul::app::App;
use backhaul::flow::configure_endpoint::Change;
use sandbox::merchant::Merchant;
use sandbox::postgres::Halt;
use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, PgConnection};
use uuid::Uuid;

use crate::leasing::balanced;
use crate::meter::round;
use crate::owing::{self, Target};
use crate::stage::Stage;
use crate::witness::{FAILING, Witness};

/// What is done to it.
pub(crate) struct Plan {
    /// How often PostgreSQL goes away.
    pub(crate) outages: usize,
    /// For how long.
    pub(crate) down: Duration,
}

/// Endpoints, each with a flow of its own that owes a message at every interval: 50 a second in all.
const ENDPOINTS: usize = 20;
const OWE_EVERY: Duration = Duration::from_millis(400);
/// Messages of a subject.
const MESSAGES: i64 = 5;
/// How long there is nothing but load before each outage.
const CALM: Duration = Duration::from_secs(4);
/// How soon the first message must be accepted after PostgreSQL takes connections again.
const RECOVERED_WITHIN: Duration = Duration::from_secs(10);
/// How long one is waited for at every endpoint, and how often it is looked.
const PATIENCE: Duration = Duration::from_mins(1);
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// How long a flow waits before it tries its transaction again.
const TRY_AGAIN: Duration = Duration::from_millis(200);
/// How long the rest may take in the end.
const DRAINED_WITHIN: Duration = Duration::from_mins(2);

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting the stage: a temporary PostgreSQL, 100 merchants, {ENDPOINTS} endpoints …");
    let stage = Stage::set(program).await?;
    let app = stage.app()?;
    let witness = Arc::new(Witness::default());
    let systems = Merchant::start().await?;
    witness.watch(&systems, "/", FAILING);
    let mut deliverers = vec![stage.deliver()?, stage.deliver()?];
    ensure!(balanced(&stage, deliverers.len()).await?, "the buckets are not spread fairly");

    let forwarder = tokio::spawn(backhaul::outbound::forward_signals(app.clone()));
    let ended = Arc::new(AtomicBool::new(false));
    let mut flows = Vec::with_capacity(ENDPOINTS);
    for number in 0..ENDPOINTS {
        let change = Change { waits: Some(vec![1; 10]), ..Change::default() };
        let to = Target::set(&app, &stage, number, &systems, change).await?;
        let flow = Flow { app: app.clone(), to, database: stage.database()?, witness: Arc::clone(&witness) };
        flows.push(tokio::spawn(flow.run(number as u64, Arc::clone(&ended))));
    }
    let mut slowest = Recovery::default();
    for outage in 1..=plan.outages {
        tokio::time::sleep(CALM).await;
        let manner = if outage % 2 == 0 { Halt::Immediate } else { Halt::Fast };
        stage.cluster.halt(manner)?;
        tokio::time::sleep(plan.down).await;
        let Recovery { first, everywhere } = back(&stage, &witness).await?;
        slowest = Recovery { first: slowest.first.max(first), everywhere: slowest.everywhere.max(everywhere) };
        let (first, everywhere) = (first.as_secs_f64(), everywhere.as_secs_f64());
        println!("outage {outage} ({manner:?}): deliveries after {first:.2} s, everywhere after {everywhere:.2} s");
    }
    let shared = balanced(&stage, deliverers.len()).await?;
    ended.store(true, Ordering::SeqCst);
    let mut unknown = 0;
    for flow in flows {
        unknown += flow.await?;
    }
    println!("Everything is owed; waiting for the rest …");
    let mut connection = stage.connect().await?;
    let drained = owing::all_settled(&mut connection, DRAINED_WITHIN).await;
    for deliverer in &mut deliverers {
        deliverer.leave().await?;
    }
    forwarder.abort();
    app.cell().close().await;
    let report = witness.check(&mut connection).await?;
    let own = json!({
        "outages": plan.outages, "seconds": plan.down.as_secs(), "slowest_recovery_s": round(slowest.first.as_secs_f64(), 2),
        "slowest_everywhere_s": round(slowest.everywhere.as_secs_f64(), 2), "unknown_commits": unknown, "shared": shared,
    });
    let result = report.result("outage-delivery", own);
    report.ensure(&result)?;
    ensure!(slowest.first <= RECOVERED_WITHIN, "deliveries went on too late: {result}");
    ensure!(shared, "the buckets are not spread fairly: {result}");
    drained?;
    Ok(result)
}

/// How long after an outage a message was accepted.
#[derive(Clone, Copy, Default)]
struct Recovery {
    /// The first one.
    first: Duration,
    /// The first one at the endpoint that had to wait longest: neither deliverer stands still.
    everywhere: Duration,
}

/// Starts PostgreSQL again, and measures from the first connection that it takes.
async fn back(stage: &Stage, witness: &Witness) -> anyhow::Result<Recovery> {
    let (calls, database) = (witness.calls(), stage.database()?);
    let accepting = tokio::spawn(async move {
        while database.connect().await.is_err() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Instant::now()
    });
    stage.cluster.run()?;
    let returned = accepting.await?;
    let mut first = None;
    loop {
        let endpoints: HashSet<u64> = witness.accepted_after(calls).into_iter().map(|subject| subject % ENDPOINTS as u64).collect();
        if !endpoints.is_empty() {
            first.get_or_insert_with(|| returned.elapsed());
        }
        if let Some(first) = first.filter(|_| endpoints.len() == ENDPOINTS) {
            return Ok(Recovery { first, everywhere: returned.elapsed() });
        }
        if returned.elapsed() > PATIENCE {
            bail!("{} endpoints received nothing within {} s", ENDPOINTS - endpoints.len(), PATIENCE.as_secs());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// A flow that owes messages to one endpoint, whatever the database does.
struct Flow {
    app: App,
    to: Target,
    database: PgConnectOptions,
    witness: Arc<Witness>,
}

impl Flow {
    /// Owes messages until it is over. Answers how many commits were found whose answer was lost.
    async fn run(self, number: u64, ended: Arc<AtomicBool>) -> usize {
        let mut ticks = tokio::time::interval(OWE_EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut unknown = 0;
        for subject in (number..).step_by(ENDPOINTS) {
            for sequence in 1..=MESSAGES {
                if ended.load(Ordering::SeqCst) {
                    return unknown;
                }
                ticks.tick().await;
                unknown += usize::from(self.owe(subject, sequence).await);
            }
        }
        unknown
    }

    /// Owes one message. Answers whether the answer to its commit was lost.
    async fn owe(&self, number: u64, sequence: i64) -> bool {
        let (id, subject) = (self.app.mint(), format!("R-{number}"));
        let unknown = loop {
            if owing::write(&self.app, &self.to, id, &subject, sequence).await.is_ok() {
                break false;
            }
            // It may have been committed all the same; nobody is told of it then.
            if self.is_committed(id).await {
                break true;
            }
        };
        self.witness.owe(id, number, sequence, &owing::body(&subject, sequence));
        unknown
    }

    /// Asks until the database answers.
    async fn is_committed(&self, id: Uuid) -> bool {
        loop {
            tokio::time::sleep(TRY_AGAIN).await;
            let asked = async {
                let mut connection: PgConnection = self.database.connect().await?;
                sqlx::query_scalar("select exists (select from message where merchant_id = $1 and message_id = $2)")
                    .bind(self.to.merchant.0)
                    .bind(id)
                    .fetch_one(&mut connection)
                    .await
            };
            if let Ok(committed) = asked.await {
                return committed;
            }
        }
    }
}
