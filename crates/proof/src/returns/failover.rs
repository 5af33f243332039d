//! `failover`: the machine of the primary is lost again and again, with all its data, while returns go through their whole life
//! cycle. Its synchronous standby takes over, and Patroni copies the data to a new machine. No acknowledged change may be lost,
//! no message may be lost, altered or delivered out of order, and writes must soon be possible again.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::ensure;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use sandbox::merchant::Merchant;
use sandbox::patroni::Patroni;
use serde_json::{Value, json};

use super::chaos::end;
use super::pulse::Pulse;
use super::report::Report;
use super::scene::{Network, Scene};
use super::{REFUSED, SHOPS};
use crate::messages::owing;
use crate::messages::witness::SEED;
use crate::meter::round;
use crate::stage::Stage;

/// The failovers.
pub(crate) struct Plan {
    pub(crate) failovers: u32,
}

/// Returns under way during each failover, and the approximate length of their life cycles.
const RETURNS: u64 = 60;
const SPAN: Duration = Duration::from_secs(30);
/// The order of the pulse.
const ORDER: u64 = 50;
/// The longest time without an acknowledged write.
const LONGEST_GAP: Duration = Duration::from_secs(30);
/// The timeouts for a new primary, and for a copy of its data on a new machine.
const PROMOTED_WITHIN: Duration = Duration::from_mins(2);
const COMPLETE_WITHIN: Duration = Duration::from_mins(2);
/// The timeouts for closing all returns in the end, and for the remaining deliveries.
const CLOSED_WITHIN: Duration = Duration::from_mins(2);
const DRAINED_WITHIN: Duration = Duration::from_mins(1);

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting up: three PostgreSQL servers with Patroni, etcd and HAProxy, 100 merchants, {SHOPS} of them with endpoints …");
    let dir = std::env::temp_dir().join(format!("backhaul-patroni-{}", std::process::id()));
    let mut patroni = Patroni::start(&dir).await?;
    let stage = Stage::set_at(program, patroni.url("postgres")).await?;
    let systems = Merchant::start().await?;
    let network = Network { reached_at: systems.address(), refused: REFUSED, waits: [1, 1, 2, 3, 3] };
    let mut scene = Scene::set_with(stage, systems, &network).await?;
    let mut service = scene.stage.serve()?;
    service.ready().await?;

    let pulse = Pulse::start(&scene.stage, service.address, ORDER);
    let (mut lives, mut longest) = (Vec::new(), Duration::ZERO);
    let mut rng = StdRng::seed_from_u64(SEED);
    for number in 1..=plan.failovers {
        lives.push(scene.live(RETURNS, &Arc::new(scene.run(service.address, SPAN))));
        tokio::time::sleep(Duration::from_millis(rng.random_range(3_000..6_000))).await;
        pulse.reset();
        let lost = patroni.lose_primary().await?;
        let started = Instant::now();
        let primary = patroni.wait_for_primary(PROMOTED_WITHIN, Some(lost)).await?;
        let promoted = started.elapsed().as_secs_f64();
        patroni.replace(lost)?;
        patroni.complete(COMPLETE_WITHIN).await?;
        let complete = started.elapsed().as_secs_f64();
        let gap = pulse.longest_gap().await?;
        longest = longest.max(gap);
        println!(
            "failover {number}: {lost} lost, {primary} promoted after {promoted:.1} s, writes after {:.1} s, complete after {complete:.1} s",
            gap.as_secs_f64()
        );
    }
    let closed_by = Instant::now() + CLOSED_WITHIN;
    for lives in lives {
        end(lives, closed_by.saturating_duration_since(Instant::now())).await?;
    }
    let mut connection = scene.stage.connect().await?;
    let drained = owing::all_settled(&mut connection, DRAINED_WITHIN).await;
    let kept = pulse.end(&mut connection).await?;
    service.leave().await?;
    let report = Report::new(&scene.history(&mut connection).await?);
    let own = json!({"failovers": plan.failovers, "longest_gap_s": round(longest.as_secs_f64(), 2), "last_write_kept": kept});
    let result = report.result("failover", own);
    report.ensure(&result)?;
    ensure!(kept, "an acknowledged order was set back: {result}");
    ensure!(longest <= LONGEST_GAP, "writes were impossible for too long: {result}");
    drained?;
    Ok(result)
}
