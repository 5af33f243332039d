//! `bench-delivery`: the delivery engine compared with its bare database statements, alternating in one run.
//!
//! - (a) the baseline: inserts, reads and settles by SQL alone, without HTTP.
//! - (b) end to end: a flow owes a message, and it is posted to the simulated merchant and settled.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use backhaul::app::App;
use chrono::TimeDelta;
use clap::Args;
use serde_json::{Value, json};

use crate::messages::bare_delivery;
use crate::messages::owing::{self, Receiver, Target};
use crate::meter::{self, median, of, percentile, round};
use crate::stage::Stage;

#[derive(Args, Debug)]
pub(crate) struct Plan {
    /// Number of messages in an end-to-end measurement, and in the burst.
    #[arg(long, default_value_t = 20_000)]
    messages: usize,
    /// Number of waiting messages to drain.
    #[arg(long, default_value_t = 100_000)]
    waiting: usize,
    /// Number of messages in a latency measurement.
    #[arg(long, default_value_t = 1_000)]
    idle: u32,
    /// Number of rounds; the result is their median.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

/// Concurrent flows that owe messages.
const FLOWS: usize = 16;
/// Messages per second while the latency is measured.
const IDLE_PER_S: u32 = 50;
/// The timeout of one measurement.
const WITHIN: Duration = Duration::from_mins(5);
/// The bars: ratios to the baseline's rate, then milliseconds and seconds.
const BARS: [(&str, f64); 6] =
    [("ratio", 0.6), ("drain_ratio", 0.55), ("owe_ratio", 0.9), ("idle_p50_ms", 2.0), ("idle_p99_ms", 10.0), ("burst_lag_s", 1.0)];
/// The number of bars that are minimums; the others are maximums.
const AT_LEAST: usize = 3;

struct Bench {
    stage: Stage,
    receiver: Receiver,
    app: App,
    one: Vec<Target>,
    fifty: Vec<Target>,
}

/// One end-to-end measurement.
struct Measured {
    per_s: f64,
    /// CPU seconds per 1,000 messages: generator and merchant, service, database.
    cpu: [f64; 3],
    /// The delay of delivery behind the flows, in seconds of traffic.
    lag_s: f64,
}

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL, 100 merchants, 51 endpoints …");
    let stage = Stage::set(program).await?;
    let (app, receiver) = (stage.app()?, Receiver::start().await?);
    let one = Target::set_all(&app, &stage, 0..1, &receiver.systems, 64).await?;
    let fifty = Target::set_all(&app, &stage, 1..51, &receiver.systems, 10).await?;
    let bench = Bench { stage, receiver, app, one, fifty };
    // Warm up caches and query plans.
    bench.bare(&bench.one, plan.messages / 10).await?;
    bench.end_to_end(&bench.one, plan.messages / 10).await?;

    let (mut bare_one, mut bare_fifty, mut bare_drain, mut drain) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut ones, mut fifties, mut idle): (Vec<Measured>, Vec<Measured>, Vec<u32>) = (Vec::new(), Vec::new(), Vec::new());
    let (mut drain_cpu, mut owe_one, mut owe_sixteen) = (Vec::new(), Vec::new(), Vec::new());
    for round_at in 0..plan.rounds {
        owe_one.push(bench.owe(&bench.one, plan.messages).await?);
        show(round_at, "16 flows of 1 merchant", owe_one.last(), None);
        owe_sixteen.push(bench.owe(bench.fifty.get(..FLOWS).unwrap_or_default(), plan.messages).await?);
        show(round_at, "16 flows of 16 merchants", owe_sixteen.last(), None);
        bare_one.push(bench.bare(&bench.one, plan.messages).await?);
        show(round_at, "(a) bare, 1 endpoint", bare_one.last(), None);
        ones.push(bench.end_to_end(&bench.one, plan.messages).await?);
        show(round_at, "(b) end to end, 1 endpoint", None, ones.last());
        bare_fifty.push(bench.bare(&bench.fifty, plan.messages).await?);
        show(round_at, "(a) bare, 50 endpoints", bare_fifty.last(), None);
        fifties.push(bench.end_to_end(&bench.fifty, plan.messages).await?);
        show(round_at, "(b) end to end, 50 endpoints", None, fifties.last());
        bare_drain.push(bench.bare_drain(plan.waiting).await?);
        show(round_at, "(a) bare, draining", bare_drain.last(), None);
        let (per_s, cpu) = bench.drain(plan.waiting).await?;
        drain.push(per_s);
        drain_cpu.push(Measured { per_s, cpu, lag_s: 0.0 });
        show(round_at, "(b) draining", None, drain_cpu.last());
        idle.extend(bench.idle(plan.idle).await?);
        idle.sort_unstable();
        println!("round {}  idle: p50 {:.2} ms   p99 {:.2} ms", round_at + 1, percentile(&idle, 0.5), percentile(&idle, 0.99));
    }
    let rate = |runs: &[Measured]| median(runs.iter().map(|run| run.per_s).collect());
    // The burst uses the run with 50 endpoints, because its tables were just vacuumed and analysed while empty.
    let lag = median(fifties.iter().map(|run| run.lag_s).collect());
    let (a_one, a_fifty, a_drain) = (median(bare_one), median(bare_fifty), median(bare_drain));
    let (b_one, b_fifty, b_drain) = (rate(&ones), rate(&fifties), median(drain));
    let ratio = (b_one / a_one).max(b_fifty / a_fifty);
    let (owe_one, owe_sixteen) = (median(owe_one), median(owe_sixteen));
    let figures = [ratio, b_drain / a_drain, owe_one / owe_sixteen, percentile(&idle, 0.5), percentile(&idle, 0.99), lag];
    for (at, ((name, bar), figure)) in BARS.iter().zip(figures).enumerate() {
        let met = if at < AT_LEAST { figure >= *bar } else { figure <= *bar };
        println!("{name:12} {figure:>8.3}   bar {bar:>6}   {}", if met { "met" } else { "MISSED" });
    }
    Ok(json!({
        "bench": "delivery",
        "bare_one_per_s": round(a_one, 0), "one_per_s": round(b_one, 0), "one_ratio": round(b_one / a_one, 3),
        "bare_fifty_per_s": round(a_fifty, 0), "fifty_per_s": round(b_fifty, 0), "fifty_ratio": round(b_fifty / a_fifty, 3),
        "ratio": round(ratio, 3),
        "bare_drain_per_s": round(a_drain, 0), "drain_per_s": round(b_drain, 0), "drain_ratio": round(b_drain / a_drain, 3),
        "one_cpu_s_per_1000": cpu(&ones), "fifty_cpu_s_per_1000": cpu(&fifties), "drain_cpu_s_per_1000": cpu(&drain_cpu),
        "idle_samples": idle.len(), "idle_p50_ms": round(percentile(&idle, 0.5), 2), "idle_p99_ms": round(percentile(&idle, 0.99), 2),
        "burst_lag_s": round(lag, 2),
        "owe_one_per_s": round(owe_one, 0), "owe_sixteen_per_s": round(owe_sixteen, 0), "owe_ratio": round(owe_one / owe_sixteen, 3),
    }))
}

impl Bench {
    /// Measures messages owed per second while nobody delivers. Flows of one merchant must not wait for each other.
    async fn owe(&self, targets: &[Target], count: usize) -> anyhow::Result<f64> {
        owing::clear(&self.stage).await?;
        let started = Instant::now();
        owing::owe_many(&self.app, targets, count, FLOWS, &Arc::default()).await?;
        Ok(of(count) / started.elapsed().as_secs_f64())
    }

    /// Measures messages inserted, read and settled per second by the baseline.
    async fn bare(&self, targets: &[Target], count: usize) -> anyhow::Result<f64> {
        owing::clear(&self.stage).await?;
        let started = Instant::now();
        let done = Arc::new(AtomicUsize::new(0));
        let (owed, settled) = tokio::join!(
            owing::owe_many(&self.app, targets, count, FLOWS, &done),
            bare_delivery::settle_all(&self.app, targets, count, &done),
        );
        owed?;
        settled?;
        Ok(of(count) / started.elapsed().as_secs_f64())
    }

    /// Measures the same end to end, with a separate delivery process that is notified by NOTIFY.
    async fn end_to_end(&self, targets: &[Target], count: usize) -> anyhow::Result<Measured> {
        owing::clear(&self.stage).await?;
        self.receiver.clear();
        let service = owing::deliver(&self.stage).await?;
        let mut connection = self.stage.connect().await?;
        let database = self.stage.cluster()?.pid().unwrap_or_default();
        let before = meter::cpu_of_all(Some(service.pid()), database);
        let app = self.stage.app()?;
        let forwarder = tokio::spawn(backhaul::delivery::forward_signals(app.clone()));
        let started = Instant::now();
        let done = Arc::new(AtomicUsize::new(0));
        let watch = async {
            let mut most = 0;
            while self.receiver.count() < count && started.elapsed() < WITHIN {
                most = most.max(done.load(Ordering::Relaxed).saturating_sub(self.receiver.count()));
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            most
        };
        let owe = async {
            owing::owe_many(&app, targets, count, FLOWS, &done).await?;
            anyhow::Ok(started.elapsed())
        };
        let (behind, owed_in) = tokio::join!(watch, owe);
        let owed_in = owed_in?;
        owing::all_settled(&mut connection, WITHIN).await?;
        let elapsed = started.elapsed().as_secs_f64();
        let after = meter::cpu_of_all(Some(service.pid()), database);
        forwarder.abort();
        app.cell().close().await;
        let lag_s = of(behind) / (of(count) / owed_in.as_secs_f64());
        Ok(Measured { per_s: of(count) / elapsed, cpu: meter::per_thousand(before, after, count), lag_s })
    }

    /// Measures waiting messages read and settled per second by the baseline.
    async fn bare_drain(&self, count: usize) -> anyhow::Result<f64> {
        owing::clear(&self.stage).await?;
        self.pile_up(count).await?;
        let started = Instant::now();
        bare_delivery::settle_all(&self.app, &self.fifty, count, &AtomicUsize::new(count)).await?;
        Ok(of(count) / started.elapsed().as_secs_f64())
    }

    /// Measures the same end to end. The messages are owed in one transaction; the time starts with its commit.
    async fn drain(&self, count: usize) -> anyhow::Result<(f64, [f64; 3])> {
        owing::clear(&self.stage).await?;
        self.receiver.clear();
        let service = owing::deliver(&self.stage).await?;
        let app = self.stage.app()?;
        let mut connection = self.stage.connect().await?;
        self.pile_up(count).await?;
        let database = self.stage.cluster()?.pid().unwrap_or_default();
        let before = meter::cpu_of_all(Some(service.pid()), database);
        let started = Instant::now();
        let due_at = app.now() - TimeDelta::hours(1);
        self.fifty.iter().for_each(|target| app.signal(target.signal(due_at)));
        app.forward_signals_now().await;
        self.receiver.wait_for(count, WITHIN).await?;
        owing::all_settled(&mut connection, WITHIN).await?;
        let elapsed = started.elapsed().as_secs_f64();
        let after = meter::cpu_of_all(Some(service.pid()), database);
        app.cell().close().await;
        Ok((of(count) / elapsed, meter::per_thousand(before, after, count)))
    }

    async fn pile_up(&self, count: usize) -> anyhow::Result<()> {
        let mut connection = self.stage.connect().await?;
        let due_at = self.app.now() - TimeDelta::minutes(30);
        owing::pile_up(&mut connection, &self.fifty, count, &owing::body("W-0", 1), due_at).await
    }

    /// Measures the time from commit to receipt with little load, in microseconds. Flow and deliverer share one process.
    async fn idle(&self, samples: u32) -> anyhow::Result<Vec<u32>> {
        owing::clear(&self.stage).await?;
        self.receiver.clear();
        let app = self.stage.app()?;
        let deliverer = backhaul::worker::start(&app);
        owing::all_leased(&self.stage).await?;
        // Warm up connections and settings.
        owing::owe_steadily(&app, &self.fifty, IDLE_PER_S, Duration::from_secs(2), "warm").await?;
        let duration = Duration::from_secs(samples.div_ceil(IDLE_PER_S).into());
        let committed = owing::owe_steadily(&app, &self.fifty, IDLE_PER_S, duration, "idle").await?;
        owing::all_settled(&mut self.stage.connect().await?, Duration::from_secs(30)).await?;
        deliverer.leave().await;
        app.cell().close().await;
        Ok(self.receiver.latencies(&committed))
    }
}

fn cpu(runs: &[Measured]) -> Value {
    let part = |at: usize| round(median(runs.iter().filter_map(|run| run.cpu.get(at).copied()).collect()), 4);
    json!({ "generator_and_merchant": part(0), "service": part(1), "database": part(2) })
}

fn show(round_at: usize, what: &str, bare: Option<&f64>, ours: Option<&Measured>) {
    let head = format!("round {}  {what:30}", round_at + 1);
    if let Some(rate) = bare {
        println!("{head} {rate:>8.0} messages/s");
    }
    if let Some(Measured { per_s, cpu: [generator, service, database], lag_s }) = ours {
        println!(
            "{head} {per_s:>8.0} messages/s   lag {lag_s:.2} s   CPU s/1000: generator and merchant {generator:.3} service {service:.3} database {database:.3}"
        );
    }
}
