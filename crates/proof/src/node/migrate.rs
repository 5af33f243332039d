//! `migrate-live`: upgrades the schema of an earlier version while orders and messages are written and read.
//!
//! The database is filled as the earlier version left it. Orders and messages are stored by the statements of that version, whose program
//! is not here any more. The program itself applies the rest of the migrations, and an index on the largest table is built as a migration
//! builds it, while a backup holds the tables.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use backhaul::app::App;
use chrono::Utc;
use serde_json::{Value, json};
use sqlx::{Connection as _, PgConnection};
use store::node::migrations;

use crate::meter::{percentile, round};
use crate::orders::intake::preload;
use crate::stage::Stage;

/// The last migration of the earlier version.
const EARLIER: i64 = 27;
/// Connections that store orders.
const WRITERS: usize = 4;
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
    let stop = Arc::new(AtomicBool::new(false));
    let mut orders = Vec::new();
    for writer in 0..WRITERS {
        orders.push(tokio::spawn(store_orders(stage.connect().await?, stage.merchants.clone(), writer, stop.clone())));
    }
    let messages = tokio::spawn(write_messages(stage.connect().await?, app.clone(), stage.merchants.clone(), stop.clone()));
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

    let messages = messages.await??;
    let (mut latencies, mut failed) = (Vec::new(), 0);
    for stored in orders {
        let (more, failures) = stored.await??;
        latencies.extend(more);
        failed += failures;
    }
    let orders = (latencies, failed);
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

/// The latencies in microseconds, and the number of failures.
type Measured = (Vec<u32>, u64);

/// How an earlier version stored an order.
const STORE: &str = "insert into customer_order as stored
        (merchant_id, identifier, status, placed_at, updated_at, received_at, revision, digest, snapshot)
    values ($1, $2, 'Shipped', $3, $3, $3, 1, $4, $5)
    on conflict (merchant_id, identifier) do update
    set updated_at = excluded.updated_at, received_at = excluded.received_at, revision = stored.revision + 1, snapshot = excluded.snapshot";

/// Stores orders, new ones and changed ones, over a connection of its own until `stop`.
async fn store_orders(
    mut connection: PgConnection,
    merchants: Vec<uuid::Uuid>,
    writer: usize,
    stop: Arc<AtomicBool>,
) -> anyhow::Result<Measured> {
    let (mut latencies, mut failed) = (Vec::new(), 0);
    for (number, merchant) in merchants.iter().cycle().enumerate() {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        let began = Instant::now();
        // After these, known ones change.
        let store =
            sqlx::query(STORE).bind(merchant).bind(format!("L-{writer}-{}", number % 5_000)).bind(Utc::now()).bind([0_u8; 32].as_slice());
        match store.bind(crate::orders::order::text(0, u64::try_from(number)?)).execute(&mut connection).await {
            Ok(_) => latencies.push(u32::try_from(began.elapsed().as_micros())?),
            Err(_) => failed += 1,
        }
    }
    Ok((latencies, failed))
}

/// How an earlier version wrote a message for which there is no endpoint.
const OWE: &str = "with written as (
        insert into message (merchant_id, message_id, transaction, feed_epoch, sequence, kind, event, subject, body)
        values ($1, $2, pg_current_xact_id(), (select feed_epoch from installation), 1, 'rma', 'rma.updated', $3, '{}')
    )
    insert into unsent_message (merchant_id, message_id, sequence, kind, subject) values ($1, $2, 1, 'rma', $3)";

/// Writes a message and reads it back, again and again, over a connection of its own until `stop`.
async fn write_messages(
    mut connection: PgConnection,
    app: App,
    merchants: Vec<uuid::Uuid>,
    stop: Arc<AtomicBool>,
) -> anyhow::Result<Measured> {
    let (mut latencies, mut failed) = (Vec::new(), 0);
    for (number, merchant) in merchants.iter().cycle().enumerate() {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        let began = Instant::now();
        match write_one(&mut connection, *merchant, app.mint(), number).await {
            Ok(()) => latencies.push(u32::try_from(began.elapsed().as_micros())?),
            Err(_) => failed += 1,
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    Ok((latencies, failed))
}

async fn write_one(connection: &mut PgConnection, merchant: uuid::Uuid, id: uuid::Uuid, number: usize) -> anyhow::Result<()> {
    sqlx::query(OWE).bind(merchant).bind(id).bind(format!("L-{number}")).execute(&mut *connection).await?;
    let stored: bool = sqlx::query_scalar("select exists (select from message where merchant_id = $1 and message_id = $2)")
        .bind(merchant)
        .bind(id)
        .fetch_one(connection)
        .await?;
    ensure!(stored, "a committed message is missing");
    Ok(())
}
