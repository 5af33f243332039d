//! `bench-growth`: intake with few and with many orders stored.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use serde_json::{Value, json};

use crate::meter::{median, round};
use crate::orders::bare;
use crate::orders::intake::{FRESH, measure, preload};
use crate::orders::load::Load;
use crate::stage::Stage;

#[derive(Args, Debug)]
pub(crate) struct Plan {
    /// Seconds per measurement.
    #[arg(long, default_value_t = 8)]
    seconds: u64,
    /// Number of stored orders in the large case.
    #[arg(long, default_value_t = 5_000_000)]
    orders: u64,
    /// Number of cells that the merchants are in, at most three; with none, they are in the first one.
    #[arg(long, default_value_t = 0)]
    cells: usize,
}

/// Stored orders in the small case.
const FEW: u64 = 10_000;
/// Rounds per case.
const ROUNDS: u64 = 5;
/// The names of the cells besides the first one.
const CELLS: [&str; 3] = ["b", "c", "d"];
/// The bytes of a stored order. Its text is compressed to 830, so that seven of them fill a page as far as pages are filled at first;
/// the indexes take about 200.
const BYTES: u64 = 1_400;
const GB: u64 = 1_000_000_000;

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    let (duration, many, cells) = (Duration::from_secs(plan.seconds), plan.orders, plan.cells);
    let stage = set(program, cells).await?;
    ensure_room(&stage, many)?;
    let service = stage.serve()?;
    service.ready().await?;
    let load = Load { connections: 64, orders: 1, duration, numbers: FRESH };
    let mut ratios = Vec::new();
    let mut database_gb = 0.0;
    for stored in [FEW, many] {
        stage.clear().await?;
        println!("Storing {stored} orders …");
        preload(&stage, stored).await?;
        database_gb = size_gb(&stage).await?;
        measure(&stage, &service, &Load { duration: Duration::from_secs(2), ..load.clone() }, 99).await?;
        let mut rounds = Vec::new();
        for seed in 0..ROUNDS {
            let bare = bare::rate(&stage, 1, 32, duration, FRESH)?;
            let ours = measure(&stage, &service, &load, seed).await?;
            println!(
                "{stored:>10} stored   bare {bare:>8.0}/s   service {:>8.0}/s   p50 {:.2} ms   p99 {:.2} ms   ratio {:.3}",
                ours.orders_per_second,
                ours.p50_ms,
                ours.p99_ms,
                ours.orders_per_second / bare
            );
            rounds.push(ours.orders_per_second / bare);
        }
        ratios.push(median(rounds));
    }
    drop(service);
    let (few, large) = (ratios.first().copied().unwrap_or_default(), ratios.last().copied().unwrap_or_default());
    Ok(json!({
        "bench": "growth", "cells": cells, "few": FEW, "many": many, "ratio_few": round(few, 3), "ratio_many": round(large, 3),
        "growth_ratio": round(large / few, 3), "database_gb": round(database_gb, 1),
    }))
}

/// A stage with a PostgreSQL of its own and so many cells besides the first one.
async fn set(program: &Path, cells: usize) -> anyhow::Result<Stage> {
    if cells == 0 {
        println!("Setting up: a temporary PostgreSQL, 100 merchants …");
        return Stage::set(program).await;
    }
    let names = CELLS.get(..cells).with_context(|| format!("there can be {} cells at most", CELLS.len()))?;
    println!("Setting up: a temporary PostgreSQL, 100 merchants in {cells} cells …");
    Stage::set_with_cells(program, names).await
}

/// Fails if so many orders take more than 80 % of the free space.
fn ensure_room(stage: &Stage, orders: u64) -> anyhow::Result<()> {
    let socket = stage.cluster()?.socket();
    let dir = socket.parent().context("the temporary PostgreSQL has no directory")?;
    let free = free_bytes(dir)?;
    let most = free / 5 * 4 / BYTES;
    ensure!(
        orders <= most,
        "{orders} orders take about {} GB, which is more than 80 % of the {} GB that are free in {}; {most} would fit, see --orders",
        orders.saturating_mul(BYTES) / GB,
        free / GB,
        dir.display()
    );
    Ok(())
}

/// The free space where this directory is.
fn free_bytes(dir: &Path) -> anyhow::Result<u64> {
    let output = Command::new("df").args(["--output=avail", "-B1"]).arg(dir).output().context("df could not be started")?;
    let text = String::from_utf8_lossy(&output.stdout);
    // The first line is a title.
    let Some(bytes) = text.lines().nth(1).and_then(|line| line.trim().parse().ok()) else {
        bail!("df says nothing about {}: {text}{}", dir.display(), String::from_utf8_lossy(&output.stderr));
    };
    Ok(bytes)
}

/// The size of the database.
async fn size_gb(stage: &Stage) -> anyhow::Result<f64> {
    let size = "select (pg_database_size(current_database()) / 1e9)::float8";
    Ok(sqlx::query_scalar(size).fetch_one(&mut stage.connect().await?).await?)
}
