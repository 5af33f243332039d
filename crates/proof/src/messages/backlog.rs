//! `bench-backlog`: the cost of a message while few and while many others are waiting.
//!
//! The cost is the CPU time of database and deliverer for finding, sending and settling a message. Half of the waiting
//! messages are due and half are due later. It is measured again while an old transaction keeps dead rows alive.

use std::path::Path;
use std::time::{Duration, Instant};

use chrono::TimeDelta;
use serde_json::{Value, json};
use sqlx::Connection as _;

use crate::messages::owing::{self, Receiver, Target};
use crate::meter::{self, median, of, round};
use crate::stage::Stage;

/// The size of the measurements.
pub(crate) struct Plan {
    /// Waiting messages in the large case.
    pub(crate) many: usize,
    /// Messages delivered per measurement.
    pub(crate) messages: usize,
    pub(crate) rounds: usize,
}

/// Messages left waiting in the small case.
const FEW: usize = 1_000;
/// The timeout of one measurement.
const WITHIN: Duration = Duration::from_mins(5);
/// The bar: the highest acceptable ratio of the two costs.
const BAR: f64 = 1.2;

/// The cost of a message.
struct Cost {
    per_s: f64,
    /// CPU seconds of deliverer and database per 1,000 messages.
    service: f64,
    database: f64,
}

impl Cost {
    fn sum(&self) -> f64 {
        self.service + self.database
    }
}

struct Bench {
    stage: Stage,
    receiver: Receiver,
    targets: Vec<Target>,
}

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL, 100 merchants, 50 endpoints …");
    let stage = Stage::set(program).await?;
    let (app, receiver) = (stage.app()?, Receiver::start().await?);
    let targets = Target::set_all(&app, &stage, 0..50, &receiver.systems, 10).await?;
    app.cell().close().await;
    let bench = Bench { stage, receiver, targets };

    let mut costs: [Vec<Cost>; 4] = Default::default();
    let names = ["few wait", "few wait, old transaction", "many wait", "many wait, old transaction"];
    let [few, few_held, many, many_held] = &mut costs;
    for at in 0..plan.rounds {
        let show = |name: &str, cost: &Cost| {
            let Cost { per_s, service, database } = cost;
            println!("round {}  {name:28} {per_s:>8.0}/s   CPU s/1000: service {service:.3} database {database:.3}", at + 1);
        };
        // Each measurement first delivers as many messages again to warm up; the small case has few beyond that.
        let drained = plan.messages * 2;
        for (held, into, name) in [(false, &mut *few, names[0]), (true, &mut *few_held, names[1])] {
            bench.pile_up(drained, FEW).await?;
            let cost = bench.measure(plan.messages, held).await?;
            show(name, &cost);
            into.push(cost);
        }
        println!("Adding {} waiting messages …", plan.many);
        bench.pile_up(plan.many / 2 + drained, plan.many / 2).await?;
        for (held, into, name) in [(false, &mut *many, names[2]), (true, &mut *many_held, names[3])] {
            let cost = bench.measure(plan.messages, held).await?;
            show(name, &cost);
            into.push(cost);
            bench.rest().await?;
        }
    }
    let cost = |runs: &[Cost]| median(runs.iter().map(Cost::sum).collect());
    let rate = |runs: &[Cost]| round(median(runs.iter().map(|run| run.per_s).collect()), 0);
    let [few, few_held, many, many_held] = &costs;
    let (ratio, ratio_held) = (cost(many) / cost(few), cost(many_held) / cost(few));
    for (name, figure) in [("cost_ratio", ratio), ("cost_ratio_held", ratio_held)] {
        println!("{name:16} {figure:>6.3}   bar {BAR}   {}", if figure <= BAR { "met" } else { "MISSED" });
    }
    Ok(json!({
        "bench": "backlog", "few": FEW, "many": plan.many, "messages": plan.messages, "rounds": plan.rounds,
        "few_per_s": rate(few), "many_per_s": rate(many), "many_held_per_s": rate(many_held),
        "few_cpu_s_per_1000": round(cost(few), 4), "few_held_cpu_s_per_1000": round(cost(few_held), 4),
        "many_cpu_s_per_1000": round(cost(many), 4), "many_held_cpu_s_per_1000": round(cost(many_held), 4),
        "cost_ratio": round(ratio, 3), "cost_ratio_held": round(ratio_held, 3),
    }))
}

impl Bench {
    /// Resets the tables to `due` messages that are due and `later` ones that are due in an hour.
    async fn pile_up(&self, due: usize, later: usize) -> anyhow::Result<()> {
        owing::clear(&self.stage).await?;
        let mut connection = self.stage.connect().await?;
        let app = self.stage.app()?;
        let body = r#"{"rma_identifier":"W-0","status":"TRANSIT"}"#;
        owing::pile_up(&mut connection, &self.targets, due, body, app.now() - TimeDelta::minutes(30)).await?;
        owing::pile_up(&mut connection, &self.targets, later, body, app.now() + TimeDelta::hours(1)).await?;
        app.cell().close().await;
        self.rest().await
    }

    /// Vacuums, so that every measurement starts from the same state.
    async fn rest(&self) -> anyhow::Result<()> {
        let mut connection = self.stage.connect().await?;
        for statement in [
            "update delivery_bucket set owner = null, leased_until = null",
            "delete from deliverer",
            "vacuum analyze delivery, message, delivery_bucket, deliverer",
            "checkpoint",
        ] {
            sqlx::raw_sql(statement).execute(&mut connection).await?;
        }
        Ok(())
    }

    /// Measures the delivery of `messages` waiting messages, after as many for warming up. If `held`, an older transaction stays
    /// open meanwhile.
    async fn measure(&self, messages: usize, held: bool) -> anyhow::Result<Cost> {
        self.receiver.clear();
        let mut old = self.stage.connect().await?;
        if held {
            sqlx::raw_sql("begin isolation level repeatable read; select count(*) from endpoint").execute(&mut old).await?;
        }
        let service = owing::deliver(&self.stage).await?;
        let database = self.stage.cluster()?.pid().unwrap_or_default();
        self.receiver.wait_for(messages, WITHIN).await?;
        let (before, started, first) = (meter::cpu_of_all(Some(service.pid()), database), Instant::now(), self.receiver.count());
        self.receiver.wait_for(messages * 2 - messages / 10, WITHIN).await?;
        let (elapsed, delivered) = (started.elapsed().as_secs_f64(), self.receiver.count() - first);
        let after = meter::cpu_of_all(Some(service.pid()), database);
        drop(service);
        old.close().await?;
        let [_, service, database] = meter::per_thousand(before, after, delivered);
        Ok(Cost { per_s: of(delivered) / elapsed, service, database })
    }
}
