//! `bench-intake`: order intake compared with bare database writes, alternating in one run.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::orders::snapshot::CONTENT;
use serde_json::{Value, json};
use sqlx::PgConnection;

use crate::meter::{self, median, percentile, round};
use crate::orders::bare;
use crate::orders::load::{self, Load, Outcome, Times};
use crate::stage::{Service, Stage};

/// The range of order numbers, so large that hardly any is drawn twice.
pub(crate) const FRESH: u64 = 100_000_000_000;
/// Orders stored before updates are measured; order numbers are drawn from twice as many.
const STORED: u64 = 200_000;
/// The most orders that one statement stores where there are several cells.
const MOST_ROWS: u64 = 1_000_000;

/// One measurement of the service.
pub(crate) struct Measured {
    pub(crate) orders_per_second: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    /// CPU seconds per 1,000 orders: generator, service, database.
    cpu: [f64; 3],
}

pub(crate) async fn measure(stage: &Stage, service: &Service, load: &Load, seed: u64) -> anyhow::Result<Measured> {
    measure_at(stage, service, load, seed, Times::Same).await
}

async fn measure_at(stage: &Stage, service: &Service, load: &Load, seed: u64, times: Times) -> anyhow::Result<Measured> {
    let tokens = Arc::new(stage.tokens.clone());
    let database = stage.cluster()?.pid().unwrap_or_default();
    let cpu = || [meter::cpu(std::process::id()), meter::cpu(service.pid()), meter::cpu_of_family(database)];
    let before = cpu();
    let outcome: Outcome = load::drive_at(service.address, &tokens, load, seed, Duration::ZERO, times).await;
    let after = cpu();
    anyhow::ensure!(outcome.refused == 0, "{} requests were refused or not answered", outcome.refused);
    #[expect(clippy::cast_precision_loss, reason = "counts of a run are small")]
    let thousands = outcome.accepted as f64 * load.orders as f64 / 1_000.0;
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let orders_per_second = outcome.rate() * load.orders as f64;
    let spent = std::array::from_fn(|at| after.get(at).zip(before.get(at)).map_or(0.0, |(after, before)| (after - before) / thousands));
    Ok(Measured {
        orders_per_second,
        p50_ms: percentile(&outcome.latencies, 0.5),
        p99_ms: percentile(&outcome.latencies, 0.99),
        cpu: spent,
    })
}

/// Stores the orders 0 to `count` as if they had been received, each in the cell of its merchant.
pub(crate) async fn preload(stage: &Stage, count: u64) -> anyhow::Result<()> {
    let mut connections = stage.connect_to_cells().await?;
    let cells = stage.cells().len();
    // The first connection leads to the first cell, which has the merchants only if there are no others.
    let connections = connections.get_mut(cells.min(1)..).unwrap_or_default();
    let chunk = if cells == 0 { count } else { MOST_ROWS };
    let started = Instant::now();
    let mut stored = 0;
    while stored < count {
        let numbers = stored..count.min(stored + chunk);
        stored = numbers.end;
        for (place, connection) in connections.iter_mut().enumerate() {
            preload_cell(connection, stage, numbers.clone(), place).await?;
        }
        if cells > 0 {
            println!("{stored:>10} orders stored after {:.0} s", started.elapsed().as_secs_f64());
        }
    }
    for connection in connections {
        sqlx::raw_sql("vacuum analyze customer_order").execute(&mut *connection).await?;
        sqlx::raw_sql("checkpoint").execute(&mut *connection).await?;
    }
    Ok(())
}

/// Stores those of the orders with these numbers whose merchants are in the cell at `place`, to which the connection leads.
async fn preload_cell(connection: &mut PgConnection, stage: &Stage, numbers: Range<u64>, place: usize) -> anyhow::Result<()> {
    let text = crate::orders::order::text(0, 0);
    sqlx::query(
        "insert into customer_order (merchant_id, identifier, status, placed_at, updated_at, received_at, revision, digest, email_fingerprint, zip_fingerprint, warnings, snapshot)
         select $1[1 + n % 100], lpad(n::text, 12, '0'), 'Shipped', timestamptz '2026-01-05T10:00:00Z', timestamptz '2026-01-06T10:00:00Z', timestamptz '2026-03-01T12:00:00Z', 1,
             $5 || decode(lpad(to_hex(n), 56, 'a'), 'hex'), decode(lpad(to_hex(n), 32, 'a'), 'hex'), decode(lpad(to_hex(n), 32, 'b'), 'hex'), null, replace($2, '000000000000', lpad(n::text, 12, '0'))
         from generate_series($3, $4 - 1) as n
         where n % 100 % $6 = $7",
    )
    .bind(&stage.merchants)
    .bind(&text)
    .bind(i64::try_from(numbers.start)?)
    .bind(i64::try_from(numbers.end)?)
    .bind(CONTENT.as_slice())
    .bind(i64::try_from(stage.cells().len().max(1))?)
    .bind(i64::try_from(place)?)
    .execute(connection)
    .await?;
    Ok(())
}

pub(crate) async fn run(program: &Path, duration: Duration, rounds: usize) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL, 100 merchants …");
    let stage = Stage::set(program).await?;
    let service = stage.serve()?;
    service.ready().await?;
    let single = Load { connections: 64, orders: 1, duration, numbers: FRESH };
    let bulk = Load { connections: 64, orders: 50, ..single.clone() };
    let light = Load { connections: 4, duration: duration / 2, ..single.clone() };
    let updating = Load { numbers: STORED * 2, ..single.clone() };
    // Warm up caches and query plans.
    measure(&stage, &service, &Load { duration: Duration::from_secs(2), ..single.clone() }, 99).await?;

    let mut bare_single = Vec::new();
    let mut bare_bulk = Vec::new();
    let mut bare_update = Vec::new();
    let mut ours: [Vec<Measured>; 5] = Default::default();
    for round_at in 0..rounds {
        let seed = round_at as u64;
        stage.clear().await?;
        bare_single.push(bare::rate(&stage, 1, 32, duration, FRESH)?);
        show(round_at, "(a) bare engine, single rows", bare_single.last(), None);
        stage.clear().await?;
        ours[0].push(measure(&stage, &service, &single, seed).await?);
        show(round_at, "(b) service, one order a request", None, ours[0].last());
        stage.clear().await?;
        bare_bulk.push(bare::rate(&stage, 50, 8, duration, FRESH)?);
        show(round_at, "(c) bare engine, 50 rows", bare_bulk.last(), None);
        stage.clear().await?;
        ours[1].push(measure(&stage, &service, &bulk, 10 + seed).await?);
        show(round_at, "(d) service, 50 orders a message", None, ours[1].last());
        stage.clear().await?;
        ours[2].push(measure(&stage, &service, &light, 20 + seed).await?);
        show(round_at, "    service, 4 connections", None, ours[2].last());
        stage.clear().await?;
        preload(&stage, STORED).await?;
        bare_update.push(bare::rate(&stage, 1, 32, duration, STORED * 2)?);
        show(round_at, "    bare engine, half are updates", bare_update.last(), None);
        stage.clear().await?;
        preload(&stage, STORED).await?;
        ours[3].push(measure(&stage, &service, &updating, 30 + seed).await?);
        show(round_at, "    service, half are updates", None, ours[3].last());
        stage.clear().await?;
        preload(&stage, STORED).await?;
        ours[4].push(measure_at(&stage, &service, &updating, 40 + seed, Times::Later).await?);
        show(round_at, "    service, half are newer updates", None, ours[4].last());
    }
    let peak_rss_mb = meter::memory(service.pid(), "VmHWM");
    let [singles, bulks, lights, updates, newer] = &ours;
    let rate = |runs: &[Measured]| median(runs.iter().map(|run| run.orders_per_second).collect());
    let p50 = |runs: &[Measured]| round(median(runs.iter().map(|run| run.p50_ms).collect()), 2);
    let p99 = |runs: &[Measured]| round(median(runs.iter().map(|run| run.p99_ms).collect()), 2);
    let cpu = |runs: &[Measured]| {
        let part = |at: usize| round(median(runs.iter().filter_map(|run| run.cpu.get(at).copied()).collect()), 4);
        json!({ "generator": part(0), "service": part(1), "database": part(2) })
    };
    let (a, c, u) = (median(bare_single), median(bare_bulk), median(bare_update));
    drop(service);
    Ok(json!({
        "bench": "intake",
        "bare_single_per_s": round(a, 0), "single_per_s": round(rate(singles), 0), "single_ratio": round(rate(singles) / a, 3),
        "bare_bulk_per_s": round(c, 0), "bulk_per_s": round(rate(bulks), 0), "bulk_ratio": round(rate(bulks) / c, 3),
        "bare_update_per_s": round(u, 0), "update_per_s": round(rate(updates), 0), "update_ratio": round(rate(updates) / u, 3),
        "newer_update_per_s": round(rate(newer), 0), "newer_update_ratio": round(rate(newer) / u, 3),
        "single_p50_ms": p50(singles), "single_p99_ms": p99(singles), "bulk_p50_ms": p50(bulks), "bulk_p99_ms": p99(bulks),
        "light_p50_ms": p50(lights), "light_p99_ms": p99(lights),
        "single_cpu_s_per_1000": cpu(singles), "bulk_cpu_s_per_1000": cpu(bulks), "update_cpu_s_per_1000": cpu(updates), "newer_update_cpu_s_per_1000": cpu(newer),
        "peak_rss_mb": round(peak_rss_mb, 1),
    }))
}

fn show(round_at: usize, what: &str, bare: Option<&f64>, ours: Option<&Measured>) {
    let head = format!("round {}  {what:36}", round_at + 1);
    if let Some(rate) = bare {
        println!("{head} {rate:>9.0} orders/s");
    }
    if let Some(Measured { orders_per_second, p50_ms, p99_ms, cpu: [generator, service, database] }) = ours {
        println!(
            "{head} {orders_per_second:>9.0} orders/s   p50 {p50_ms:>6.2} ms   p99 {p99_ms:>6.2} ms   CPU s/1000: generator {generator:.3} service {service:.3} database {database:.3}"
        );
    }
}
