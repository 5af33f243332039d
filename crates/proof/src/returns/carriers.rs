//! `chaos-carriers`: labels are bought from carriers that fail three calls in ten and that repeat and reorder their webhooks,
//! while the service is killed every few seconds. Some shoppers hand their goods over before there is a label. Every return must
//! have one label, bought once, and its scans must reach the merchant once and in order.
//!
//! - The checker (`history.rs`) compares the labels sold, the stored returns and the messages to the merchants.

mod history;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use backhaul::app::App;
use backhaul::flow::messages::configure_endpoint::EndpointChange;
use backhaul::flow::node::advance_clock::advance_clock;
use backhaul::flow::returns::configure_carrier::{self, set_carrier};
use backhaul::platform::clock::{Clock, Span};
use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use domain::id::MerchantId;
use sandbox::carrier::{Carrier, Faults, Sending};
use sandbox::merchant::Merchant;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use sqlx::PgConnection;
use tokio::task::JoinSet;

use self::history::{History, Key, ParcelMessage, Sold, Stored, check};
use crate::messages::owing::{Target, path};
use crate::messages::witness::{FAILING, SEED, answer_by_chance};
use crate::orders::load::Connection;
use crate::stage::{Stage, free};

/// The size of a run.
pub(crate) struct Plan {
    pub(crate) returns: u64,
    pub(crate) kills: u32,
    /// The time between kills.
    pub(crate) every: Duration,
}

/// The number of merchants, each with its own carrier.
const SHOPS: usize = 5;
/// The service's timeout for calls; the carriers' slow answers exceed it.
const CALL_TIMEOUT_MS: &str = "1500";
/// The steps of the sandbox's clock, after each kill and whenever nothing is due. They save the wait for retries.
const SMALL_STEP: TimeDelta = TimeDelta::minutes(10);
const STEP: TimeDelta = TimeDelta::hours(1);
/// The furthest the clock is moved. Returns without a label live longer than that.
const FURTHEST: TimeDelta = TimeDelta::days(20);
/// The timeout for settling everything after the last kill.
const SETTLED_WITHIN: Duration = Duration::from_mins(4);

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL, {SHOPS} merchants with carriers that fail {FAILING} of 100 calls …");
    let stage = Arc::new(Stage::set(program).await?);
    let app = stage.app()?;
    let variables = [("BACKHAUL__OUTBOUND__CALL_TIMEOUT_MS", CALL_TIMEOUT_MS)];
    let (address, admin) = (free()?, free()?);
    let (systems, messages) = (Merchant::start().await?, Arc::new(Mutex::new(Vec::new())));
    systems.keep_bodies(false);
    let mut carriers = Vec::new();
    for shop in 0..SHOPS {
        watch(&systems, &messages, shop);
        Target::set(&app, &stage, shop, &systems, EndpointChange { waits: Some(vec![1, 1, 2, 3, 3]), ..EndpointChange::default() }).await?;
        carriers.push(open(&app, &stage, shop, address).await?);
    }
    let mut service = stage.serve_with(address, admin, &variables)?;
    service.ready().await?;
    let started = Instant::now();

    println!("Starting {} returns, with {} kills of the service …", plan.returns, plan.kills);
    let mut requests = JoinSet::new();
    let began = Clock::system().now();
    for number in 0..plan.returns {
        let pause = plan.every * plan.kills / 2 * u32::try_from(number)? / u32::try_from(plan.returns)?;
        requests.spawn(start_return(Arc::clone(&stage), address, number, pause, began));
    }
    let mut connection = stage.connect().await?;
    for kill in 1..=plan.kills {
        tokio::time::sleep(plan.every).await;
        service.kill();
        service = stage.serve_with(address, admin, &variables)?;
        service.ready().await?;
        hurry(&app, SMALL_STEP).await?;
        println!("{kill} kills, {} returns labelled", labelled(&mut connection).await?);
    }
    let mut handed_over = Vec::new();
    while let Some(request) = requests.join_next().await {
        handed_over.extend(request??);
    }
    settle(&app, &carriers, &mut connection).await?;
    service.leave().await?;

    let messages = messages.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let sold = carriers.iter().enumerate().flat_map(|(shop, carrier)| Sold::of(shop, &carrier.shipments())).collect();
    let history = History { sold, stored: Stored::read(&mut connection, &stage.merchants).await?, messages, handed_over };
    let result = check(&history).result(plan.kills, started.elapsed());
    check(&history).ensure(usize::try_from(plan.returns)?, &result)?;
    Ok(result)
}

/// Records the messages to the merchant `shop`, and makes some of the calls fail.
fn watch(systems: &Merchant, messages: &Arc<Mutex<Vec<ParcelMessage>>>, shop: usize) {
    let messages = Arc::clone(messages);
    systems.answer_by(&path(shop), move |received| {
        let (accepted, answer) = answer_by_chance(received, 10);
        if accepted {
            messages.lock().unwrap_or_else(PoisonError::into_inner).push(ParcelMessage::of(shop, received));
        }
        answer
    });
}

/// Starts a failing carrier for the merchant `shop`.
async fn open(app: &App, stage: &Stage, shop: usize, address: SocketAddr) -> anyhow::Result<Carrier> {
    let (carrier, merchant) = (Carrier::start().await?, *stage.merchants.get(shop).context("there is no such merchant")?);
    let destination = json!({"name": "Returns", "street1": "7 Dock Rd", "city": "Reno", "state": "NV", "zip": "89501", "country": "US"});
    let change = configure_carrier::CarrierChange {
        url: Some(carrier.url().to_owned()),
        api_key: Some(carrier.api_key().into()),
        destination: Some(serde_json::from_value(destination)?),
        usual_weight: None,
    };
    let secret = set_carrier(app, "proof", MerchantId(merchant), change).await?.context("the carrier is not new")?;
    carrier.sends_webhooks_to(&format!("http://{address}/v1/carrier_webhooks/{merchant}"), secret.expose_secret())?;
    carrier.sends_webhooks_like(Sending { copies: 2, tries: 40, newest_first: true, ..Sending::default() });
    let seed = SEED + shop as u64;
    carrier.faults(Faults { fails: f64::from(FAILING) / 100.0, seed, too_slow: Duration::from_secs(3), ..Faults::default() }).await?;
    Ok(carrier)
}

/// Moves the sandbox's clock forward, so that retries become due.
pub(super) async fn hurry(app: &App, by: TimeDelta) -> anyhow::Result<()> {
    if app.clock.ahead() + by <= FURTHEST {
        advance_clock(app, "proof", Span::of(by)).await?;
    }
    Ok(())
}

/// Waits until nothing is owed and all webhooks are accepted. After the timeout, the checker reports what is missing.
pub(super) async fn settle(app: &App, carriers: &[Carrier], connection: &mut PgConnection) -> anyhow::Result<()> {
    let started = Instant::now();
    while started.elapsed() < SETTLED_WITHIN {
        let (owed, due): (i64, i64) = sqlx::query_as("select count(*), count(*) filter (where due_at <= $1) from delivery")
            .bind(app.now())
            .fetch_one(&mut *connection)
            .await?;
        if owed == 0 && carriers.iter().all(|carrier| carrier.webhooks().waiting == 0) {
            return Ok(());
        }
        if due == 0 {
            hurry(app, STEP).await?;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    println!("some messages or webhooks are still waiting after {} s", SETTLED_WITHIN.as_secs());
    Ok(())
}

async fn labelled(connection: &mut PgConnection) -> anyhow::Result<i64> {
    Ok(sqlx::query_scalar("select count(*) from label").fetch_one(connection).await?)
}

/// Publishes an order and starts its return. One in three shoppers hands the goods over at once. Each request is repeated until it is
/// answered. Returns the return if handing it over was acknowledged as a change.
pub(super) async fn start_return(
    stage: Arc<Stage>,
    address: SocketAddr,
    number: u64,
    pause: Duration,
    began: DateTime<Utc>,
) -> anyhow::Result<Option<Key>> {
    tokio::time::sleep(pause).await;
    let shop = usize::try_from(number)? % SHOPS;
    let token = stage.tokens.get(shop).map_or("", String::as_str);
    let time = |time: DateTime<Utc>| time.to_rfc3339_opts(SecondsFormat::Secs, true);
    let bought = time(began - TimeDelta::days(1));
    let line = json!({
        "identifier": "L1", "sku": "SHOE", "quantity": 1, "quantity_shipped": 1, "quantity_canceled": 0, "shipped_date": bought,
        "title": "Running shoe", "tags": [], "product_amount_cents": 5_000, "tax_amount_cents": 400, "discount_amount_cents": 0,
        "unit_price_amount_cents": 5_000,
    });
    // With this street, the parcel is scanned and delivered as soon as its label is bought.
    let shipping_address = json!({
        "name": "Pat Doe", "street1": "1 SIM-DELIVERED St", "city": "Springfield", "state": "NY", "zip_code": "10001", "country_code": "US",
    });
    let order = json!({
        "identifier": format!("O-{number}"), "raw_status": "COMPLETE", "status": "Shipped", "total_amount_cents": 5_400,
        "product_amount_cents": 5_000, "tax_amount_cents": 400, "discount_amount_cents": 0, "shipping_amount_cents": 0,
        "shipping_tax_amount_cents": 0, "currency": "USD", "tags": [], "created_at": bought, "updated_at": time(began), "items": [line],
        "customer": {"identifier": "C1", "first_name": "Pat", "last_name": "Doe", "email": "pat@example.com"},
        "shipping_address": shipping_address, "transactions": [], "refunds": [], "discounts": [],
    });
    let item = json!({"order_line_item_identifier": "L1", "quantity": 1, "return_reason": "NOT_GIVEN"});
    let start = json!({"order_identifier": format!("O-{number}"), "return_method": "mail-back", "items": [item]});
    let order = json!({"returns_portal_order": {"orders": [order]}});
    send(address, token, number, "/returns_portal_orders", &order.to_string()).await?;
    let started = send(address, token, number, "/v1/returns", &start.to_string()).await?;
    if !number.is_multiple_of(3) {
        return Ok(None);
    }
    let rma = started.get("rma_identifier").and_then(Value::as_str).context("the answer does not name the return")?;
    let dropped = json!({"event": "dropped_off", "rma_identifier": rma, "occurred_at": time(began)});
    let answer = send(address, token, number, "/v1/carrier_events", &dropped.to_string()).await?;
    Ok((answer.get("result").and_then(Value::as_str) == Some("moved")).then(|| (shop, rma.to_owned())))
}

async fn send(address: SocketAddr, token: &str, number: u64, path: &str, body: &str) -> anyhow::Result<Value> {
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nAccept: application/json\r\nApi-Version: 3\r\nIdempotency-Key: K-{number}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    loop {
        if let Some(mut connection) = Connection::open(address).await
            && let Some(status) = connection.exchange(request.as_bytes()).await
        {
            match status {
                200 | 201 => return Ok(serde_json::from_slice(connection.body())?),
                429 | 503 => {}
                _ => bail!("{path} of return {number}: {status} {}", String::from_utf8_lossy(connection.body())),
            }
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
