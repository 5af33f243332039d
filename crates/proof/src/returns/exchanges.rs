//! `chaos-exchanges`: hundreds of shoppers confirm the same exchange at once, merchants fail before and after placing an order or do
//! not name it, and people settle what ends in the failure queue, while the service is killed again and again. Every order must be
//! exchanged once, with one request body, no order may be both exchanged and refunded, and none is refunded by itself.
//!
//! - The shoppers (`confirm.rs`) and the people (`people.rs`), whose requests (`caller.rs`) are repeated until they are answered.
//! - The behaviour of the merchants' systems (`temper.rs`).
//! - The checker (`history.rs`) of the answers to shoppers, the orders placed, the messages to merchants and the database, and
//!   the faults it must find (`faults.rs`).

mod caller;
mod confirm;
mod faults;
mod history;
mod people;
mod temper;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use backhaul::app::App;
use backhaul::flow::messages::configure_endpoint::{EndpointChange, set_endpoint};
use backhaul::flow::returns::set_policy::{self, set_policy};
use domain::id::MerchantId;
use domain::messages::message::Interface;
use domain::money::Cents;
use domain::returns::rma::policy::GiftCardTerms;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use sandbox::merchant::{ExchangeOrders, Merchant, Mood, OnShelf};
use serde_json::Value;
use sqlx::PgConnection;
use tokio::task::JoinSet;

use self::caller::Caller;
use self::confirm::{Confirmed, SHOPS, Shopper};
use self::history::{ExchangeMessage, History, Key, Kills, Stored, StoredExchange, check};
use self::people::Action;
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

    let mut connection = scene.stage.connect().await?;
    let nameless = scene.open(&mut connection, |exchange| exchange.state == "placed" && exchange.order_identifier.is_none()).await?;
    println!("Naming the {} orders that were placed without a name …", nameless.len());
    ensure!(!nameless.is_empty(), "every order was named at once");
    let actions = nameless.into_iter().map(|(key, exchange)| (people::name(&key.1), key, exchange)).collect();
    kills.add(scene.act(actions, &mut service).await?);
    scene.settle().await?;

    println!("Confirming {} more orders, which merchants refuse, some of them after placing them …", plan.refused);
    let end = plan.orders + plan.refused;
    let shoppers = Shopper::all(plan.orders..end, 1, &scene.stage, service.address);
    scene.refuse(plan.orders);
    let (more, more_kills) = scene.confirm(shoppers, plan, &mut service).await?;
    confirmed.extend(more);
    kills.add(more_kills);
    scene.settle().await?;
    let in_doubt = scene.history(&mut connection, confirmed.clone(), BTreeSet::new()).await?;
    check(&in_doubt).ensure_sound()?;

    println!("Retrying, recording and converting the exchanges in the failure queue …");
    scene.accept_all();
    let open = scene.open(&mut connection, |exchange| exchange.given_up).await?;
    let of_exchange = |(key, exchange): (Key, StoredExchange)| {
        people::resolve(&key.1, &exchange).into_iter().map(move |action| (action, key.clone(), exchange.clone()))
    };
    let actions: Vec<(Action, Key, StoredExchange)> = open.into_iter().flat_map(of_exchange).collect();
    let asked_to_convert = actions.iter().filter(|(action, _, _)| *action == Action::Convert).map(|(_, key, _)| key.clone()).collect();
    kills.add(scene.act(actions, &mut service).await?);
    scene.settle().await?;
    service.leave().await?;
    let history = scene.history(&mut connection, confirmed, asked_to_convert).await?;
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
        Ok(Self { stage, systems, messages })
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

    /// The stored exchanges that are `wanted`.
    async fn open(
        &self,
        connection: &mut PgConnection,
        wanted: impl Fn(&StoredExchange) -> bool,
    ) -> anyhow::Result<Vec<(Key, StoredExchange)>> {
        let stored = Stored::read(connection, &self.stage.merchants).await?;
        let all = stored.exchanges.into_iter().flat_map(|(key, of)| of.into_iter().map(move |exchange| (key.clone(), exchange)));
        Ok(all.filter(|(_, exchange)| wanted(exchange)).collect())
    }

    /// Lets people act on exchanges, all at once, and kills the service meanwhile.
    async fn act(&self, actions: Vec<(Action, Key, StoredExchange)>, service: &mut Service) -> anyhow::Result<Kills> {
        let mut at_work = JoinSet::new();
        for (action, key, exchange) in &actions {
            let caller = Caller { stage: Arc::clone(&self.stage), address: service.address, shop: key.0 };
            people::act(&mut at_work, &caller, key, &exchange.rma, *action);
        }
        tokio::time::sleep(people::KILLED_AFTER).await;
        service.kill();
        *service = self.serve(Some(service))?;
        service.ready().await?;
        while let Some(done) = at_work.join_next().await {
            done??;
        }
        Ok(Kills { all: 1, amid: 0 })
    }

    async fn history(
        &self,
        connection: &mut PgConnection,
        confirmed: Vec<Confirmed>,
        asked_to_convert: BTreeSet<Key>,
    ) -> anyhow::Result<History> {
        let placed = self
            .systems
            .iter()
            .enumerate()
            .flat_map(|(shop, (_, orders))| orders.orders().into_iter().map(move |(original, order)| ((shop, original), order)));
        let messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let stored = Stored::read(connection, &self.stage.merchants).await?;
        Ok(History { confirmed, placed: placed.collect(), stored, messages, asked_to_convert })
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
    let refusals_are_final = Some(shop == temper::DECLARING);
    let change = set_policy::PolicyChange { gift_card, refusals_are_final, ..set_policy::PolicyChange::default() };
    set_policy(app, "proof", merchant, change).await?;
    Ok(())
}
