//! `bench-isolation`: healthy endpoints next to failing ones.
//!
//! Of 100 endpoints, one hangs for ten seconds per call and has a large backlog, one drips its responses, and one is flooded.
//! The other 97 are healthy: their time from commit to receipt is measured with and without the bad three, in turn.

use std::path::Path;
use std::time::Duration;

use backhaul::app::App;
use backhaul::flow::messages::configure_endpoint::EndpointChange;
use chrono::TimeDelta;
use sandbox::merchant::Answer;
use serde_json::{Value, json};

use crate::messages::owing::{self, Receiver, Target};
use crate::meter::{median, percentile, round};
use crate::stage::Stage;

/// The size of the measurements.
pub(crate) struct Plan {
    /// The length of each measurement.
    pub(crate) duration: Duration,
    /// Measurements with the bad three, and as many without; the medians count.
    pub(crate) rounds: usize,
    /// Messages waiting for the endpoint that hangs.
    pub(crate) waiting: usize,
}

/// Healthy endpoints, and messages per second for all of them together.
const HEALTHY: usize = 97;
const HEALTHY_PER_S: u32 = 200;
/// Messages waiting for the endpoint that drips.
const DRIPPING: usize = 1_000;
/// Messages per second for the flooded endpoint, and the number it accepts.
const FLOOD_PER_S: u32 = 300;
const FLOODED_TAKES: i32 = 50;
/// The warm-up time.
const WARM: Duration = Duration::from_secs(3);

/// Time from commit to receipt.
struct Measured {
    p50_ms: f64,
    p99_ms: f64,
}

struct Bench {
    stage: Stage,
    receiver: Receiver,
    healthy: Vec<Target>,
    hanging: Target,
    dripping: Target,
    flooded: Target,
}

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL, 100 merchants, 100 endpoints …");
    let stage = Stage::set(program).await?;
    let (app, receiver) = (stage.app()?, Receiver::start().await?);
    let systems = &receiver.systems;
    let healthy = Target::set_all(&app, &stage, 0..HEALTHY, systems, 10).await?;
    let hanging = Target::set(&app, &stage, HEALTHY, systems, EndpointChange::default()).await?;
    systems.answer(&owing::path(HEALTHY), Answer::ok().delay(Duration::from_secs(10)));
    let dripping = Target::set(&app, &stage, HEALTHY + 1, systems, EndpointChange::default()).await?;
    systems.answer(&owing::path(HEALTHY + 1), Answer::ok().drip(Duration::from_millis(100), Some(100)));
    let change = EndpointChange { per_second: Some(FLOODED_TAKES), ..EndpointChange::default() };
    let flooded = Target::set(&app, &stage, HEALTHY + 2, systems, change).await?;
    app.cell().close().await;
    let bench = Bench { stage, receiver, healthy, hanging, dripping, flooded };

    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    for at in 0..plan.rounds {
        for (bad, measured) in [(false, &mut alone), (true, &mut beside)] {
            let now = bench.measure(plan, bad).await?;
            let what = if bad { "beside the bad three" } else { "healthy alone" };
            println!("round {}  {what:22} p50 {:>7.2} ms   p99 {:>7.2} ms", at + 1, now.p50_ms, now.p99_ms);
            measured.push(now);
        }
    }
    let p50 = |runs: &[Measured]| median(runs.iter().map(|run| run.p50_ms).collect());
    let p99 = |runs: &[Measured]| median(runs.iter().map(|run| run.p99_ms).collect());
    let (without, with) = (p99(&alone), p99(&beside));
    Ok(json!({
        "bench": "isolation", "healthy": HEALTHY, "healthy_per_s": HEALTHY_PER_S, "waiting": plan.waiting, "rounds": plan.rounds,
        "p50_ms": round(p50(&alone), 2), "p50_beside_ms": round(p50(&beside), 2),
        "p99_ms": round(without, 2), "p99_beside_ms": round(with, 2),
        "p99_ratio": round(with / without, 3), "p99_added_ms": round(with - without, 2),
    }))
}

impl Bench {
    async fn measure(&self, plan: &Plan, bad: bool) -> anyhow::Result<Measured> {
        owing::clear(&self.stage).await?;
        self.receiver.clear();
        let service = owing::deliver(&self.stage).await?;
        let app = self.stage.app()?;
        let forwarder = tokio::spawn(backhaul::delivery::forward_signals(app.clone()));
        if bad {
            self.pile_up(&app, plan.waiting).await?;
        }
        let flood = async {
            if bad {
                owing::owe_steadily(&app, &[self.flooded], FLOOD_PER_S, WARM + plan.duration, "flood").await?;
            }
            anyhow::Ok(())
        };
        let healthy = async {
            owing::owe_steadily(&app, &self.healthy, HEALTHY_PER_S, WARM, "warm").await?;
            owing::owe_steadily(&app, &self.healthy, HEALTHY_PER_S, plan.duration, "healthy").await
        };
        let (flooded, committed) = tokio::join!(flood, healthy);
        flooded?;
        let committed = committed?;
        // Messages still on their way either arrive now or count as late.
        tokio::time::sleep(Duration::from_secs(2)).await;
        forwarder.abort();
        drop(service);
        app.cell().close().await;
        let latencies = self.receiver.latencies(&committed);
        Ok(Measured { p50_ms: percentile(&latencies, 0.5), p99_ms: percentile(&latencies, 0.99) })
    }

    async fn pile_up(&self, app: &App, waiting: usize) -> anyhow::Result<()> {
        let mut connection = self.stage.connect().await?;
        let (due_at, body) = (app.now() - TimeDelta::minutes(30), owing::body("W-0", 1));
        owing::pile_up(&mut connection, &[self.hanging], waiting, &body, due_at).await?;
        owing::pile_up(&mut connection, &[self.dripping], DRIPPING, &body, due_at).await?;
        [self.hanging, self.dripping].iter().for_each(|target| app.signal(target.signal(due_at)));
        Ok(())
    }
}
