//! `migrate-live`: upgrades the schema of an earlier version while orders and messages are written and read.
//!
//! The database is filled as the earlier version left it. The writes and reads under load are those that both versions make. The
//! program itself applies the rest of the migrations, and an index on the largest table is built as a migration builds it, while a
//! backup holds the tables.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use backhaul::app::App;
use backhaul::http;
use backhaul::node::Phase;
use chrono::Utc;
use domain::messages::message::{Interface, Kind};
use serde_json::{Value, json};
use sqlx::Connection as _;
use store::messages::outbox::Message;
use store::node::migrations;

use crate::meter::{percentile, round};
use crate::orders::intake::preload;
use crate::orders::load::{self, Load};
use crate::stage::Stage;

/// The last migration of the earlier version.
const EARLIER: i64 = 27;
/// The load before the upgrade begins and after it ends.
const AROUND: Duration = Duration::from_secs(2);
/// The time for which a backup holds the tables when the upgrade begins.
const BACKUP: Duration = Duration::from_secs(3);
/// The longest that one request in a hundred may take.
const MOST_MS: f64 = 200.0;

/// An index on a table with partitions, written as in a migration.
const INDEX: &str =
    "create index concurrently if not exists message_by_event on message (merchant_id, event) where kind <> 'endpoint_test'";

pub(crate) struct Plan {
    pub(crate) messages: u64,
    pub(crate) orders: u64,
}

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL with the schema of an earlier version, 100 merchants …");
    let stage = Stage::set_before(program, Some(EARLIER)).await?;
    println!("Storing {} messages and {} orders …", plan.messages, plan.orders);
    preload(&stage, plan.orders).await?;
    fill(&stage, plan.messages).await?;
    let app = stage.app()?;
    let address = serve(&app).await?;
    let stop = Arc::new(AtomicBool::new(false));
    let orders = tokio::spawn(send_orders(address, Arc::new(stage.tokens.clone()), stop.clone()));
    let messages = tokio::spawn(write_messages(app.clone(), stage.merchants.clone(), stop.clone()));
    tokio::time::sleep(AROUND).await;

    println!("Upgrading under load, while a backup holds the tables …");
    let mut backup = stage.connect().await?;
    let mut backup = backup.begin().await?;
    sqlx::raw_sql("lock table message, attempt, customer_order, failure in access share mode").execute(&mut *backup).await?;
    let began = Instant::now();
    let upgrade = tokio::process::Command::new(program)
        .arg("migrate")
        .env("DATABASE_URL", stage.url())
        .env("BACKHAUL__MODE", "sandbox")
        .stdout(Stdio::piped())
        .spawn()
        .context("the program could not be started")?;
    tokio::time::sleep(BACKUP).await;
    backup.commit().await?;
    let upgraded = upgrade.wait_with_output().await?;
    let migrate_s = began.elapsed().as_secs_f64();
    print!("{}", String::from_utf8_lossy(&upgraded.stdout));
    ensure!(upgraded.status.success(), "the upgrade failed");
    let began = Instant::now();
    migrations::build_indexes(stage.url(), INDEX).await?;
    let index_s = began.elapsed().as_secs_f64();
    tokio::time::sleep(AROUND).await;
    stop.store(true, Ordering::SeqCst);

    let (orders, messages) = (orders.await??, messages.await??);
    app.cell().close().await;
    let mut figures = Vec::new();
    for (what, (mut latencies, failed)) in [("orders", orders), ("messages", messages)] {
        latencies.sort_unstable();
        let (p99, most) = (percentile(&latencies, 0.99), percentile(&latencies, 1.0));
        println!("{what:>10}   {:>8} done   {failed} failed   p99 {p99:.1} ms   longest {most:.1} ms", latencies.len());
        ensure!(failed == 0, "{failed} {what} failed during the upgrade");
        ensure!(p99 < MOST_MS, "one in a hundred {what} took more than {MOST_MS} ms");
        figures.push((latencies.len(), p99, most));
    }
    let [(orders, orders_p99, orders_most), (messages, messages_p99, messages_most)] = figures.as_slice() else {
        anyhow::bail!("two kinds of load");
    };
    Ok(json!({
        "bench": "migrate-live", "stored_messages": plan.messages, "stored_orders": plan.orders,
        "migrate_s": round(migrate_s, 1), "index_s": round(index_s, 1), "failed": 0,
        "orders": orders, "orders_p99_ms": round(*orders_p99, 1), "orders_longest_ms": round(*orders_most, 1),
        "messages": messages, "messages_p99_ms": round(*messages_p99, 1), "messages_longest_ms": round(*messages_most, 1),
    }))
}

/// Writes `count` messages of the last days, as delivered.
async fn fill(stage: &Stage, count: u64) -> anyhow::Result<()> {
    let mut connection = stage.connect().await?;
    sqlx::raw_sql("select make_partitions(now() - interval '14 days', 14)").execute(&mut connection).await?;
    sqlx::query(
        "insert into message (merchant_id, message_id, sequence, kind, event, subject, body)
         select $1[1 + n % 100],
             (left(first_id(now() - (n % 14) * interval '1 day')::text, 18) || '-8' || substr(md5(n::text), 1, 3)
                 || '-' || substr(md5(n::text), 4, 12))::uuid,
             1, 'rma', 'rma.updated', 'R-' || n / 6, '{\"rma_identifier\":\"R-' || n / 6 || '\",\"status\":\"CREATED\"}'
         from generate_series(1, $2) as n",
    )
    .bind(&stage.merchants)
    .bind(i64::try_from(count)?)
    .execute(&mut connection)
    .await?;
    sqlx::raw_sql("vacuum analyze message").execute(&mut connection).await?;
    sqlx::raw_sql("checkpoint").execute(&mut connection).await?;
    Ok(())
}

/// Serves in this process, because the program itself does not start on an earlier schema.
async fn serve(app: &App) -> anyhow::Result<SocketAddr> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let (address, router, app) = (listener.local_addr()?, http::router(app), app.clone());
    app.enter(Phase::Serving);
    tokio::spawn(async move { http::listener::serve(listener, router, &app.settings.http, &app.entropy, std::future::pending()).await });
    Ok(address)
}

/// The latencies in microseconds, and the number of failures.
type Measured = (Vec<u32>, u64);

/// Sends orders, new ones and changed ones, until `stop`.
async fn send_orders(address: SocketAddr, tokens: Arc<Vec<String>>, stop: Arc<AtomicBool>) -> anyhow::Result<Measured> {
    let (mut latencies, mut failed, mut seed) = (Vec::new(), 0, 0);
    let load = Load { connections: 4, orders: 1, duration: Duration::from_millis(500), numbers: 1_000_000 };
    while !stop.load(Ordering::SeqCst) {
        let outcome = load::drive(address, &tokens, &load, seed).await;
        latencies.extend(outcome.latencies);
        failed += outcome.refused;
        seed += 1;
    }
    Ok((latencies, failed))
}

/// Owes a message and reads it back from the feed's table, again and again, until `stop`.
async fn write_messages(app: App, merchants: Vec<uuid::Uuid>, stop: Arc<AtomicBool>) -> anyhow::Result<Measured> {
    let (mut latencies, mut failed) = (Vec::new(), 0);
    for (number, merchant) in merchants.iter().cycle().enumerate() {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        let began = Instant::now();
        match write_one(&app, domain::id::MerchantId(*merchant), number).await {
            Ok(()) => latencies.push(u32::try_from(began.elapsed().as_micros())?),
            Err(_) => failed += 1,
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    Ok((latencies, failed))
}

async fn write_one(app: &App, merchant: domain::id::MerchantId, number: usize) -> anyhow::Result<()> {
    let id = app.mint();
    let mut tx = app.begin(merchant).await?;
    tx.owe(Message {
        id,
        kind: Kind::Of(Interface::Rma),
        event: "rma.updated",
        subject: format!("L-{number}"),
        sequence: 1,
        body: "{}".to_owned(),
        due_at: Utc::now(),
    });
    app.commit(tx).await?;
    let stored = store::messages::log::find(app.cell(), merchant, id).await?;
    ensure!(stored.is_some(), "a committed message is missing");
    Ok(())
}
