//! `bench-growth`: intake with few and with many orders stored.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::meter::{median, round};
use crate::orders::bare;
use crate::orders::intake::{FRESH, measure, preload};
use crate::orders::load::Load;
use crate::stage::Stage;

/// Stored orders in the small case.
const FEW: u64 = 10_000;
/// Rounds per case.
const ROUNDS: u64 = 5;

pub(crate) async fn run(program: &Path, duration: Duration, many: u64) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL, 100 merchants …");
    let stage = Stage::set(program).await?;
    let service = stage.serve()?;
    service.ready().await?;
    let load = Load { connections: 64, orders: 1, duration, numbers: FRESH };
    let mut ratios = Vec::new();
    for stored in [FEW, many] {
        stage.clear().await?;
        println!("Storing {stored} orders …");
        preload(&stage, stored).await?;
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
    Ok(
        json!({ "bench": "growth", "few": FEW, "many": many, "ratio_few": round(few, 3), "ratio_many": round(large, 3), "growth_ratio": round(large / few, 3) }),
    )
}
