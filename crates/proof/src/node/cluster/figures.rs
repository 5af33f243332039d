//! The figures of the measurements, and what follows from them.

use serde_json::{Map, Value, json};

use crate::meter::{median, round};

/// The processes whose CPU time is measured. The generator is also the merchants' systems.
const PROCESSES: [&str; 5] = ["generator", "service", "coordinator", "worker_1", "worker_2"];

/// The bars: the most that the databases of a cluster may cost, compared with one PostgreSQL, and the least that a second worker adds,
/// as a share of the first one.
const AT_MOST: [(&str, f64); 2] = [("intake_overhead", 1.7), ("delivery_overhead", 2.5)];
const AT_LEAST: [(&str, f64); 2] = [("second_worker_orders", 0.8), ("second_worker_messages", 0.8)];

/// One measurement.
pub(super) struct Measured {
    pub(super) per_s: f64,
    /// CPU seconds per 1,000 orders or messages, of each of the [`PROCESSES`].
    pub(super) cpu: [f64; PROCESSES.len()],
}

impl Measured {
    /// Prints it.
    pub(super) fn show(&self, round: usize, side: &str, what: &str) {
        let [generator, service, coordinator, worker_1, worker_2] = self.cpu;
        println!(
            "round {round}  {side:5}  {what:26} {:>8.0}/s   CPU s/1000: generator {generator:.4} service {service:.4} coordinator {coordinator:.4} worker 1 {worker_1:.4} worker 2 {worker_2:.4}",
            self.per_s
        );
    }

    /// The databases together.
    fn databases(&self) -> f64 {
        let [_, _, coordinator, worker_1, worker_2] = self.cpu;
        coordinator + worker_1 + worker_2
    }

    fn first_worker(&self) -> f64 {
        let [.., worker_1, _] = self.cpu;
        worker_1
    }

    fn busier_worker(&self) -> f64 {
        let [.., worker_1, worker_2] = self.cpu;
        worker_1.max(worker_2)
    }
}

/// All measurements of a side.
#[derive(Default)]
pub(super) struct Runs {
    pub(super) bulk: Vec<Measured>,
    pub(super) single: Vec<Measured>,
    pub(super) messages: Vec<Measured>,
}

impl Runs {
    /// Adds the medians to the result, each under the name of the side.
    fn tell(&self, side: &str, result: &mut Map<String, Value>) {
        for (kind, runs) in [("bulk", &self.bulk), ("single", &self.single), ("messages", &self.messages)] {
            result.insert(format!("{side}_{kind}_per_s"), json!(round(middle(runs, |run| run.per_s), 0)));
            let mut cpu = Map::new();
            for (at, process) in PROCESSES.iter().enumerate() {
                let spent = middle(runs, |run| run.cpu.get(at).copied().unwrap_or_default());
                cpu.insert((*process).to_owned(), json!(round(spent, 4)));
            }
            result.insert(format!("{side}_{kind}_cpu_s_per_1000"), Value::Object(cpu));
        }
    }
}

/// The median of a figure.
fn middle(runs: &[Measured], figure: impl Fn(&Measured) -> f64) -> f64 {
    median(runs.iter().map(figure).collect())
}

/// The cost of the databases in one cell of a cluster, compared with one PostgreSQL.
fn overhead(plain: &[Measured], one: &[Measured]) -> f64 {
    middle(one, Measured::databases) / middle(plain, Measured::databases)
}

/// The work that a second worker adds, as a share of the first one's. The busier worker is the limit of both.
fn second_worker(one: &[Measured], two: &[Measured]) -> f64 {
    middle(one, Measured::first_worker) / middle(two, Measured::busier_worker) - 1.0
}

/// The medians, and their comparison with the bars, which is printed. A missed bar fails nothing.
pub(super) fn report(plain: &Runs, one: &Runs, two: &Runs) -> Value {
    let mut result = Map::new();
    result.insert("bench".to_owned(), json!("citus"));
    for (side, runs) in [("plain", plain), ("one", one), ("two", two)] {
        runs.tell(side, &mut result);
    }
    for (name, figure) in [
        ("intake_overhead", overhead(&plain.bulk, &one.bulk)),
        ("single_overhead", overhead(&plain.single, &one.single)),
        ("delivery_overhead", overhead(&plain.messages, &one.messages)),
        ("second_worker_orders", second_worker(&one.bulk, &two.bulk)),
        ("second_worker_messages", second_worker(&one.messages, &two.messages)),
    ] {
        result.insert(name.to_owned(), json!(round(figure, 3)));
    }
    let figure = |name: &str| result.get(name).and_then(Value::as_f64).unwrap_or(f64::NAN);
    for (name, bar) in AT_MOST {
        show(name, figure(name), bar, figure(name) <= bar);
    }
    for (name, bar) in AT_LEAST {
        show(name, figure(name), bar, figure(name) >= bar);
    }
    Value::Object(result)
}

fn show(name: &str, figure: f64, bar: f64, met: bool) {
    println!("{name:22} {figure:>8.3}   bar {bar:>6}   {}", if met { "met" } else { "MISSED" });
}
