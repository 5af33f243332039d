//! `attack-edge`: attackers begin requests over HTTP/2 and reset them before they are answered. The service's memory must stay as it
//! is, and other callers must hardly notice.
//!
//! - Those who reset: strangers with made-up tokens, and a merchant with its own (`attackers.rs`).
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
    let (token, made_up) = (stage.token(0), attackers::made_up());
    // Buffers that grow once grow now.
    for of in [made_up.as_str(), stage.token(1)] {
        attackers::attack(service.address, of, plan.resets / 10, plan.per_second).await?;
    }

    let seconds = u64::from(plan.resets / plan.per_second.max(1)).max(5);
    println!("A caller alone, for {seconds} s …");
    let quiet = Bystander::start(service.address, token).ends_after(Duration::from_secs(seconds)).await?;
    let before = memory(service.pid(), "VmRSS");
    let (mut attacks, mut faults) = (Vec::new(), Vec::new());
    for (who, of) in [("strangers", made_up.as_str()), ("a merchant", stage.token(1))] {
        println!("{} resets by {who}, {} per second …", plan.resets, plan.per_second);
        let bystander = Bystander::start(service.address, token);
        let attacked = attackers::attack(service.address, of, plan.resets, plan.per_second).await?;
        let busy = bystander.ends().await?;
        let grown = memory(service.pid(), "VmRSS") - before;
        let ratio = busy.p99_ms.max(NOISE_MS) / quiet.p99_ms.max(NOISE_MS);
        attacks.push(json!({
            "by": who, "resets": attacked.resets, "connections": attacked.connections, "grown_mb": round(grown, 1), "calls": busy.calls,
            "failed": busy.failed, "p99_ms": round(busy.p99_ms, 2), "p99_ratio": round(ratio, 2),
        }));
        let held = [
            (attacked.resets >= plan.resets, "too few requests were reset"),
            (busy.failed == 0 && busy.calls > 0, "another caller was not served"),
            (grown < MOST_GROWN, "the service's memory grew"),
            (!plan.timed || ratio <= MOST_RATIO, "another caller waited longer"),
        ];
        faults.extend(held.into_iter().filter(|(held, _)| !held).map(|(_, fault)| format!("{who}: {fault}")));
    }
    let result = json!({
        "attack": "edge", "memory_mb": round(before, 1), "quiet_p99_ms": round(quiet.p99_ms, 2), "attacks": attacks,
    });
    ensure!(faults.is_empty(), "{}: {result}", faults.join(", "));
    Ok(result)
}
