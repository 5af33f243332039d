//! `chaos-returns`: the service is killed every few seconds while returns live their whole lives, and then PostgreSQL is.
//! Every return must be closed by its refund, and nothing of it lost, overtaken, altered or done twice.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::ensure;
use backhaul::clock::Clock;
use backhaul::flow::configure_endpoint::Change;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use sandbox::merchant::Merchant;
use sandbox::postgres::Halt;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::SHOPS;
use super::faults::{self, SEEDED};
use super::history::{History, Wrong, check};
use super::life::{Client, Life, Run};
use super::record::Record;
use super::stored::Stored;
use crate::owing::{self, Target, path};
use crate::rollups;
use crate::stage::{Service, Stage};
use crate::witness::SEED;

/// What is done to it.
pub(crate) struct Plan {
    /// How many returns live while the service is killed; a fifth as many while PostgreSQL is.
    pub(crate) returns: u64,
    /// How often the service is killed.
    pub(crate) kills: u32,
    /// How often PostgreSQL is.
    pub(crate) database_kills: u32,
    /// How long something lives.
    pub(crate) every: Duration,
}

/// How long the lives may go on after the last kill: leases of the dead must run out before anything is delivered.
const CLOSED_WITHIN: Duration = Duration::from_mins(2);
/// How long the rest may take in the end.
const DRAINED_WITHIN: Duration = Duration::from_mins(1);

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting the stage: a temporary PostgreSQL, 100 merchants, {SHOPS} of them with endpoints …");
    let scene = Scene::set(program).await?;
    let mut service = scene.stage.serve()?;
    service.ready().await?;
    let started = Instant::now();
    let mut clients = Vec::new();

    println!("{} returns, and {} kills of the service …", plan.returns, plan.kills);
    let lives = scene.live(0..plan.returns, &service, plan.every * plan.kills, &mut clients);
    let slowest = scene.kill_service(plan, &mut service).await?;
    settle(lives).await?;

    let more = plan.returns / 5;
    println!("{more} more, and {} kills of PostgreSQL …", plan.database_kills);
    let lives = scene.live(plan.returns..plan.returns + more, &service, plan.every * plan.database_kills, &mut clients);
    scene.kill_database(plan).await?;
    settle(lives).await?;

    let mut connection = scene.stage.connect().await?;
    let drained = owing::all_settled(&mut connection, DRAINED_WITHIN).await;
    service.leave().await?;
    let seconds = started.elapsed().as_secs();
    let clients = clients.iter().map(|client| client.lock().unwrap_or_else(PoisonError::into_inner).clone()).collect();
    let stored = Stored::read(&mut connection, &scene.stage.merchants).await?;
    let history = History { clients, receipts: scene.record.receipts(), stored };
    let findings = check(&history);
    let caught = faults::seed(&history, &mut StdRng::seed_from_u64(SEED));
    let count = |wrong| findings.count(wrong);
    let result = json!({
        "chaos": "returns", "kills": plan.kills, "database_kills": plan.database_kills, "seconds": seconds,
        "slowest_ready_ms": slowest.as_millis(), "returns": history.clients.len(), "closed": findings.closed,
        "messages": history.stored.messages.len(), "received": history.receipts.len(), "duplicates": findings.duplicates,
        "lost": count(Wrong::Lost), "inversions": count(Wrong::Inverted), "altered": count(Wrong::Altered), "gaps": count(Wrong::Gapped),
        "doubled": count(Wrong::Doubled), "double_refunds": count(Wrong::RefundedTwice),
        "closed_without_refund": count(Wrong::Unrefunded), "strangers": count(Wrong::Strange),
        "seeded_caught": caught, "seeded": SEEDED,
    });
    ensure!(findings.wrong.is_empty(), "returns are wrong: {:?}: {result}", findings.wrong);
    ensure!(findings.closed == history.clients.len(), "returns are not closed: {result}");
    ensure!(caught == SEEDED, "the checker missed a seeded fault: {result}");
    drained?;
    rollups::check(&mut connection).await?;
    Ok(result)
}

/// Lives that go on.
type Lives = JoinSet<anyhow::Result<()>>;

/// Waits until all lives have ended, at most for a while; whoever has not ended then is told by the checker.
async fn settle(mut lives: Lives) -> anyhow::Result<()> {
    let all = async {
        while let Some(life) = lives.join_next().await {
            life??;
        }
        anyhow::Ok(())
    };
    if let Ok(ended) = tokio::time::timeout(CLOSED_WITHIN, all).await {
        return ended;
    }
    println!("{} returns are not closed after {} s", lives.len(), CLOSED_WITHIN.as_secs());
    Ok(())
}

/// A stage with merchants whose systems listen.
struct Scene {
    stage: Arc<Stage>,
    record: Arc<Record>,
    _systems: Merchant,
}

impl Scene {
    async fn set(program: &Path) -> anyhow::Result<Self> {
        let stage = Stage::set(program).await?;
        let app = stage.app()?;
        let (systems, record) = (Merchant::start().await?, Arc::new(Record::default()));
        systems.keep_bodies(false);
        for shop in 0..SHOPS {
            record.watch(&systems, &path(shop), shop);
            let change = Change { waits: Some(vec![1; 10]), ..Change::default() };
            Target::set(&app, &stage, shop, &systems, change).await?;
        }
        app.store.close().await;
        Ok(Self { stage: Arc::new(stage), record, _systems: systems })
    }

    /// Starts the lives of the returns `numbers`, and adds their clients.
    fn live(&self, numbers: std::ops::Range<u64>, service: &Service, span: Duration, clients: &mut Vec<Arc<Mutex<Client>>>) -> Lives {
        let run = Arc::new(Run {
            stage: Arc::clone(&self.stage),
            record: Arc::clone(&self.record),
            address: service.address,
            began: Clock::system().now(),
            span,
        });
        let mut lives = JoinSet::new();
        for number in numbers {
            let life = Life::new(number, &run);
            clients.push(life.client());
            lives.spawn(life.live());
        }
        lives
    }

    /// Kills the service again and again, and starts it anew. Answers how long it took to be ready at most.
    async fn kill_service(&self, plan: &Plan, service: &mut Service) -> anyhow::Result<Duration> {
        let (address, admin) = (service.address, service.admin);
        let mut slowest = Duration::ZERO;
        for kill in 1..=plan.kills {
            tokio::time::sleep(plan.every).await;
            service.kill();
            *service = self.stage.serve_on(address, admin)?;
            slowest = slowest.max(service.ready().await?);
            self.say(kill);
        }
        Ok(slowest)
    }

    /// Kills PostgreSQL again and again, and starts it anew. The service stays.
    async fn kill_database(&self, plan: &Plan) -> anyhow::Result<()> {
        for kill in 1..=plan.database_kills {
            tokio::time::sleep(plan.every).await;
            self.stage.cluster.halt(Halt::Immediate)?;
            self.stage.cluster.run()?;
            self.say(kill);
        }
        Ok(())
    }

    fn say(&self, kill: u32) {
        println!("{kill} kills, {} messages received, {} returns refunded", self.record.receipts().len(), self.record.refunded());
    }
}
