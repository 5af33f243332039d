//! `chaos-delivery`: deliverers are killed while the merchant fails three calls in ten. Nothing may be lost, overtaken
//! within its subject, or altered; and the survivors share the work fairly.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::ensure;
use backhaul::app::App;
use backhaul::flow::configure_endpoint::Change;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use sandbox::merchant::Merchant;
use serde_json::{Value, json};

use crate::leasing::balanced;
use crate::owing::{self, Target};
use crate::rollups;
use crate::stage::{Service, Stage};
use crate::witness::{FAILING, SEED, Witness};

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
/// How often a deliverer is killed.
const KILL_EVERY: Duration = Duration::from_secs(1);
/// How long everything owed may take after the last kill.
const DRAINED_WITHIN: Duration = Duration::from_mins(4);

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting the stage: a temporary PostgreSQL, 100 merchants, {ENDPOINTS} endpoints …");
    let stage = Stage::set(program).await?;
    let app = stage.app()?;
    let witness = Arc::new(Witness::default());
    let systems = Merchant::start().await?;
    witness.watch(&systems, "/", FAILING);
    let mut targets = Vec::with_capacity(ENDPOINTS);
    for number in 0..ENDPOINTS {
        let change = Change { waits: Some(vec![1; 10]), ..Change::default() };
        targets.push(Target::set(&app, &stage, number, &systems, change).await?);
    }
    let forwarder = tokio::spawn(backhaul::outbound::forward_signals(app.clone()));
    let pace = Pace::default();
    let flows: Vec<_> = (0..FLOWS)
        .map(|flow| tokio::spawn(owe(app.clone(), targets.clone(), Arc::clone(&witness), flow, plan.subjects, pace.clone())))
        .collect();

    let mut deliverers = vec![stage.deliver()?, stage.deliver()?];
    kills(&stage, plan, &mut deliverers, &witness, &pace).await?;
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
    app.cell().close().await;
    let report = witness.check(&mut connection).await?;
    println!("{} messages, {} calls, of which {} repeated a success", report.owed.len(), report.arrivals.len(), report.found.duplicates);
    let result = report.result("delivery", json!({"kills": plan.kills, "rebalanced": rebalanced}));
    report.ensure(&result)?;
    ensure!(rebalanced, "the buckets are not spread fairly: {result}");
    drained?;
    rollups::check(&mut connection).await?;
    Ok(result)
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
async fn owe(app: App, targets: Vec<Target>, witness: Arc<Witness>, flow: u64, subjects: u64, pace: Pace) -> anyhow::Result<()> {
    for sequence in 1..=MESSAGES {
        for number in (0..subjects).filter(|number| number % FLOWS == flow) {
            let at = usize::try_from(number)? % targets.len();
            let Some(to) = targets.get(at) else { continue };
            let subject = format!("R-{number}");
            let (id, _) = owing::owe(&app, to, &subject, sequence).await?;
            witness.owe(id, number, sequence, &owing::body(&subject, sequence));
            pace.owed.fetch_add(1, Ordering::SeqCst);
            if !pace.ended.load(Ordering::SeqCst) {
                tokio::time::sleep(Duration::from_millis(if sequence == MESSAGES { 40 } else { 4 })).await;
            }
        }
    }
    Ok(())
}

/// Kills one of two deliverers again and again, and starts another in its place.
async fn kills(stage: &Stage, plan: &Plan, deliverers: &mut [Service], witness: &Witness, pace: &Pace) -> anyhow::Result<()> {
    let mut rng = StdRng::seed_from_u64(SEED);
    for kill in 1..=plan.kills {
        tokio::time::sleep(KILL_EVERY).await;
        let victim = rng.random_range(0..deliverers.len());
        if let Some(deliverer) = deliverers.get_mut(victim) {
            deliverer.kill();
            *deliverer = stage.deliver()?;
        }
        if kill % 5 == 0 || kill == plan.kills {
            println!("{kill} kills, {} owed, {} calls arrived", pace.owed.load(Ordering::SeqCst), witness.calls());
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
