//! `bench-flows`: what merchants and carriers do with returns, compared with the bare database writes, alternating in one run.
//!
//! - (a) the baseline: pgbench locks a return, updates it, and inserts a message with its delivery, all prepared.
//! - (b) end to end, over HTTP: new returns, carrier events, resends, and refunds that settle returns. Each is measured until its
//!   message has been received by the simulated merchant and settled.

mod bare;
mod calls;
mod requests;
mod size;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::{Map, Value, json};

use self::calls::Answers;
use self::requests::Requests;
pub(crate) use self::size::Plan;
use self::size::SHOPS;
use crate::messages::owing::{self, Receiver, Target};
use crate::meter::{self, median, of, percentile, round};
use crate::stage::{Service, Stage};

/// Calls of an endpoint at a time.
const SLOTS: i32 = 10;
/// The timeout of one measurement.
const WITHIN: Duration = Duration::from_mins(5);

/// The bars: carrier events compared with the baseline, CPU seconds of the database for 1,000 carrier events with their deliveries, and
/// new returns per second.
const BARS: [(&str, f64, Bound); 3] = [
    ("carrier_ratio", 0.5, Bound::AtLeast),
    ("carrier_database_cpu_s_per_1000", 0.6, Bound::AtMost),
    ("new_per_s", 1_500.0, Bound::AtLeast),
];

#[derive(Clone, Copy)]
enum Bound {
    AtLeast,
    AtMost,
}

impl Bound {
    fn holds(self, figure: f64, bar: f64) -> bool {
        match self {
            Self::AtLeast => figure >= bar,
            Self::AtMost => figure <= bar,
        }
    }
}

/// What is measured end to end.
const FLOWS: [&str; 4] = ["new", "carrier", "resend", "refund"];

/// One end-to-end measurement.
struct Measured {
    per_s: f64,
    p50_ms: f64,
    p99_ms: f64,
    /// CPU seconds per 1,000: generator and merchant, service, database.
    cpu: [f64; 3],
}

struct Bench {
    callers: usize,
    stage: Stage,
    receiver: Receiver,
    targets: Vec<Target>,
}

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL, 100 merchants, {SHOPS} endpoints …");
    let stage = Stage::set(program).await?;
    let (app, receiver) = (stage.app()?, Receiver::start().await?);
    let targets = Target::set_all(&app, &stage, 0..SHOPS, &receiver.systems, SLOTS).await?;
    app.cell().close().await;
    let bench = Bench { callers: plan.callers, stage, receiver, targets };
    // Warm up caches and query plans.
    bench.measure_all(&Requests::new("warm", plan.returns / 10)?).await?;

    let mut bare = Vec::new();
    let mut ours: [Vec<Measured>; FLOWS.len()] = Default::default();
    for at in 0..plan.rounds {
        owing::clear(&bench.stage).await?;
        let (per_s, cpu) = bare::rate(&bench.stage, &bench.targets, plan).await?;
        println!("round {}  {:24} {per_s:>8.0}/s   CPU s/1000: database {cpu:.3}", at + 1, "(a) bare");
        bare.push((per_s, cpu));
        for ((measured, runs), name) in
            bench.measure_all(&Requests::new(&at.to_string(), plan.returns)?).await?.into_iter().zip(&mut ours).zip(FLOWS)
        {
            let Measured { per_s, p50_ms, p99_ms, cpu: [generator, service, database] } = &measured;
            println!(
                "round {}  {:24} {per_s:>8.0}/s   p50 {p50_ms:>6.2} ms   p99 {p99_ms:>6.2} ms   CPU s/1000: generator and merchant {generator:.3} service {service:.3} database {database:.3}",
                at + 1,
                format!("(b) {name}"),
            );
            runs.push(measured);
        }
    }
    report(plan, &bare, &ours)
}

/// Compares the medians with the bars.
fn report(plan: &Plan, bare: &[(f64, f64)], ours: &[Vec<Measured>; FLOWS.len()]) -> anyhow::Result<Value> {
    let middle = |runs: &[Measured], figure: fn(&Measured) -> f64| median(runs.iter().map(figure).collect());
    let bare_per_s = median(bare.iter().map(|(per_s, _)| *per_s).collect());
    let bare_cpu = median(bare.iter().map(|(_, cpu)| *cpu).collect());
    let mut result = Map::new();
    result.insert("bench".to_owned(), json!("flows"));
    result.insert("bare_per_s".to_owned(), json!(round(bare_per_s, 0)));
    result.insert("bare_database_cpu_s_per_1000".to_owned(), json!(round(bare_cpu, 4)));
    for (runs, name) in ours.iter().zip(FLOWS) {
        let per_s = middle(runs, |run| run.per_s);
        for (figure, value) in [
            ("per_s", round(per_s, 0)),
            ("ratio", round(per_s / bare_per_s, 3)),
            ("p50_ms", round(middle(runs, |run| run.p50_ms), 2)),
            ("p99_ms", round(middle(runs, |run| run.p99_ms), 2)),
            ("service_cpu_s_per_1000", round(middle(runs, |run| run.cpu[1]), 4)),
            ("database_cpu_s_per_1000", round(middle(runs, |run| run.cpu[2]), 4)),
        ] {
            result.insert(format!("{name}_{figure}"), json!(value));
        }
    }
    let mut missed = Vec::new();
    for (name, bar, bound) in BARS {
        let figure = result.get(name).and_then(Value::as_f64).unwrap_or_default();
        let met = bound.holds(figure, bar);
        println!("{name:34} {figure:>8.3}   bar {bar:>6}   {}", if met { "met" } else { "MISSED" });
        if !met {
            missed.push(name);
        }
    }
    let result = Value::Object(result);
    ensure!(plan.untimed || missed.is_empty(), "bars were missed: {}: {result}", missed.join(", "));
    Ok(result)
}

impl Bench {
    /// Runs all flows with a service of its own, and measures each.
    async fn measure_all(&self, requests: &Requests) -> anyhow::Result<[Measured; FLOWS.len()]> {
        owing::clear(&self.stage).await?;
        let service = self.stage.serve()?;
        service.ready().await?;
        owing::all_leased(&self.stage).await?;
        let of_shop = |shop: usize| self.stage.tokens.get(shop).map_or("", String::as_str);
        calls::send(service.address, requests.orders(of_shop), self.callers, 200).await?;
        let (new, answers) = self.measure(&service, requests.new_returns(of_shop), 201).await?;
        let names = answers.identifiers()?;
        // Handing a parcel over follows its label.
        self.measure(&service, requests.labels(of_shop, &names), 200).await?;
        let (carrier, _) = self.measure(&service, requests.scans(of_shop, &names), 200).await?;
        let (resend, _) = self.measure(&service, requests.resends(of_shop, &names), 202).await?;
        let (refund, _) = self.measure(&service, requests.refunds(of_shop, &names), 200).await?;
        Ok([new, carrier, resend, refund])
    }

    /// Sends requests that owe one message each, and waits until all of them are received and settled.
    async fn measure(&self, service: &Service, requests: Vec<Vec<u8>>, expected: u16) -> anyhow::Result<(Measured, Answers)> {
        self.receiver.clear();
        let count = requests.len();
        let mut connection = self.stage.connect().await?;
        let database = self.stage.cluster()?.pid().unwrap_or_default();
        let before = meter::cpu_of_all(Some(service.pid()), database);
        let started = Instant::now();
        let answers = calls::send(service.address, requests, self.callers, expected).await?;
        self.receiver.wait_for(count, WITHIN).await?;
        owing::all_settled(&mut connection, WITHIN).await?;
        let elapsed = started.elapsed().as_secs_f64();
        let after = meter::cpu_of_all(Some(service.pid()), database);
        let measured = Measured {
            per_s: of(count) / elapsed,
            p50_ms: percentile(&answers.latencies, 0.5),
            p99_ms: percentile(&answers.latencies, 0.99),
            cpu: meter::per_thousand(before, after, count),
        };
        Ok((measured, answers))
    }
}
