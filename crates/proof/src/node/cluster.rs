//! `bench-citus`: the cost of orders and messages on one PostgreSQL, in one cell of a Citus cluster, and in two cells on two workers,
//! in turn in one run. All of them are on the same servers, so that they have the same settings.

mod figures;
mod side;

use std::path::Path;
use std::time::Duration;

use anyhow::ensure;
use clap::Args;
use serde_json::Value;

use self::side::Side;
use crate::citus::{CELLS, Citus};
use crate::messages::owing::Receiver;

#[derive(Args, Debug)]
pub(crate) struct Plan {
    /// Seconds per measurement of orders.
    #[arg(long, default_value_t = 8)]
    seconds: u64,
    /// Number of messages in a measurement.
    #[arg(long, default_value_t = 20_000)]
    messages: usize,
    /// Number of rounds; the result is their median.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

/// The nodes' settings for checkpoints: those of the other benchmarks. Only memory stays as small as `scripts/citus` has made it.
const CHECKPOINTS: [&str; 3] =
    ["alter system set max_wal_size = '8GB'", "alter system set checkpoint_timeout = '30min'", "select pg_reload_conf()"];

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    ensure!(plan.rounds > 0, "there is nothing to measure: give at least one of --rounds");
    println!("Setting up: 100 merchants with 50 endpoints on one PostgreSQL, in one cell, and in two cells on two workers …");
    let receiver = Receiver::start().await?;
    let (one, two) = (Citus::find("one").await?, Citus::find("two").await?);
    // Both have the same nodes.
    for node in one.nodes() {
        node.run(&CHECKPOINTS).await?;
    }
    let [first, ..] = CELLS;
    let mut sides = [
        Side::plain(program, &one, &receiver).await?,
        Side::in_cells("one", program, &one, &[first], &receiver).await?,
        Side::in_cells("two", program, &two, &CELLS, &receiver).await?,
    ];
    for round in 1..=plan.rounds {
        for side in &mut sides {
            side.measure_orders(round, Duration::from_secs(plan.seconds)).await?;
        }
        for side in &mut sides {
            side.measure_messages(round, plan.messages, &receiver).await?;
        }
    }
    let [alone, one, two] = &sides;
    Ok(figures::report(&alone.runs, &one.runs, &two.runs))
}
