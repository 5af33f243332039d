//! `rolling-restarts`: two nodes behind a load balancer are restarted in turn under a steady load. No caller may notice.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::{Value, json};

use super::balancer::Balancer;
use super::callers::{Route, Seen};
use crate::meter::{of, round};
use crate::stage::Stage;

/// The restarts and the load.
pub(crate) struct Plan {
    pub(crate) restarts: usize,
    /// Requests per second.
    pub(crate) rate: u32,
}

/// Callers at a time. One in five speaks HTTP/2.
const CALLERS: u32 = 50;

/// The time between the notice of a node and its end. The balancer asks several times in it.
const NOTICE: (&str, &str) = ("BACKHAUL__HTTP__LEAVE_NOTICE_MS", "1000");

/// The share of the planned rate that must be reached, or nothing was proved.
const REACHED: f64 = 0.95;

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL, 100 merchants, two nodes and a load balancer …");
    let stage = Arc::new(Stage::set(program).await?);
    let start = || stage.serve_with(crate::stage::free()?, crate::stage::free()?, &[NOTICE]);
    let mut nodes = [start()?, start()?];
    let balancer = Balancer::start(&nodes.each_ref().map(|node| (node.address, node.admin))).await?;
    balancer.knows_all().await;

    let (seen, ended) = (Arc::new(Seen::default()), Arc::new(AtomicBool::new(false)));
    let every = Duration::from_secs(1) * CALLERS / plan.rate.max(1);
    let started = Instant::now();
    let callers: Vec<_> = (0..u64::from(CALLERS))
        .map(|caller| {
            let route = Route { stage: stage.clone(), address: balancer.address, every, seen: seen.clone(), ended: ended.clone() };
            if caller % 5 == 0 { tokio::spawn(route.call_http2(caller)) } else { tokio::spawn(route.call(caller)) }
        })
        .collect();
    for restart in 0..plan.restarts {
        if let Some(node) = nodes.get_mut(restart % 2) {
            node.leave().await?;
            *node = stage.serve_with(node.address, node.admin, &[NOTICE])?;
            node.ready().await?;
        }
        balancer.knows_all().await;
        if (restart + 1) % 10 == 0 {
            println!("{} restarts, {} requests", restart + 1, seen.accepted.load(Ordering::SeqCst));
        }
    }
    ended.store(true, Ordering::SeqCst);
    for caller in callers {
        caller.await?;
    }
    let count = |count: &std::sync::atomic::AtomicU64| count.load(Ordering::SeqCst);
    let (resets, server_errors, refused) = (count(&seen.resets), count(&seen.server_errors), count(&seen.refused));
    let requests = count(&seen.accepted) + resets + server_errors + refused;
    let rate = of(usize::try_from(requests)?) / started.elapsed().as_secs_f64();
    let result = json!({
        "proof": "rolling-restarts", "restarts": plan.restarts, "requests": requests, "per_second": round(rate, 1),
        "connections": count(&seen.connections), "resets": resets, "server_errors": server_errors, "refused": refused,
    });
    ensure!(resets == 0 && server_errors == 0 && refused == 0, "callers noticed a restart: {result}");
    ensure!(rate >= f64::from(plan.rate) * REACHED, "the load was not reached: {result}");
    Ok(result)
}
