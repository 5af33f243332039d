//! `chaos-exchanges`: hundreds of shoppers confirm the same exchange at once, and merchants fail before and after placing an
//! order, while the service is killed again and again. Every order must be exchanged once, with one request body, and no order
//! may be both exchanged and refunded.
//!
//! - The shoppers (`confirm.rs`), who repeat requests that got no answer.
//! - The behaviour of the merchants' systems (`temper.rs`).
//! - The checker (`history.rs`) of the answers to shoppers, the orders placed, the messages to merchants and the database, and
//!   the faults it must find (`faults.rs`).

mod confirm;
mod faults;
mod history;
mod temper;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use backhaul::app::App;
use backhaul::flow::messages::configure_endpoint::{EndpointChange, set_endpoint};
use backhaul::flow::messages::retry_failures::{RetryRequest, retry_failures};
use backhaul::flow::returns::set_policy::{self, set_policy};
use domain::id::MerchantId;
use domain::messages::message::{Interface, Kind};
use domain::money::Cents;
use domain::returns::rma::policy::GiftCardTerms;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use sandbox::merchant::{ExchangeOrders, Merchant, Mood, OnShelf};
use serde_json::Value;
use sqlx::PgConnection;
use tokio::task::JoinSet;

use self::confirm::{Confirmed, SHOPS, Shopper};
use self::history::{ExchangeMessage, History, Kills, Stored, check};
use crate::messages::witness::SEED;
use crate::stage::{Service, Stage};

/// The size of a run.
pub(crate) struct Plan {
    /// Orders exchanged while merchants are unreliable.
    pub(crate) orders: u64,
    /// Concurrent confirmations per order.
    pub(crate) confirmations: u64,
    /// Further orders that are refused, some of them after they were placed.
    pub(crate) refused: u64,
    /// The fewest kills; they continue until all orders are confirmed.
    pub(crate) kills: u32,
    /// The average time between kills.
    pub(crate) every: Duration,
}

/// Orders confirmed at the same time.
const AT_A_TIME: usize = 8;
/// The service's timeout for calls.
const CALL_TIMEOUT_MS: &str = "1500";
/// The timeout for settling everything after the last kill.
const SETTLED_WITHIN: Duration = Duration::from_mins(4);

/// The stage, the merchants' systems, and the messages they received.
pub(crate) struct Scene {
    stage: Arc<Stage>,
    app: App,
    systems: Vec<(Merchant, ExchangeOrders)>,
    messages: Arc<Mutex<Vec<ExchangeMessage>>>,
}

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL, {SHOPS} merchants that offer exchanges …");
    let scene = Scene::set(program).await?;
    let mut service = scene.serve(None)?;
    service.ready().await?;
    let started = Instant::now();

    println!("Confirming {} orders, {} times each at once, with kills of the service …", plan.orders, plan.confirmations);
    let shoppers = Shopper::all(0..plan.orders, plan.confirmations, &scene.stage, service.address);
    let (mut confirmed, mut kills) = scene.confirm(shoppers, plan, &mut service).await?;
    scene.settle().await?;

    println!("Confirming {} more orders, which merchants refuse, some of them after placing them …", plan.refused);
    let end = plan.orders + plan.refused;
    let shoppers = Shopper::all(plan.orders..end, 1, &scene.stage, service.address);
    scene.refuse(plan.orders);
    let (more, more_kills) = scene.confirm(shoppers, plan, &mut service).await?;
    confirmed.extend(more);
    kills = Kills { all: kills.all + more_kills.all, amid: kills.amid + more_kills.amid };
    scene.settle().await?;
    let mut connection = scene.stage.connect().await?;
    let in_doubt = scene.history(&mut connection, confirmed.clone()).await?;
    check(&in_doubt).ensure_sound()?;

    println!("Retrying the exchanges in doubt …");
    scene.accept_all();
    scene.retry().await?;
    scene.settle().await?;
    service.leave().await?;
    let history = scene.history(&mut connection, confirmed).await?;
    let result = check(&history).result(kills, faults::caught(&history), started.elapsed());
    check(&history).ensure(usize::try_from(plan.orders)?, &result)?;
    Ok(result)
}

impl Scene {
    async fn set(program: &Path) -> anyhow::Result<Self> {
        let stage = Arc::new(Stage::set(program).await?);
        let app = stage.app()?;
        let (mut systems, messages) = (Vec::new(), Arc::new(Mutex::new(Vec::new())));
        for shop in 0..SHOPS {
            let merchant = Merchant::start().await?;
            merchant.has_variants("V-SHOE", [OnShelf::new("SHOE-43", "43", 5_000).stock(1_000_000)]);
            let orders = merchant.places_exchange_orders("/exchange_orders");
            orders.mood_by(temper::unreliable(shop));
            listen(&merchant, &messages, shop);
            open(&app, &stage, shop, &merchant).await?;
            systems.push((merchant, orders));
        }
        Ok(Self { stage, app, systems, messages })
    }

    /// Starts the service, at the addresses of `again` if it ran before.
    fn serve(&self, again: Option<&Service>) -> anyhow::Result<Service> {
        let variables = [("BACKHAUL__OUTBOUND__CALL_TIMEOUT_MS", CALL_TIMEOUT_MS)];
        let (address, admin) = match again {
            Some(service) => (service.address, service.admin),
            None => (crate::stage::free()?, crate::stage::free()?),
        };
        self.stage.serve_with(address, admin, &variables)
    }

    /// Lets shoppers confirm, a few orders at a time, and kills the service meanwhile. Returns the confirmations and the number of
    /// kills.
    async fn confirm(&self, shoppers: Vec<Shopper>, plan: &Plan, service: &mut Service) -> anyhow::Result<(Vec<Confirmed>, Kills)> {
        let (mut waiting, mut at_work) = (shoppers.into_iter(), JoinSet::new());
        let (mut confirmed, mut kills, mut chance) = (Vec::new(), Kills::default(), StdRng::seed_from_u64(SEED));
        at_work.spawn(waiting.next().context("there are no shoppers")?.confirm());
        // The first kill comes early, so that it hits even a short run.
        let mut next_kill = tokio::time::Instant::now() + plan.every.mul_f64(chance.random_range(0.1..0.5));
        while !at_work.is_empty() || kills.all < plan.kills {
            while at_work.len() < AT_A_TIME
                && let Some(shopper) = waiting.next()
            {
                at_work.spawn(shopper.confirm());
            }
            tokio::select! {
                Some(done) = at_work.join_next(), if !at_work.is_empty() => confirmed.push(done??),
                () = tokio::time::sleep_until(next_kill) => {
                    service.kill();
                    *service = self.serve(Some(service))?;
                    service.ready().await?;
                    kills.all += 1;
                    kills.amid += u32::from(!at_work.is_empty());
                    println!("{} kills, {} orders confirmed", kills.all, confirmed.len());
                    next_kill = tokio::time::Instant::now() + plan.every.mul_f64(chance.random_range(0.5..1.5));
                }
            }
        }
        Ok((confirmed, kills))
    }

    /// Makes merchants refuse the orders from number `from` on.
    fn refuse(&self, from: u64) {
        for (shop, (_, orders)) in self.systems.iter().enumerate() {
            orders.mood_by(temper::refusing(shop, from));
        }
    }

    fn accept_all(&self) {
        self.systems.iter().for_each(|(_, orders)| orders.mood(Mood::Willing));
    }

    /// Waits until nothing is owed. After the timeout, the checker reports what is missing.
    async fn settle(&self) -> anyhow::Result<()> {
        let (started, mut connection) = (Instant::now(), self.stage.connect().await?);
        while started.elapsed() < SETTLED_WITHIN {
            let owed: i64 = sqlx::query_scalar("select count(*) from delivery").fetch_one(&mut connection).await?;
            if owed == 0 {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        println!("some messages are still owed after {} s", SETTLED_WITHIN.as_secs());
        Ok(())
    }

    /// Retries everything in the failure queue.
    async fn retry(&self) -> anyhow::Result<()> {
        let mut connection = self.stage.connect().await?;
        for merchant in self.stage.merchants.iter().take(SHOPS) {
            let given_up = "select count(*) from failure where merchant_id = $1 and state = 'open'";
            let given_up: i64 = sqlx::query_scalar(given_up).bind(merchant).fetch_one(&mut connection).await?;
            if given_up > 0 {
                let request = RetryRequest { kind: Kind::Of(Interface::ExchangeOrder), since: None, per_second: None };
                retry_failures(&self.app, "proof", MerchantId(*merchant), request).await?;
            }
        }
        let started = Instant::now();
        let at_work = "select count(*) from retry_job where ended_at is null";
        while started.elapsed() < SETTLED_WITHIN && sqlx::query_scalar::<_, i64>(at_work).fetch_one(&mut connection).await? > 0 {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        Ok(())
    }

    async fn history(&self, connection: &mut PgConnection, confirmed: Vec<Confirmed>) -> anyhow::Result<History> {
        let placed = self
            .systems
            .iter()
            .enumerate()
            .flat_map(|(shop, (_, orders))| orders.orders().into_iter().map(move |(original, order)| ((shop, original), order)));
        let messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(History { confirmed, placed: placed.collect(), stored: Stored::read(connection, &self.stage.merchants).await?, messages })
    }
}

/// Records the messages to the merchant `shop` about its returns.
fn listen(systems: &Merchant, messages: &Arc<Mutex<Vec<ExchangeMessage>>>, shop: usize) {
    let messages = Arc::clone(messages);
    systems.answer_by("/rmas", move |received| {
        messages.lock().unwrap_or_else(PoisonError::into_inner).push(ExchangeMessage::of(shop, received));
        sandbox::merchant::Answer::ok()
    });
}

/// Sets up the endpoints of the merchant `shop`, with short retry intervals, and its gift cards.
async fn open(app: &App, stage: &Stage, shop: usize, systems: &Merchant) -> anyhow::Result<()> {
    let merchant = MerchantId(*stage.merchants.get(shop).context("there is no such merchant")?);
    for interface in [Interface::Rma, Interface::ExchangeVariants, Interface::ExchangeOrder] {
        let url = Some(systems.url(interface.path()));
        let waits = (interface != Interface::ExchangeVariants).then(|| vec![1, 1, 1, 2, 2]);
        let change = EndpointChange { url, per_second: Some(10_000), slots: Some(50), waits, ..EndpointChange::default() };
        set_endpoint(app, "proof", merchant, interface, change).await?;
    }
    let gift_card = Some(Some(GiftCardTerms { sku: "GIFT-CARD".to_owned(), bonus: Cents::new(500).unwrap_or_default() }));
    set_policy(app, "proof", merchant, set_policy::PolicyChange { gift_card, ..set_policy::PolicyChange::default() }).await?;
    Ok(())
}
