//! `bench-variants`: a healthy merchant next to one whose variants endpoint hangs.
//!
//! Shoppers of the failing merchant keep asking for exchange options. In turn, its system answers at once, or half of its calls
//! hang and the others take nearly as long as a shopper waits. That keeps its slots busy and its circuit breaker mostly closed.
//! Meanwhile the healthy merchant's orders are pushed and its shoppers ask for options, each for a new order, so that its
//! system is called every time. The latencies of both are measured.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use backhaul::flow::messages::configure_endpoint::{EndpointChange, set_endpoint};
use domain::id::MerchantId;
use domain::messages::message::Interface;
use sandbox::merchant::{Answer, Merchant as Systems};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::meter::{median, percentile, round};
use crate::orders::load::Connection;
use crate::orders::order;
use crate::stage::Stage;

/// The size of the measurements.
pub(crate) struct Plan {
    /// The length of each measurement.
    pub(crate) duration: Duration,
    /// Measurements with the failing system, and as many without; the medians count.
    pub(crate) rounds: usize,
    /// Shoppers of the failing merchant.
    pub(crate) shoppers: u64,
}

/// Orders per merchant, each with its own variant identifier.
const ORDERS: u64 = 20_000;
/// Measured clients: each asks for options and pushes an order, in turn.
const MEASURED: u64 = 4;
/// A shopper's pause before asking again.
const THINKS: Duration = Duration::from_millis(250);
/// The longest a shopper waits for variants, and the allowance for overhead on a busy machine.
const WAITS: Duration = Duration::from_secs(3);
const TOLERANCE: Duration = Duration::from_millis(500);
/// The duration of a slow call. A shopper that did not have to wait for a slot gets the answer just in time.
const SLOW: Duration = Duration::from_millis(2_500);
/// The fewest rounds for meaningful medians.
const ENOUGH_ROUNDS: usize = 5;
/// The bars for the healthy merchant: a ratio or an added latency, whichever allows more.
const MOST_RATIO: f64 = 1.5;
const MOST_ADDED_MS: f64 = 10.0;

/// The merchants' numbers on the stage.
const HEALTHY: usize = 0;
const TROUBLED: usize = 1;

struct Bench {
    stage: Stage,
    systems: Systems,
    /// The next order to ask about, so that none is used twice.
    next: Arc<AtomicU64>,
}

/// Latencies in microseconds, sorted.
#[derive(Default)]
struct Measured {
    options: Vec<u32>,
    orders: Vec<u32>,
    /// Waits at the failing merchant.
    waits: Vec<u32>,
}

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL, two merchants with {ORDERS} orders each …");
    let bench = Bench { stage: Stage::set(program).await?, systems: Systems::start().await?, next: Arc::default() };
    bench.systems.keep_bodies(false);
    let service = bench.stage.serve()?;
    service.ready().await?;
    for merchant in [HEALTHY, TROUBLED] {
        bench.equip(service.address, merchant).await?;
    }
    drop(service);
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    let mut longest: f64 = 0.0;
    for at in 0..plan.rounds {
        for (trouble, measured) in [(false, &mut alone), (true, &mut beside)] {
            let now = bench.measure(plan, trouble).await?;
            let (options, orders) = (percentile(&now.options, 0.99), percentile(&now.orders, 0.99));
            let wait = percentile(&now.waits, 1.0);
            let what = if trouble { "beside one in trouble" } else { "both are well" };
            println!(
                "round {}  {what:22} options p99 {options:>7.2} ms   orders p99 {orders:>7.2} ms   longest wait {wait:>8.2} ms",
                at + 1
            );
            if trouble && wait < SLOW.as_secs_f64() * 1_000.0 {
                bail!("no shopper had to wait for the failing merchant, so its system was not called");
            }
            longest = longest.max(wait);
            measured.push((options, orders));
        }
    }
    let options = |runs: &[(f64, f64)]| median(runs.iter().map(|(options, _)| *options).collect());
    let orders = |runs: &[(f64, f64)]| median(runs.iter().map(|(_, orders)| *orders).collect());
    let pairs = [("options", options(&alone), options(&beside)), ("orders", orders(&alone), orders(&beside))];
    for (what, without, with) in pairs {
        if plan.rounds >= ENOUGH_ROUNDS && with > without * MOST_RATIO && with > without + MOST_ADDED_MS {
            bail!("p99 of {what} grew from {without:.2} to {with:.2} ms next to a failing merchant");
        }
    }
    // The short form runs with the development build on a busy machine, so it is allowed more.
    let tolerance = if plan.rounds >= ENOUGH_ROUNDS { TOLERANCE } else { TOLERANCE * 4 };
    if longest > (WAITS + tolerance).as_secs_f64() * 1_000.0 {
        bail!("a shopper waited {longest:.0} ms, which is too long");
    }
    let [(_, options, options_beside), (_, orders, orders_beside)] = pairs;
    Ok(json!({
        "bench": "variants", "rounds": plan.rounds, "shoppers": plan.shoppers,
        "options_p99_ms": round(options, 2), "options_p99_beside_ms": round(options_beside, 2),
        "options_p99_ratio": round(options_beside / options, 3), "options_p99_added_ms": round(options_beside - options, 2),
        "orders_p99_ms": round(orders, 2), "orders_p99_beside_ms": round(orders_beside, 2),
        "orders_p99_ratio": round(orders_beside / orders, 3), "orders_p99_added_ms": round(orders_beside - orders, 2),
        "longest_wait_ms": round(longest, 1),
    }))
}

impl Bench {
    /// Sets up a merchant with orders, an endpoint for variants, and one for exchange orders, without which no exchange is offered.
    async fn equip(&self, address: SocketAddr, merchant: usize) -> anyhow::Result<()> {
        let app = self.stage.app()?;
        let id = MerchantId(*self.stage.merchants.get(merchant).context("there is no such merchant")?);
        for interface in [Interface::ExchangeVariants, Interface::ExchangeOrder] {
            let url = self.systems.url(&format!("{merchant}{}", interface.path()));
            let change = EndpointChange { url: Some(url), per_second: Some(100_000), ..EndpointChange::default() };
            set_endpoint(&app, "proof", id, interface, change).await?;
        }
        app.cell().close().await;
        let token = self.stage.tokens.get(merchant).context("the merchant has no token")?;
        let mut connection = Connection::open(address).await.context("the service does not listen")?;
        for first in (0..ORDERS).step_by(100) {
            let orders: Vec<String> =
                (first..(first + 100).min(ORDERS)).map(|number| order::text(number, 0).replace("V-SHOE", &format!("V-{number}"))).collect();
            let body = format!(r#"{{"returns_portal_order":{{"orders":[{}]}}}}"#, orders.join(","));
            let head = "POST /returns_portal_orders HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json";
            let request = format!("{head}\r\nAuthorization: Bearer {token}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            if connection.exchange(request.as_bytes()).await != Some(200) {
                bail!("the service refused the sample orders");
            }
        }
        Ok(())
    }

    async fn measure(&self, plan: &Plan, trouble: bool) -> anyhow::Result<Measured> {
        let variant = json!([{ "sku": "SHOE-43", "unit_price_amount_cents": 5_000, "quantity_in_stock": 3 }]);
        let well = Answer::ok().json(&variant);
        self.systems.answer("/", well.clone());
        if trouble {
            let slow = well.delay(SLOW);
            self.systems
                .answer_by(&format!("/{TROUBLED}"), move |received| if received.number() % 2 == 0 { Answer::hang() } else { slow.clone() });
        } else {
            self.systems.answer(&format!("/{TROUBLED}"), well);
        }
        let service = self.stage.serve()?;
        service.ready().await?;
        let until = Instant::now() + plan.duration;
        let mut shoppers = JoinSet::new();
        for _ in 0..plan.shoppers {
            shoppers.spawn(self.shopper(service.address, TROUBLED).asks(until));
        }
        let mut measured = JoinSet::new();
        for _ in 0..MEASURED {
            measured.spawn(self.shopper(service.address, HEALTHY).asks_and_pushes(until));
        }
        let mut all = Measured::default();
        while let Some(part) = measured.join_next().await {
            let (options, orders) = part?.context("the service did not answer the healthy merchant")?;
            all.options.extend(options);
            all.orders.extend(orders);
        }
        while let Some(waits) = shoppers.join_next().await {
            all.waits.extend(waits?.context("the service did not answer the failing merchant")?);
        }
        self.systems.release();
        [&mut all.options, &mut all.orders, &mut all.waits].into_iter().for_each(|times| times.sort_unstable());
        Ok(all)
    }

    fn shopper(&self, address: SocketAddr, merchant: usize) -> Shopper {
        let token = self.stage.tokens.get(merchant).cloned().unwrap_or_default();
        Shopper { address, token, next: Arc::clone(&self.next) }
    }
}

/// A shopper who returns things.
struct Shopper {
    address: SocketAddr,
    token: String,
    next: Arc<AtomicU64>,
}

impl Shopper {
    /// Asks for the exchange options of the next order. Returns the status and the latency.
    async fn ask(&self, connection: &mut Connection) -> Option<(u16, u32)> {
        let number = self.next.fetch_add(1, Ordering::Relaxed) % ORDERS;
        let request = format!(
            "GET /v1/orders/{number:012}/lines/L1/exchange_options?reason=TOO_SMALL HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n",
            self.token
        );
        let began = Instant::now();
        let status = connection.exchange(request.as_bytes()).await?;
        Some((status, micros(began)))
    }

    /// Asks and pauses in turn. Returns the latencies of all responses, whatever their status.
    async fn asks(self, until: Instant) -> Option<Vec<u32>> {
        let (mut connection, mut waits) = (Connection::open(self.address).await?, Vec::new());
        while Instant::now() < until {
            waits.push(self.ask(&mut connection).await?.1);
            tokio::time::sleep(THINKS).await;
        }
        Some(waits)
    }

    /// Asks and pushes an order in turn. Every response must be a success.
    async fn asks_and_pushes(self, until: Instant) -> Option<(Vec<u32>, Vec<u32>)> {
        let mut connection = Connection::open(self.address).await?;
        let mut request = order::Request::new(1, self.token.len());
        let (mut options, mut orders) = (Vec::new(), Vec::new());
        while Instant::now() < until {
            let (status, took) = self.ask(&mut connection).await?;
            (status == 200).then(|| options.push(took))?;
            let number = ORDERS + self.next.fetch_add(1, Ordering::Relaxed);
            let pushed = request.fill(&self.token, std::iter::once(number), 0);
            let began = Instant::now();
            (connection.exchange(pushed).await? == 200).then(|| orders.push(micros(began)))?;
            tokio::time::sleep(THINKS / 50).await;
        }
        Some((options, orders))
    }
}

fn micros(since: Instant) -> u32 {
    u32::try_from(since.elapsed().as_micros()).unwrap_or(u32::MAX)
}
