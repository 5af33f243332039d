//! `merchant-move`: a merchant moves from one PostgreSQL to another under load, with kills of whoever moves it, and back again without.
//! Every acknowledged order and message must be there afterwards, once, and the feed without a gap.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use backhaul::app::App;
use backhaul::flow::merchants::move_merchant::{Cell, MoveStep, Moving, move_merchant};
use backhaul::flow::messages::configure_endpoint::EndpointChange;
use domain::id::MerchantId;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use sandbox::merchant::Merchant;
use serde_json::{Value, json};
use store::Failed;
use uuid::Uuid;

use crate::messages::owing::{Target, owe};
use crate::orders::load::Connection;
use crate::orders::order::{MERCHANTS, Request};
use crate::stage::Stage;

/// The size of a move, and its faults.
pub(crate) struct Plan {
    pub(crate) orders: u64,
    pub(crate) kills: usize,
}

/// Callers that publish orders, and flows that owe messages.
const WRITERS: u64 = 4;
const FLOWS: usize = 2;
/// The orders of a request that fills the stage.
const TOGETHER: u64 = 50;
/// The pause between two changes of a caller or a flow.
const EVERY: Duration = Duration::from_millis(5);
/// The time for what waits to be delivered after the last move.
const DELIVERED_WITHIN: Duration = Duration::from_mins(1);
/// The longest pause.
const MOST_PAUSE: Duration = Duration::from_secs(10);

/// What was acknowledged.
#[derive(Default)]
struct Record {
    orders: HashSet<u64>,
    messages: HashSet<Uuid>,
    /// The last acknowledgement of an order, and the longest time between two.
    last: Option<Instant>,
    longest: Duration,
}

/// Two cells, and what happens in them.
struct Scene {
    old: Stage,
    new: Stage,
    apps: [App; 2],
    target: Target,
    ended: AtomicBool,
    record: Mutex<Record>,
    next_subject: AtomicU64,
    /// The cell in which the merchant lives, as the directory says.
    lives_in: AtomicUsize,
}

impl Scene {
    fn record<T>(&self, note: impl FnOnce(&mut Record) -> T) -> T {
        note(&mut self.record.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_over(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }
}

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting up: two temporary PostgreSQL, a merchant with {} orders …", plan.orders);
    let (old, new) = (Stage::set(program).await?, Stage::set_empty(program).await?);
    let (first, second) = (old.serve()?, new.serve()?);
    first.ready().await?;
    second.ready().await?;
    let addresses = [first.address, second.address];
    let systems = Merchant::start().await?;
    let apps = [old.app()?, new.app()?];
    let target = Target::set(&apps[0], &old, 0, &systems, EndpointChange::default()).await?;
    fill(&old, addresses[0], plan.orders).await?;
    let (ended, record) = (AtomicBool::new(false), Mutex::default());
    let (next_subject, lives_in) = (AtomicU64::new(0), AtomicUsize::new(0));
    let scene = Arc::new(Scene { old, new, apps, target, ended, record, next_subject, lives_in });
    let writers: Vec<_> = (0..WRITERS).map(|writer| tokio::spawn(write(Arc::clone(&scene), addresses, plan.orders + writer))).collect();
    let flows: Vec<_> = (0..FLOWS).map(|_| tokio::spawn(change(Arc::clone(&scene)))).collect();

    let kills = move_with_kills(&scene, plan.kills).await?;
    println!("Moved, with {kills} kills; {} orders acknowledged meanwhile", scene.record(|record| record.orders.len()));
    scene.record(|record| record.longest = Duration::ZERO);
    let began = Instant::now();
    move_once(Arc::clone(&scene), true).await?;
    let took = began.elapsed();
    tokio::time::sleep(Duration::from_secs(1)).await;
    scene.ended.store(true, Ordering::SeqCst);
    for writer in writers {
        writer.await?;
    }
    for flow in flows {
        flow.await??;
    }
    let pause = scene.record(|record| record.longest);
    println!("Moved back in {} ms, paused for {} ms", took.as_millis(), pause.as_millis());
    let found = check(&scene, &systems).await?;
    let result = json!({
        "proof": "merchant-move", "orders": plan.orders, "moves": 2, "kills": kills,
        "acked": scene.record(|record| record.orders.len()), "messages": scene.record(|record| record.messages.len()),
        "lost": found.lost, "doubled": found.doubled, "feed_gaps": found.feed_gaps, "delivered_again": found.delivered_again,
        "move_ms": took.as_millis(), "pause_ms": pause.as_millis(),
    });
    ensure!(found.lost == 0 && found.doubled == 0 && found.feed_gaps == 0, "something was lost or doubled: {result}");
    ensure!(pause < MOST_PAUSE, "the pause was too long: {result}");
    Ok(result)
}

/// Publishes the orders that the merchant has before it moves.
async fn fill(stage: &Stage, address: SocketAddr, orders: u64) -> anyhow::Result<()> {
    let token = stage.token(0);
    let mut connection = Connection::open(address).await.context("the service does not answer")?;
    let mut request = Request::new(usize::try_from(TOGETHER)?, token.len());
    let mut at = 0;
    while at < orders {
        let status = connection.exchange(request.fill(token, (at..at + TOGETHER).map(|number| number * MERCHANTS), 1)).await;
        ensure!(status == Some(200), "an order was not taken: {status:?}");
        at += TOGETHER;
    }
    Ok(())
}

/// A caller: publishes new orders in the cell that takes them.
async fn write(scene: Arc<Scene>, addresses: [SocketAddr; 2], first: u64) {
    let token = scene.old.token(0).to_owned();
    let mut request = Request::new(1, token.len());
    let mut streams: [Option<Connection>; 2] = [None, None];
    let mut number = first + TOGETHER;
    while !scene.is_over() {
        let place = scene.lives_in.load(Ordering::SeqCst);
        let (Some(stream), Some(address)) = (streams.get_mut(place), addresses.get(place)) else { return };
        if stream.is_none() {
            *stream = Connection::open(*address).await;
        }
        let Some(connection) = stream else { continue };
        match connection.exchange(request.fill(&token, std::iter::once(number * MERCHANTS), 1)).await {
            Some(200) => {
                scene.record(|record| {
                    let now = Instant::now();
                    record.longest = record.last.map_or(record.longest, |last| record.longest.max(now - last));
                    record.last = Some(now);
                    record.orders.insert(number * MERCHANTS);
                });
                number += WRITERS;
            }
            Some(_) => {}
            None => *stream = None,
        }
        tokio::time::sleep(EVERY).await;
    }
}

/// A flow: owes messages in the cell that takes them.
async fn change(scene: Arc<Scene>) -> anyhow::Result<()> {
    while !scene.is_over() {
        let subject = format!("R-{}", scene.next_subject.fetch_add(1, Ordering::SeqCst));
        let mut sequence = 1;
        while sequence <= 3 && !scene.is_over() {
            for app in &scene.apps {
                match owe(app, &scene.target, &subject, sequence).await {
                    Ok((id, _)) => {
                        scene.record(|record| record.messages.insert(id));
                        sequence += 1;
                        break;
                    }
                    Err(error) if matches!(error.downcast_ref::<Failed>(), Some(Failed::Moved)) => {}
                    Err(error) => bail!(error),
                }
            }
            tokio::time::sleep(EVERY).await;
        }
    }
    Ok(())
}

/// Moves the merchant to the new cell, or `back`.
async fn move_once(scene: Arc<Scene>, back: bool) -> anyhow::Result<()> {
    let [old, new] = &scene.apps;
    let (a, b) = (Cell { name: "a", app: old }, Cell { name: "b", app: new });
    let (from, to) = if back { (b, a) } else { (a, b) };
    let watch = |step: MoveStep| {
        if step == MoveStep::Opened {
            scene.lives_in.store(usize::from(!back), Ordering::SeqCst);
        }
        Ok(())
    };
    let moving = Moving {
        home: old,
        from,
        to,
        merchant: MerchantId(scene.target.merchant.0),
        actor: "proof",
        mover: Uuid::from_u128(7),
        calls_end_within: Duration::from_millis(500),
        nodes_learn_within: Duration::from_secs(1),
        watch: &watch,
    };
    Ok(Box::pin(move_merchant(&moving)).await?)
}

/// Moves the merchant, and ends whoever moves it so many times. Returns how many times it was.
async fn move_with_kills(scene: &Arc<Scene>, most: usize) -> anyhow::Result<usize> {
    let mut rng = StdRng::seed_from_u64(11);
    let mut kills = 0;
    while kills < most {
        let end = tokio::time::sleep(Duration::from_millis(rng.random_range(20..1_500)));
        tokio::select! {
            moved = move_once(Arc::clone(scene), false) => {
                moved?;
                return Ok(kills);
            }
            // Dropped wherever it is, as if its process had ended.
            () = end => kills += 1,
        }
    }
    move_once(Arc::clone(scene), false).await?;
    Ok(kills)
}

/// What is wrong after the moves.
struct Found {
    lost: usize,
    doubled: usize,
    feed_gaps: usize,
    /// Messages that arrived more than once, which is allowed.
    delivered_again: usize,
}

async fn check(scene: &Scene, systems: &Merchant) -> anyhow::Result<Found> {
    let merchant = scene.target.merchant.0;
    let mut connection = scene.old.connect().await?;
    let began = Instant::now();
    loop {
        let owed: i64 =
            sqlx::query_scalar("select count(*) from delivery where merchant_id = $1").bind(merchant).fetch_one(&mut connection).await?;
        if owed == 0 {
            break;
        }
        ensure!(began.elapsed() < DELIVERED_WITHIN, "{owed} messages are still owed");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let orders = "select identifier from customer_order where merchant_id = $1";
    let stored: Vec<String> = sqlx::query_scalar(orders).bind(merchant).fetch_all(&mut connection).await?;
    let stored: HashSet<u64> = stored.iter().filter_map(|identifier| identifier.parse().ok()).collect();
    let feed = "select message_id, position from message where merchant_id = $1 and position is not null order by position";
    let feed: Vec<(Uuid, i64)> = sqlx::query_as(feed).bind(merchant).fetch_all(&mut connection).await?;
    let messages: HashSet<Uuid> = feed.iter().map(|(message, _)| *message).collect();
    let lost = scene.record(|record| record.orders.difference(&stored).count() + record.messages.difference(&messages).count());
    let feed_gaps = feed.iter().zip(1..).filter(|((_, position), expected)| position != expected).count();
    let mut elsewhere = scene.new.connect().await?;
    let left: i64 = sqlx::query_scalar("select count(*) from customer_order").fetch_one(&mut elsewhere).await?;
    let mut arrived: HashMap<String, usize> = HashMap::new();
    for received in systems.received() {
        *arrived.entry(received.header("webhook-id").unwrap_or_default().to_string()).or_default() += 1;
    }
    let never = scene.record(|record| record.messages.iter().filter(|message| !arrived.contains_key(&message.to_string())).count());
    let doubled = usize::try_from(left)? + (feed.len() - messages.len());
    Ok(Found { lost: lost + never, doubled, feed_gaps, delivered_again: arrived.values().filter(|times| **times > 1).count() })
}
