//! `bench-portal`: shoppers walk the whole road at a steady rate beside order intake at half its own rate, with many orders stored.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::browser::Browser;
use super::orders;
use super::road::{PAGES, Seen, Walk, offer_gift_cards};
use super::server_time::ServerTime;
use crate::messages::owing::{Receiver, Target};
use crate::meter::{of, percentile, round};
use crate::orders::intake::{FRESH, measure, preload};
use crate::orders::load::{self, Load, Outcome};
use crate::stage::{Service, Stage};

/// The size of the measurement.
pub(crate) struct Plan {
    /// Orders stored.
    pub(crate) orders: u64,
    /// Pages shown per second, over all shoppers.
    pub(crate) pages_per_second: u32,
    pub(crate) duration: Duration,
}

/// Merchants with shoppers.
const SHOPS: usize = 100;
/// The time between two pages of a shopper.
const THINKS: Duration = Duration::from_millis(500);
/// The length of the measurement of intake alone.
const INTAKE_ALONE: Duration = Duration::from_secs(10);
/// Warms up caches and query plans.
const WARM_UP: Duration = Duration::from_secs(5);

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL, {SHOPS} merchants with gift cards and endpoints …");
    let stage = Stage::set(program).await?;
    let app = stage.app()?;
    let receiver = Receiver::start().await?;
    Target::set_all(&app, &stage, 0..SHOPS, &receiver.systems, 4).await?;
    offer_gift_cards(&app, &stage, SHOPS, &receiver.systems).await?;
    let service = stage.serve()?;
    service.ready().await?;
    println!("Storing {} orders …", plan.orders);
    preload(&stage, plan.orders).await?;
    let warm_up = Shoppers::publish(&stage, &service, plan.pages_per_second, WARM_UP, "W").await?;
    let shoppers = Shoppers::publish(&stage, &service, plan.pages_per_second, plan.duration, "P").await?;

    let intake = Load { connections: 64, orders: 1, duration: WARM_UP, numbers: FRESH };
    measure(&stage, &service, &intake, 99).await?;
    warm_up.walk(&service).await?;
    let alone = measure(&stage, &service, &Load { duration: INTAKE_ALONE, ..intake.clone() }, 1).await?.orders_per_second;
    println!("Intake alone: {alone:.0} orders/s. Now at half of that, beside {} pages/s …", plan.pages_per_second);

    let before = ServerTime::read(service.admin).await?;
    let every = Duration::from_secs_f64(of(intake.connections) / (alone / 2.0));
    let tokens = Arc::new(stage.tokens.clone());
    let beside = Load { duration: plan.duration + THINKS * PAGES, ..intake };
    let beside = tokio::spawn(async move { load::drive_every(service.address, &tokens, &beside, 2, every).await });
    let began = Instant::now();
    let seen = shoppers.walk(&service).await?;
    let elapsed = began.elapsed().saturating_sub(THINKS * (PAGES - 1));
    let server = ServerTime::read(service.admin).await?.since(&before);
    let beside = beside.await?;
    ensure!(beside.refused == 0, "{} orders were refused or not answered", beside.refused);
    show(&seen, &server);
    Ok(result(plan, &seen, elapsed, &server, alone, &beside))
}

/// Shoppers who set out one after the other, each with an order.
struct Shoppers {
    orders: Vec<(usize, String)>,
    every: Duration,
}

impl Shoppers {
    /// Publishes the orders of as many shoppers as show this many pages a second.
    async fn publish(stage: &Stage, service: &Service, pages: u32, duration: Duration, prefix: &str) -> anyhow::Result<Self> {
        let every = Duration::from_secs(u64::from(PAGES)) / pages;
        let count = usize::try_from(duration.as_nanos() / every.as_nanos())?;
        let numbered = |number: usize| (number % SHOPS, format!("{prefix}-{number:06}"));
        let orders: Vec<(usize, String)> = (0..count).map(numbered).collect();
        for shop in 0..SHOPS {
            let own: Vec<String> = orders.iter().filter(|(of, _)| *of == shop).map(|(_, order)| order.clone()).collect();
            orders::publish(stage, service.address, shop, &own).await?;
        }
        Ok(Self { orders, every })
    }

    /// Lets them walk the whole road. Returns their requests.
    async fn walk(self, service: &Service) -> anyhow::Result<Vec<Seen>> {
        let (mut walks, mut seen, mut due) = (JoinSet::new(), Vec::new(), Instant::now());
        for (shop, order) in self.orders {
            walks.spawn(Walk::new(Browser::new(service.address, shop), order, due, THINKS).finish());
            due += self.every;
        }
        while let Some(walk) = walks.join_next().await {
            seen.extend(walk??.seen);
        }
        Ok(seen)
    }
}

/// Sorted times of requests.
fn sorted(times: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut times: Vec<u32> = times.collect();
    times.sort_unstable();
    times
}

fn show(seen: &[Seen], server: &ServerTime) {
    let mut pages: BTreeMap<&str, Vec<&Seen>> = BTreeMap::new();
    for seen in seen {
        pages.entry(&seen.what).or_default().push(seen);
    }
    println!("{:28} {:>8} {:>10} {:>10} {:>10}", "at the client", "requests", "p50 ms", "p99 ms", "most ms");
    for (what, seen) in pages {
        let times = sorted(seen.into_iter().map(|seen| seen.took));
        let [half, most, all] = [0.5, 0.99, 1.0].map(|share| percentile(&times, share));
        println!("{what:28} {:>8} {half:>10.2} {most:>10.2} {all:>10.2}", times.len());
    }
    println!("{:36} {:>8} {:>10}", "in the service", "requests", "p99 ms");
    for (route, times) in server.routes() {
        println!("{route:36} {:>8} {:>10.2}", times.count(), times.percentile(0.99));
    }
}

fn result(plan: &Plan, seen: &[Seen], elapsed: Duration, server: &ServerTime, alone: f64, beside: &Outcome) -> Value {
    let all = sorted(seen.iter().map(|seen| seen.took));
    let answered_in = sorted(seen.iter().map(|seen| seen.answered_in));
    let shown = seen.iter().filter(|seen| seen.shown).count();
    json!({
        "bench": "portal", "orders": plan.orders, "pages": shown, "requests": seen.len(),
        "pages_per_s": round(of(shown) / elapsed.as_secs_f64(), 1), "requests_per_s": round(of(seen.len()) / elapsed.as_secs_f64(), 1),
        "p50_ms": round(percentile(&all, 0.5), 2), "p99_ms": round(percentile(&all, 0.99), 2),
        "p99_from_sending_ms": round(percentile(&answered_in, 0.99), 2),
        "server_p99_ms": round(server.percentile(0.99), 2),
        "intake_alone_per_s": round(alone, 0), "intake_per_s": round(beside.rate(), 0),
        "intake_p99_ms": round(percentile(&beside.latencies, 0.99), 2),
    })
}
