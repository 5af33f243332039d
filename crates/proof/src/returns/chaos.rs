//! `chaos-returns`: the service is killed every few seconds while returns live their whole lives, and then PostgreSQL is.
//! Every return must be closed by its refund, and nothing of it lost, overtaken, altered or done twice.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sandbox::postgres::Halt;
use serde_json::{Value, json};

use super::SHOPS;
use super::life::Run;
use super::report::Report;
use super::scene::{Lives, Scene};
use crate::owing;
use crate::rollups;
use crate::stage::Service;

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
    let mut scene = Scene::set(program).await?;
    let mut service = scene.stage.serve()?;
    service.ready().await?;
    let started = Instant::now();

    println!("{} returns, and {} kills of the service …", plan.returns, plan.kills);
    let lives = scene.live(plan.returns, &Arc::new(Run::new(&scene, service.address, plan.every * plan.kills)));
    let slowest = kill_service(&scene, plan, &mut service).await?;
    end(lives, CLOSED_WITHIN).await?;

    let more = plan.returns / 5;
    println!("{more} more, and {} kills of PostgreSQL …", plan.database_kills);
    let lives = scene.live(more, &Arc::new(Run::new(&scene, service.address, plan.every * plan.database_kills)));
    kill_database(&scene, plan).await?;
    end(lives, CLOSED_WITHIN).await?;

    let mut connection = scene.stage.connect().await?;
    let drained = owing::all_settled(&mut connection, DRAINED_WITHIN).await;
    service.leave().await?;
    let own = json!({
        "kills": plan.kills, "database_kills": plan.database_kills, "seconds": started.elapsed().as_secs(),
        "slowest_ready_ms": slowest.as_millis(),
    });
    let report = Report::new(&scene.history(&mut connection).await?);
    let result = report.result("returns", own);
    report.ensure(&result)?;
    drained?;
    rollups::check(&mut connection).await?;
    Ok(result)
}

/// Waits until all lives have ended, at most for a while; whoever has not ended then is told by the checker.
pub(super) async fn end(mut lives: Lives, within: Duration) -> anyhow::Result<()> {
    let all = async {
        while let Some(life) = lives.join_next().await {
            life??;
        }
        anyhow::Ok(())
    };
    if let Ok(ended) = tokio::time::timeout(within, all).await {
        return ended;
    }
    println!("{} returns are not closed after {} s", lives.len(), within.as_secs());
    Ok(())
}

/// Kills the service again and again, and starts it anew. Answers how long it took to be ready at most.
async fn kill_service(scene: &Scene, plan: &Plan, service: &mut Service) -> anyhow::Result<Duration> {
    let (address, admin) = (service.address, service.admin);
    let mut slowest = Duration::ZERO;
    for kill in 1..=plan.kills {
        tokio::time::sleep(plan.every).await;
        service.kill();
        *service = scene.stage.serve_on(address, admin)?;
        slowest = slowest.max(service.ready().await?);
        say(scene, kill);
    }
    Ok(slowest)
}

/// Kills PostgreSQL again and again, and starts it anew. The service stays.
async fn kill_database(scene: &Scene, plan: &Plan) -> anyhow::Result<()> {
    for kill in 1..=plan.database_kills {
        tokio::time::sleep(plan.every).await;
        scene.stage.cluster.halt(Halt::Immediate)?;
        scene.stage.cluster.run()?;
        say(scene, kill);
    }
    Ok(())
}

fn say(scene: &Scene, kill: u32) {
    println!("{kill} kills, {} messages received, {} returns closed", scene.record.receipts().len(), scene.record.ended());
}
