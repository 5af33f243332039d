//! `chaos-returns`: the service is killed every few seconds while returns go through their whole life cycle, and then PostgreSQL
//! is. Every return must be closed by its refund, and no message may be lost, altered, repeated or delivered out of order.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sandbox::postgres::Halt;
use serde_json::{Value, json};

use super::SHOPS;
use super::report::Report;
use super::scene::{Lives, Scene};
use crate::messages::{owing, rollups};
use crate::stage::Service;

/// The size of a run.
pub(crate) struct Plan {
    /// Returns while the service is killed; a fifth as many follow while PostgreSQL is killed.
    pub(crate) returns: u64,
    pub(crate) kills: u32,
    pub(crate) database_kills: u32,
    /// The time between kills.
    pub(crate) every: Duration,
}

/// The timeout for closing all returns after the last kill. Leases of killed processes must expire before deliveries resume.
const CLOSED_WITHIN: Duration = Duration::from_mins(2);
/// The timeout for the remaining deliveries.
const DRAINED_WITHIN: Duration = Duration::from_mins(1);

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL, 100 merchants, {SHOPS} of them with endpoints …");
    let mut scene = Scene::set(program).await?;
    let mut service = scene.stage.serve()?;
    service.ready().await?;
    let started = Instant::now();

    println!("Starting {} returns, with {} kills of the service …", plan.returns, plan.kills);
    let lives = scene.live(plan.returns, &Arc::new(scene.run(service.address, plan.every * plan.kills)));
    let slowest = kill_service(&scene, plan, &mut service).await?;
    end(lives, CLOSED_WITHIN).await?;

    let more = plan.returns / 5;
    println!("Starting {more} more, with {} kills of PostgreSQL …", plan.database_kills);
    let lives = scene.live(more, &Arc::new(scene.run(service.address, plan.every * plan.database_kills)));
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

/// Waits until all life cycles have ended. After the timeout, the checker reports those that have not.
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

/// Kills and restarts the service again and again. Returns the longest time until it was ready.
async fn kill_service(scene: &Scene, plan: &Plan, service: &mut Service) -> anyhow::Result<Duration> {
    let (address, admin) = (service.address, service.admin);
    let mut slowest = Duration::ZERO;
    for kill in 1..=plan.kills {
        tokio::time::sleep(plan.every).await;
        service.kill();
        *service = scene.stage.serve_on(address, admin)?;
        slowest = slowest.max(service.ready().await?);
        print_progress(scene, kill);
    }
    Ok(slowest)
}

/// Kills and restarts PostgreSQL again and again. The service keeps running.
async fn kill_database(scene: &Scene, plan: &Plan) -> anyhow::Result<()> {
    for kill in 1..=plan.database_kills {
        tokio::time::sleep(plan.every).await;
        scene.stage.cluster()?.halt(Halt::Immediate)?;
        scene.stage.cluster()?.run()?;
        print_progress(scene, kill);
    }
    Ok(())
}

fn print_progress(scene: &Scene, kill: u32) {
    println!("{kill} kills, {} messages received, {} returns closed", scene.record.receipts().len(), scene.record.ended());
}
