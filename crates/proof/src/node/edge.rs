//! `attack-edge`: attackers begin requests over HTTP/2 and reset them before they are answered. The service's memory must stay as it
//! is, and other callers must hardly notice.
//!
//! - Those who reset, strangers with made-up tokens (`attackers.rs`).
//! - A caller who asks for orders, and the times of the answers (`bystander.rs`).

mod attackers;
mod bystander;

use std::path::Path;
use std::time::Duration;

use anyhow::ensure;
use serde_json::{Value, json};

use self::bystander::Bystander;
use crate::meter::{memory, round};
use crate::stage::Stage;

/// The size of a run.
pub(crate) struct Plan {
    pub(crate) resets: u32,
    pub(crate) per_second: u32,
    /// Hold the times to their bar.
    pub(crate) timed: bool,
}

/// The most by which memory may grow, in MB: buffers of the attackers' connections.
const MOST_GROWN: f64 = 32.0;
/// The most by which a caller's p99 may grow, and the time below which differences are noise.
const MOST_RATIO: f64 = 2.0;
const NOISE_MS: f64 = 5.0;

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL, 100 merchants …");
    let stage = Stage::set(program).await?;
    let service = stage.serve()?;
    service.ready().await?;
    let token = stage.token(0);
    // Buffers that grow once grow now.
    attackers::attack(service.address, plan.resets / 20, plan.per_second).await?;

    let seconds = u64::from(plan.resets / plan.per_second.max(1)).max(5);
    println!("A caller alone, for {seconds} s …");
    let quiet = Bystander::start(service.address, token).ends_after(Duration::from_secs(seconds)).await?;
    let before = memory(service.pid(), "VmRSS");
    println!("{} resets, {} per second …", plan.resets, plan.per_second);
    let bystander = Bystander::start(service.address, token);
    let attacked = attackers::attack(service.address, plan.resets, plan.per_second).await?;
    let busy = bystander.ends().await?;
    let grown = memory(service.pid(), "VmRSS") - before;

    let ratio = busy.p99_ms.max(NOISE_MS) / quiet.p99_ms.max(NOISE_MS);
    let result = json!({
        "attack": "edge", "resets": attacked.resets, "connections": attacked.connections, "memory_mb": round(before, 1),
        "grown_mb": round(grown, 1), "calls": busy.calls, "failed": busy.failed, "quiet_p99_ms": round(quiet.p99_ms, 2),
        "p99_ms": round(busy.p99_ms, 2), "p99_ratio": round(ratio, 2),
    });
    ensure!(attacked.resets >= plan.resets, "too few requests were reset: {result}");
    ensure!(busy.failed == 0 && busy.calls > 0, "another caller was not served: {result}");
    ensure!(grown < MOST_GROWN, "the service's memory grew: {result}");
    ensure!(!plan.timed || ratio <= MOST_RATIO, "another caller waited longer: {result}");
    Ok(result)
}
