//! Random histories of drop-ship orders, run by the service and by a simple model, and compared after every step.
//!
//! `HISTORIES` sets the number of histories and `SEED` the first seed. A failure prints the seed that reproduces it.

use std::collections::BTreeMap;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};

use crate::world::{Merchant, World, cancelled_items, shipment};

const HISTORIES: u64 = 12;
const STEPS: u32 = 20;

/// An order in the model, unit by unit: no counting that could be wrong in the same way.
#[derive(Default)]
struct Model {
    /// The units of each item: open, shipped or cancelled.
    units: Vec<Vec<char>>,
    rejected: bool,
    /// Reports by identifier.
    named: BTreeMap<String, Value>,
    messages: u64,
}

impl Model {
    fn new(quantities: &[u32]) -> Self {
        Self { units: quantities.iter().map(|quantity| vec!['o'; *quantity as usize]).collect(), ..Self::default() }
    }

    fn has(&self, state: char) -> bool {
        self.units.iter().flatten().any(|unit| *unit == state)
    }

    fn status(&self) -> &'static str {
        match (self.has('s'), self.has('o'), self.rejected) {
            (false, true, _) => "accepted",
            (true, true, _) => "partially_shipped",
            (true, false, _) => "shipped",
            (false, false, true) => "rejected",
            (false, false, false) => "cancelled",
        }
    }

    /// Takes a report and returns the expected status of the response.
    fn take(&mut self, what: &str, report: &Value) -> u16 {
        let (list, name, to) = match what {
            "ship" => ("shipment_items", "shipment_identifier", 's'),
            "cancel_items" => ("order_items", "cancellation_identifier", 'c'),
            _ => return self.end(what == "reject"),
        };
        let name = format!("{what} {}", report[name]);
        if let Some(before) = self.named.get(&name) {
            return if before == report { 200 } else { 409 };
        }
        if !self.has('o') {
            return 409;
        }
        let mut units = self.units.clone();
        for entry in report[list].as_array().unwrap() {
            let at: usize = entry["client_identifier"].as_str().unwrap()[1..].parse().unwrap();
            for _ in 0..entry["quantity"].as_u64().unwrap() {
                let Some(open) = units[at - 1].iter_mut().find(|unit| **unit == 'o') else { return 422 };
                *open = to;
            }
        }
        self.units = units;
        self.named.insert(name, report.clone());
        self.messages += 1;
        200
    }

    fn end(&mut self, reject: bool) -> u16 {
        let done = if reject { "rejected" } else { "cancelled" };
        if self.status() == done {
            return 200;
        }
        if self.status() != "accepted" || (reject && self.has('c')) {
            return 409;
        }
        self.units.iter_mut().flatten().for_each(|unit| *unit = 'c');
        self.rejected = reject;
        self.messages += 1;
        200
    }

    /// The expected order: its status, and the units of each item.
    fn shown(&self) -> Value {
        let count = |units: &Vec<char>, state| units.iter().filter(|unit| **unit == state).count();
        let units: Vec<Value> = self.units.iter().map(|units| json!([count(units, 's'), count(units, 'c'), count(units, 'o')])).collect();
        json!([self.status(), units, self.messages])
    }
}

async fn shown(merchant: &Merchant<'_>, name: &str) -> Value {
    let order = merchant.looks_at_drop_ship(name).await;
    let units = order["units"].as_array().unwrap().iter();
    let units: Vec<Value> = units.map(|of| json!([of["shipped_quantity"], of["cancelled_quantity"], of["open_quantity"]])).collect();
    json!([order["order"]["status"], units, order["sequence"]])
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(usual)
}

#[tokio::test]
async fn drop_ship_orders_go_as_in_the_model() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let first = number("SEED", 1);
    for seed in first..first + number("HISTORIES", HISTORIES) {
        let mut rng = StdRng::seed_from_u64(seed);
        let name = format!("A-{seed}");
        let quantities: Vec<u32> = (0..rng.random_range(1..=3)).map(|_| rng.random_range(1..=4)).collect();
        merchant.has_shipped(&name, &quantities).await;
        let mut model = Model::new(&quantities);
        for step in 0..STEPS {
            let item = format!("L{}", rng.random_range(1..=quantities.len()));
            let other = format!("L{}", rng.random_range(1..=quantities.len()));
            let mut of = vec![(item.as_str(), rng.random_range(1..=2))];
            if rng.random_ratio(1, 3) {
                of.push((&other, 1));
            }
            let called = format!("N{}", rng.random_range(0..12));
            let (what, report) = match rng.random_range(0..20) {
                0 => ("cancel", json!({})),
                1 => ("reject", json!({ "reject_reason": "damaged" })),
                2..12 => ("ship", shipment(&called, &of)),
                _ => ("cancel_items", cancelled_items(&called, &of)),
            };
            let reply = merchant.warehouse_reports(&name, what, &report).await;
            assert_eq!(reply.status, model.take(what, &report), "SEED={seed} step {step}: {what} {report}: {}", reply.text);
            assert_eq!(shown(&merchant, &name).await, model.shown(), "SEED={seed} step {step}: {what} {report}");
        }
        // Keeps a long run below the request limit per minute.
        world.time_passes(Duration::from_mins(1));
    }
}
