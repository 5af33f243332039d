//! `chaos-delivery`: deliverers are killed while the merchant fails three calls in ten. No message may be lost, altered or
//! delivered out of order within its subject, and the surviving deliverers must share the work fairly.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::ensure;
use backhaul::app::App;
use backhaul::flow::messages::configure_endpoint::EndpointChange;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use sandbox::merchant::Merchant;
use serde_json::{Value, json};

use crate::messages::leasing::balanced;
use crate::messages::owing::{self, Target};
use crate::messages::rollups;
use crate::messages::witness::{FAILING, SEED, Witness};
use crate::stage::{Service, Stage};

/// The faults to inject, and the load.
pub(crate) struct Plan {
    pub(crate) kills: usize,
    /// Subjects, each with [`MESSAGES`] messages.
    pub(crate) subjects: u64,
}

/// Messages per subject.
const MESSAGES: i64 = 6;
/// Endpoints; the subjects are spread over them.
const ENDPOINTS: usize = 50;
/// Concurrent flows that owe messages.
const FLOWS: u64 = 8;
/// The time between kills.
const KILL_EVERY: Duration = Duration::from_secs(1);
/// The timeout for delivering everything after the last kill.
const DRAINED_WITHIN: Duration = Duration::from_mins(4);

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL, 100 merchants, {ENDPOINTS} endpoints …");
    let stage = Stage::set(program).await?;
    let app = stage.app()?;
    let witness = Arc::new(Witness::default());
    let systems = Merchant::start().await?;
    witness.watch(&systems, "/", FAILING);
    let mut targets = Vec::with_capacity(ENDPOINTS);
    for number in 0..ENDPOINTS {
        let change = EndpointChange { waits: Some(vec![1, 1, 2, 3, 3]), ..EndpointChange::default() };
        targets.push(Target::set(&app, &stage, number, &systems, change).await?);
    }
    let forwarder = tokio::spawn(backhaul::delivery::forward_signals(app.clone()));
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
    println!("All messages are written; waiting for the rest to be delivered …");
    let mut connection = stage.connect().await?;
    let drained = owing::all_settled(&mut connection, DRAINED_WITHIN).await;
    for deliverer in &mut deliverers {
        deliverer.leave().await?;
    }
    forwarder.abort();
    app.cell().close().await;
    let report = witness.check(&mut connection).await?;
    println!(
        "{} messages, {} calls, {} of them repeats of a successful call",
        report.owed.len(),
        report.arrivals.len(),
        report.found.duplicates
    );
    let app = stage.app()?;
    let reports = rollups::check_reports(&mut connection, &app).await;
    app.cell().close().await;
    let own = json!({"kills": plan.kills, "rebalanced": rebalanced, "reports": reports.as_ref().ok()});
    let result = report.result("delivery", own);
    report.ensure(&result)?;
    ensure!(rebalanced, "the buckets are not shared fairly: {result}");
    drained?;
    rollups::check(&mut connection).await?;
    reports?;
    Ok(result)
}

/// The flows' progress, and their speed.
#[derive(Clone, Default)]
struct Pace {
    owed: Arc<AtomicUsize>,
    /// Set once the kills are over; then the rest is owed at once.
    ended: Arc<AtomicBool>,
}

/// A flow: goes through its subjects again and again, one step further each time. The last step waits for the end of the
/// kills, so that the rebalancing happens under load.
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

/// Kills one of two deliverers again and again, and replaces it.
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
            println!("{kill} kills, {} messages owed, {} calls received", pace.owed.load(Ordering::SeqCst), witness.calls());
        }
    }
    Ok(())
}

/// Adds a third deliverer, then stops one. Returns whether the buckets were shared fairly after each.
async fn rebalance(stage: &Stage, deliverers: &mut Vec<Service>) -> anyhow::Result<bool> {
    println!("Adding a third deliverer …");
    deliverers.push(stage.deliver()?);
    let joined = balanced(stage, deliverers.len()).await?;
    println!("Stopping one deliverer …");
    let mut leaver = deliverers.swap_remove(0);
    leaver.leave().await?;
    let left = balanced(stage, deliverers.len()).await?;
    Ok(joined && left)
}
