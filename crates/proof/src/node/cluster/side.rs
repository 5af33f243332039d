//! A side of the comparison: its merchants and their endpoints, and the measurements there.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use backhaul::app::App;
use backhaul::delivery::forward_signals;
use sqlx::PgConnection;
use tokio::task::JoinHandle;

use super::figures::{Measured, Runs};
use crate::citus::{Citus, Node};
use crate::messages::owing::{self, Receiver, Target};
use crate::meter::{self, of};
use crate::orders::intake::FRESH;
use crate::orders::load::{self, Load};
use crate::stage::{Service, Stage, close};

/// The merchants with endpoints, by their numbers, and the concurrent calls to each endpoint.
const SHOPS: std::ops::Range<usize> = 1..51;
const SLOTS: i32 = 10;
/// Concurrent flows that owe messages.
const FLOWS: usize = 16;
/// Concurrent callers that send orders, and the orders of a bulk message.
const CALLERS: usize = 64;
const BULK: usize = 50;
/// Warms up caches and query plans.
const WARM_UP: Duration = Duration::from_secs(2);
const WARM_UP_SEED: u64 = 99;
/// The share of a measurement's messages that are delivered before it.
const WARM_UP_PART: usize = 10;
/// The timeout of one measurement of messages.
const WITHIN: Duration = Duration::from_mins(5);

/// A side of the comparison. Its service runs only while something is measured.
pub(super) struct Side<'c> {
    name: &'static str,
    citus: &'c Citus,
    stage: Stage,
    targets: Vec<Target>,
    /// The first processes of the coordinator and of both workers, where they have a part in this side.
    servers: [Option<u32>; 3],
    pub(super) runs: Runs,
}

impl<'c> Side<'c> {
    /// One PostgreSQL: an ordinary database on the second worker's server.
    pub(super) async fn plain(program: &Path, citus: &'c Citus, receiver: &Receiver) -> anyhow::Result<Self> {
        let [_, server] = workers(citus)?;
        let url = server.create_database("plain", "template0").await?;
        let stage = Stage::set_at(program, url).await?;
        Self::set("plain", citus, stage, [None, None, Some(server.pid()?)], receiver).await
    }

    /// Cells of the cluster, each on the worker of its number.
    pub(super) async fn in_cells(
        name: &'static str,
        program: &Path,
        citus: &'c Citus,
        cells: &[&str],
        receiver: &Receiver,
    ) -> anyhow::Result<Self> {
        let workers = workers(citus)?;
        let stage = Stage::set_in_cells(program, citus.url.clone(), cells).await?;
        for (cell, worker) in cells.iter().zip(workers) {
            place(&stage, cell, worker).await?;
        }
        let [first, second] = workers;
        let servers = [Some(citus.coordinator().pid()?), Some(first.pid()?), Some(second.pid()?)];
        Self::set(name, citus, stage, servers, receiver).await
    }

    async fn set(
        name: &'static str,
        citus: &'c Citus,
        stage: Stage,
        servers: [Option<u32>; 3],
        receiver: &Receiver,
    ) -> anyhow::Result<Self> {
        let stage = stage.with_connections_to_each_cell();
        let app = stage.app()?;
        let targets = Target::set_all(&app, &stage, SHOPS, &receiver.systems, SLOTS).await?;
        close(&app).await;
        Ok(Self { name, citus, stage, targets, servers, runs: Runs::default() })
    }

    /// Measures orders in bulk and single orders, with a service of their own.
    pub(super) async fn measure_orders(&mut self, round: usize, duration: Duration) -> anyhow::Result<()> {
        let mut service = self.stage.serve()?;
        service.ready().await?;
        let single = Load { connections: CALLERS, orders: 1, duration, numbers: FRESH };
        let bulk = Load { orders: BULK, ..single.clone() };
        let measured = self.intake(&service, &bulk, round).await?;
        measured.show(round, self.name, "orders, 50 in a message");
        self.runs.bulk.push(measured);
        let measured = self.intake(&service, &single, round).await?;
        measured.show(round, self.name, "orders, one in a message");
        self.runs.single.push(measured);
        service.leave().await?;
        // What is left behind would be vacuumed while another side is measured.
        self.stage.clear().await
    }

    /// Measures one load of orders, after warming up with it.
    async fn intake(&self, service: &Service, load: &Load, round: usize) -> anyhow::Result<Measured> {
        let tokens = Arc::new(self.stage.tokens.clone());
        load::drive(service.address, &tokens, &Load { duration: WARM_UP, ..load.clone() }, WARM_UP_SEED).await;
        self.stage.clear().await?;
        self.checkpoint().await?;
        let before = self.spent(service);
        let outcome = load::drive(service.address, &tokens, load, round as u64).await;
        let after = self.spent(service);
        ensure!(outcome.refused == 0, "{} requests were refused or not answered", outcome.refused);
        let count = usize::try_from(outcome.accepted)? * load.orders;
        Ok(Measured { per_s: outcome.rate() * of(load.orders), cpu: meter::per_thousand(before, after, count) })
    }

    /// Measures messages from the flows that owe them until they are received and settled, with a separate delivery process that is
    /// notified by NOTIFY.
    pub(super) async fn measure_messages(&mut self, round: usize, count: usize, receiver: &Receiver) -> anyhow::Result<()> {
        owing::clear(&self.stage).await?;
        self.checkpoint().await?;
        let mut service = owing::deliver(&self.stage).await?;
        let mut connections = self.stage.connect_to_cells().await?;
        let app = self.stage.app()?;
        let forwarders: Vec<_> = app.of_each_cell().into_iter().map(|app| tokio::spawn(forward_signals(app))).collect();
        self.deliver(&app, &mut connections, count / WARM_UP_PART, receiver).await?;
        self.checkpoint().await?;
        let (before, started) = (self.spent(&service), Instant::now());
        self.deliver(&app, &mut connections, count, receiver).await?;
        let (after, elapsed) = (self.spent(&service), started.elapsed().as_secs_f64());
        forwarders.iter().for_each(JoinHandle::abort);
        close(&app).await;
        service.leave().await?;
        let measured = Measured { per_s: of(count) / elapsed, cpu: meter::per_thousand(before, after, count) };
        measured.show(round, self.name, "messages to 50 endpoints");
        self.runs.messages.push(measured);
        owing::clear(&self.stage).await
    }

    /// Owes messages, and waits until every one is received, and settled in its cell.
    async fn deliver(&self, app: &App, cells: &mut [PgConnection], count: usize, receiver: &Receiver) -> anyhow::Result<()> {
        receiver.clear();
        owing::owe_many(app, &self.targets, count, FLOWS, &Arc::default()).await?;
        receiver.wait_for(count, WITHIN).await?;
        for connection in cells {
            owing::all_settled(connection, WITHIN).await?;
        }
        let distinct = receiver.count() - receiver.repeated();
        ensure!(distinct == count, "{distinct} of {count} messages were received");
        Ok(())
    }

    /// Has every node write out what it holds in memory, so that every measurement starts from the same state.
    async fn checkpoint(&self) -> anyhow::Result<()> {
        for node in self.citus.nodes() {
            node.run(&["checkpoint"]).await?;
        }
        Ok(())
    }

    /// CPU seconds used so far by this process, the service and the servers. A measurement compares two readings.
    fn spent(&self, service: &Service) -> [f64; 5] {
        let [coordinator, first, second] = self.servers.map(|server| server.map_or(0.0, meter::cpu_of_family));
        [meter::cpu(std::process::id()), meter::cpu(service.pid()), coordinator, first, second]
    }
}

/// The first two workers.
fn workers(citus: &Citus) -> anyhow::Result<[&Node; 2]> {
    let mut workers = citus.workers().iter();
    workers.next().zip(workers.next()).map(|(first, second)| [first, second]).context("the cluster has fewer than two workers")
}

/// Moves a cell to this worker, unless it is there.
async fn place(stage: &Stage, cell: &str, worker: &Node) -> anyhow::Result<()> {
    let mut connection = stage.connect_to(Some(cell)).await?;
    if worker.holds(&mut connection).await? {
        return Ok(());
    }
    println!("Moving the cell {cell} to {} …", worker.address());
    stage.call(&["cell", "move", cell, "--to", &worker.address(), "--yes"]).await
}
