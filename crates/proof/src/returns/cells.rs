//! `chaos-cells`: cells move between the workers of a Citus cluster, and workers are killed in between, while orders are accepted and
//! returns go through their whole life cycle in every cell. No acknowledged change may be lost, and no message may be lost, altered
//! or delivered out of order. The service is not restarted.

mod gaps;

use std::net::SocketAddr;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use clap::Args;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use sandbox::merchant::Merchant;
use serde_json::{Value, json};
use sqlx::PgConnection;

use self::gaps::{Gaps, Watched};
use super::chaos::end;
use super::report::Report;
use super::scene::{Lives, Network, Scene};
use super::{REFUSED, SHOPS};
use crate::citus::{CELLS, Citus};
use crate::messages::witness::SEED;
use crate::messages::{owing, rollups};
use crate::stage::Stage;

#[derive(Args, Debug)]
pub(crate) struct Plan {
    /// Number of moves.
    #[arg(long, default_value_t = 20)]
    moves: u32,
    /// Number of kills of workers, spread over the moves.
    #[arg(long, default_value_t = 10)]
    kills: u32,
    /// Returns started per second.
    #[arg(long, default_value_t = 20)]
    per_second: u32,
}

/// The approximate length of a return's life cycle.
const SPAN: Duration = Duration::from_secs(10);
/// The time until returns are in every step of their life cycles, and the time in which normal gaps are measured after that.
const WARM_UP: Duration = Duration::from_secs(8);
const CALM: Duration = Duration::from_secs(10);
/// The time after a move in which its gap is still measured: the service follows the cell in the meantime.
const FOLLOWED_WITHIN: Duration = Duration::from_secs(3);
/// The bounds of the time from a move to a kill, in milliseconds: before or after the service has followed the cell.
const KILLED_AFTER: std::ops::Range<u64> = 0..2_000;
/// The pause after the recovery from a kill, in which delayed deliveries catch up.
const CATCH_UP: Duration = Duration::from_secs(3);
/// The number of times that a move may be refused, and the pause until it is repeated.
const MOST_REFUSED: u32 = 5;
const REPEATED_AFTER: Duration = Duration::from_secs(1);
/// The bar: the longest gap of a move.
const LONGEST_GAP: Duration = Duration::from_secs(1);
/// The timeouts for closing all returns in the end, and for the remaining deliveries of a cell.
const CLOSED_WITHIN: Duration = Duration::from_mins(2);
const DRAINED_WITHIN: Duration = Duration::from_mins(1);

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    let citus = Citus::find("chaos").await?;
    println!("Setting up: {} cells on {} workers, 100 merchants, {SHOPS} of them with endpoints …", CELLS.len(), citus.workers().len());
    let stage = Stage::set_in_cells(program, citus.url.clone(), &CELLS).await?;
    let systems = Merchant::start().await?;
    let network = Network { reached_at: systems.address(), refused: REFUSED, waits: [1, 1, 2, 3, 3] };
    let mut scene = Scene::set_with(stage, systems, &network).await?;
    let mut service = scene.stage.serve()?;
    service.ready().await?;

    let started = Instant::now();
    let mut faults = Faults {
        stage: Arc::clone(&scene.stage),
        citus,
        cells: Watched::all(&scene.stage, &scene.record, service.address),
        rng: StdRng::seed_from_u64(SEED),
        outcome: Outcome::default(),
    };
    let (lives, done) = under_load(&mut scene, service.address, plan.per_second, faults.run(plan)).await;
    done?;
    let closed_by = Instant::now() + CLOSED_WITHIN;
    for lives in lives {
        end(lives, closed_by.saturating_duration_since(Instant::now())).await?;
    }
    let Faults { cells, outcome, .. } = faults;
    let mut connections = scene.stage.connect_to_cells().await?;
    let kept = end_pulses(cells, &mut connections).await?;
    let mut drained = Ok(());
    for connection in &mut connections {
        drained = drained.and(owing::all_settled(connection, DRAINED_WITHIN).await);
    }
    service.leave().await?;
    let report = Report::new(&scene.history_of_cells(&mut connections).await?);
    let result = report.result("cells", outcome.figures(plan, started.elapsed(), kept));
    report.ensure(&result)?;
    ensure!(kept, "an acknowledged order was set back: {result}");
    drained?;
    for connection in &mut connections {
        rollups::check(connection).await?;
    }
    ensure!(outcome.longest() <= LONGEST_GAP, "a cell stood still for longer than {} ms while it moved: {result}", LONGEST_GAP.as_millis());
    Ok(result)
}

/// Starts returns at a steady rate while `work` goes on. Returns them, and the outcome of the work.
async fn under_load<T>(scene: &mut Scene, address: SocketAddr, per_second: u32, work: impl Future<Output = T>) -> (Vec<Lives>, T) {
    let mut work = pin!(work);
    let mut lives = Vec::new();
    // Two returns share an order.
    let mut ticks = tokio::time::interval(Duration::from_secs(2) / per_second.max(1));
    loop {
        tokio::select! {
            done = &mut work => return (lives, done),
            _ = ticks.tick() => {
                let run = Arc::new(scene.run(address, SPAN));
                lives.push(scene.live(2, &run));
            }
        }
    }
}

/// Ends the pulses. Returns whether the last acknowledged order of each cell is stored.
async fn end_pulses(cells: Vec<Watched>, connections: &mut [PgConnection]) -> anyhow::Result<bool> {
    let mut kept = true;
    // The first connection leads to the first cell, which is not on a worker.
    for (cell, connection) in cells.into_iter().zip(connections.iter_mut().skip(1)) {
        kept &= cell.end(connection).await?;
    }
    Ok(kept)
}

/// The outcome of the moves and kills.
#[derive(Default)]
struct Outcome {
    /// The gaps while nothing moves.
    normal: Gaps,
    /// The longest gaps of a move, beyond the normal ones.
    longest: Gaps,
    slowest_move: Duration,
    /// Moves that were refused and repeated.
    refused: u32,
    slowest_recovery: Duration,
}

impl Outcome {
    fn longest(&self) -> Duration {
        self.longest.orders.max(self.longest.deliveries)
    }

    /// The figures of the run.
    fn figures(&self, plan: &Plan, took: Duration, kept: bool) -> Value {
        json!({
            "moves": plan.moves, "kills": plan.kills, "seconds": took.as_secs(), "last_order_kept": kept,
            "longest_gap_ms": self.longest().as_millis(), "orders_gap_ms": self.longest.orders.as_millis(),
            "deliveries_gap_ms": self.longest.deliveries.as_millis(), "normal_orders_gap_ms": self.normal.orders.as_millis(),
            "normal_deliveries_gap_ms": self.normal.deliveries.as_millis(), "slowest_move_ms": self.slowest_move.as_millis(),
            "moves_refused": self.refused, "slowest_recovery_ms": self.slowest_recovery.as_millis(),
        })
    }
}

/// The operator who moves cells, and the kills.
struct Faults {
    stage: Arc<Stage>,
    citus: Citus,
    cells: Vec<Watched>,
    rng: StdRng,
    outcome: Outcome,
}

impl Faults {
    async fn run(&mut self, plan: &Plan) -> anyhow::Result<()> {
        self.measure_normal().await?;
        let mut killed = 0;
        for number in 1..=plan.moves {
            let due = u64::from(plan.kills) * u64::from(number) / u64::from(plan.moves);
            let pause = if killed < due { Duration::from_millis(self.rng.random_range(KILLED_AFTER)) } else { FOLLOWED_WITHIN };
            // With a kill after every other move, each cell is the last to have moved before one.
            self.move_cell(number, usize::try_from(number / 2)? % CELLS.len(), pause).await?;
            while killed < due {
                killed += 1;
                self.kill(killed).await?;
            }
        }
        Ok(())
    }

    /// Measures the gaps under load while nothing moves.
    async fn measure_normal(&mut self) -> anyhow::Result<()> {
        println!("Measuring normal gaps …");
        tokio::time::sleep(WARM_UP).await;
        self.cells.iter_mut().for_each(Watched::reset);
        tokio::time::sleep(CALM).await;
        for cell in &self.cells {
            self.outcome.normal = self.outcome.normal.or_longer(cell.gaps().await?);
        }
        let Gaps { orders, deliveries } = self.outcome.normal;
        println!("Normal gaps: {} ms between orders, {} ms between deliveries", orders.as_millis(), deliveries.as_millis());
        Ok(())
    }

    /// Moves a cell to the other worker, and measures its gaps until the end of the pause.
    async fn move_cell(&mut self, number: u32, place: usize, pause: Duration) -> anyhow::Result<()> {
        let cell = self.cells.get_mut(place).context("there is no such cell")?;
        let mut connection = self.stage.connect_to(Some(cell.name)).await?;
        let worker = self.citus.other_worker(&mut connection).await?;
        let to = worker.address();
        cell.reset();
        let began = Instant::now();
        let mut refused = 0;
        while let Err(error) = self.stage.call(&["cell", "move", cell.name, "--to", &to, "--yes"]).await {
            refused += 1;
            println!("move {number}: {error:#}");
            ensure!(refused <= MOST_REFUSED, "the cell {} does not move: {error:#}", cell.name);
            tokio::time::sleep(REPEATED_AFTER).await;
        }
        let took = began.elapsed();
        tokio::time::sleep(pause).await;
        let gaps = cell.gaps().await?.beyond(self.outcome.normal);
        println!(
            "move {number}: {} to {to} in {:.1} s, {} ms without orders and {} ms without deliveries beyond normal",
            cell.name,
            took.as_secs_f64(),
            gaps.orders.as_millis(),
            gaps.deliveries.as_millis()
        );
        self.outcome.longest = self.outcome.longest.or_longer(gaps);
        self.outcome.slowest_move = self.outcome.slowest_move.max(took);
        self.outcome.refused += refused;
        Ok(())
    }

    /// Kills a worker and starts it again, and waits until both cells have recovered.
    async fn kill(&mut self, number: u64) -> anyhow::Result<()> {
        let at = self.rng.random_range(0..self.citus.workers().len());
        let worker = self.citus.workers().get(at).context("there is no such worker")?;
        let killed = Instant::now();
        worker.restart().await?;
        for cell in &self.cells {
            cell.recover(killed).await?;
        }
        let recovery = killed.elapsed();
        println!("kill {number}: {}, recovered after {:.1} s", worker.address(), recovery.as_secs_f64());
        self.outcome.slowest_recovery = self.outcome.slowest_recovery.max(recovery);
        tokio::time::sleep(CATCH_UP).await;
        Ok(())
    }
}
