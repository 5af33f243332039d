//! `outage-delivery`: PostgreSQL is down for a while, again and again, under a steady load. Deliveries by both deliverers must
//! resume soon after it is back, and no message may be lost, altered or delivered out of order within its subject.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use backhaul::app::App;
use backhaul::flow::messages::configure_endpoint::EndpointChange;
use sandbox::merchant::Merchant;
use sandbox::postgres::Halt;
use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, PgConnection};
use uuid::Uuid;

use crate::messages::leasing::balanced;
use crate::messages::owing::{self, Target};
use crate::messages::witness::{FAILING, Witness};
use crate::meter::round;
use crate::stage::Stage;

/// The outages.
pub(crate) struct Plan {
    pub(crate) outages: usize,
    pub(crate) down: Duration,
}

/// Endpoints, each with its own flow that owes a message at every interval: 50 per second in total.
const ENDPOINTS: usize = 20;
const OWE_EVERY: Duration = Duration::from_millis(400);
/// Messages per subject.
const MESSAGES: i64 = 5;
/// The time of undisturbed load before each outage.
const CALM: Duration = Duration::from_secs(4);
/// The time within which the first message must be accepted after PostgreSQL accepts connections again.
const RECOVERED_WITHIN: Duration = Duration::from_secs(10);
/// The timeout for a message at every endpoint, and the interval of the checks.
const PATIENCE: Duration = Duration::from_mins(1);
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// A flow's pause before it retries its transaction.
const TRY_AGAIN: Duration = Duration::from_millis(200);
/// The timeout for delivering the rest in the end.
const DRAINED_WITHIN: Duration = Duration::from_mins(2);

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL, 100 merchants, {ENDPOINTS} endpoints …");
    let stage = Stage::set(program).await?;
    let app = stage.app()?;
    let witness = Arc::new(Witness::default());
    let systems = Merchant::start().await?;
    witness.watch(&systems, "/", FAILING);
    let mut deliverers = vec![stage.deliver()?, stage.deliver()?];
    ensure!(balanced(&stage, deliverers.len()).await?, "the buckets are not spread fairly");

    let forwarder = tokio::spawn(backhaul::delivery::forward_signals(app.clone()));
    let ended = Arc::new(AtomicBool::new(false));
    let mut flows = Vec::with_capacity(ENDPOINTS);
    for number in 0..ENDPOINTS {
        let change = EndpointChange { waits: Some(vec![1, 1, 2, 3, 3]), ..EndpointChange::default() };
        let to = Target::set(&app, &stage, number, &systems, change).await?;
        let flow = Flow { app: app.clone(), to, database: stage.database()?, witness: Arc::clone(&witness) };
        flows.push(tokio::spawn(flow.run(number as u64, Arc::clone(&ended))));
    }
    let mut slowest = Recovery::default();
    for outage in 1..=plan.outages {
        tokio::time::sleep(CALM).await;
        let manner = if outage % 2 == 0 { Halt::Immediate } else { Halt::Fast };
        stage.cluster()?.halt(manner)?;
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

/// The times from the end of an outage to an accepted message, in seconds.
#[derive(Clone, Copy, Default)]
struct Recovery {
    /// At the first endpoint to receive one.
    first: Duration,
    /// At the last endpoint to receive one. It shows that neither deliverer is stuck.
    everywhere: Duration,
}

/// Restarts PostgreSQL, and measures from the first connection it accepts.
async fn back(stage: &Stage, witness: &Witness) -> anyhow::Result<Recovery> {
    let (calls, database) = (witness.calls(), stage.database()?);
    let accepting = tokio::spawn(async move {
        while database.connect().await.is_err() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Instant::now()
    });
    stage.cluster()?.run()?;
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

/// A flow that owes messages to one endpoint, even during outages.
struct Flow {
    app: App,
    to: Target,
    database: PgConnectOptions,
    witness: Arc<Witness>,
}

impl Flow {
    /// Owes messages until the run is over. Returns the number of commits whose reply was lost.
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

    /// Owes one message. Returns whether the commit succeeded but its reply was lost.
    async fn owe(&self, number: u64, sequence: i64) -> bool {
        let (id, subject) = (self.app.mint(), format!("R-{number}"));
        let unknown = loop {
            if owing::write(&self.app, &self.to, id, &subject, sequence).await.is_ok() {
                break false;
            }
            // The commit may have succeeded anyway; then nobody was notified of it.
            if self.is_committed(id).await {
                break true;
            }
        };
        self.witness.owe(id, number, sequence, &owing::body(&subject, sequence));
        unknown
    }

    /// Repeats a query until the database answers.
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
