//! `crash-returns`: a process crashes before and after the commit of every flow that changes a return, while other requests of
//! the same kind are in progress, and another process takes over. Every return must reach its end, and no change may be lost or
//! made twice.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use sqlx::PgConnection;
use store::crash::Point;
use tokio::task::{JoinHandle, LocalSet};

use super::chaos::end;
use super::gate::{Gate, Step};
use super::history::check;
use super::life::Run;
use super::report::Report;
use super::scene::Scene;
use crate::messages::{leasing, owing, rollups};
use crate::stage::Service;

/// The number of parallel scenes; a run mostly waits.
const SCENES: usize = 4;
/// Returns per wave: four orders, one for each way back.
const WAVE: u64 = 8;
/// The places of crashes: before and after the commit of each flow.
const FLOWS: [Step; 4] = [Step::Start, Step::Report, Step::Refund, Step::Wake];
const POINTS: [Point; 2] = [Point::Commit, Point::Committed];
/// The timeout of each part of a wave.
const WITHIN: Duration = Duration::from_secs(40);
/// The interval for checking whether the process has ended.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Crashes still to come: the flow, the point, and the number of passes of the point after which to crash.
type Crashes = Arc<Mutex<VecDeque<(Step, Point, u64)>>>;

pub(crate) async fn run(program: &Path, times: u64) -> anyhow::Result<Value> {
    println!("Setting up {SCENES} stages, each with a temporary PostgreSQL and 100 merchants …");
    let places = FLOWS.iter().flat_map(|flow| POINTS.iter().map(move |point| (*flow, *point)));
    let all: VecDeque<_> = (0..times).flat_map(|turn| places.clone().map(move |(flow, point)| (flow, point, 1 + turn % WAVE))).collect();
    let (runs, crashes, started) = (all.len(), Crashes::new(Mutex::new(all)), Instant::now());
    let scenes = LocalSet::new();
    let played: Vec<JoinHandle<anyhow::Result<(usize, Report)>>> =
        (0..SCENES).map(|number| scenes.spawn_local(play(program.to_owned(), number, Arc::clone(&crashes)))).collect();
    scenes.await;
    let (mut hits, mut reports) = (0, Vec::new());
    for scene in played {
        let (hit, report) = scene.await??;
        hits += hit;
        reports.extend((hit > 0).then_some(report));
    }
    let report = Report::join(reports);
    let own = json!({"places": FLOWS.len() * POINTS.len(), "hits": hits, "runs": runs, "seconds": started.elapsed().as_secs()});
    let result = report.result("crash-returns", own);
    ensure!(hits == runs, "not every crash point was reached: {result}");
    report.ensure(&result)?;
    Ok(result)
}

/// Makes crashes on its own stage until none is left. Returns the number of crash points reached, and the report.
async fn play(program: PathBuf, number: usize, crashes: Crashes) -> anyhow::Result<(usize, Report)> {
    let mut bench = Bench::set(&program, number).await?;
    let mut hits = 0;
    loop {
        let next = crashes.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let Some((flow, point, time)) = next else { break };
        let started = Instant::now();
        let outcome = bench.crash(flow, point, time).await;
        if outcome.is_err() {
            // Stop the other scenes as well.
            crashes.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
        outcome.with_context(|| format!("crash at {}:{time} of {flow:?}", point.name()))?;
        hits += 1;
        println!("{}:{time} of {flow:?} after {:.1} s", point.name(), started.elapsed().as_secs_f64());
    }
    let history = bench.scene.history(&mut bench.connection).await?;
    Ok((hits, Report::new(&history)))
}

/// A scene with its service, which is replaced by a crashing one and back.
struct Bench {
    scene: Scene,
    service: Service,
    connection: PgConnection,
    /// The file to which a crashing process writes its crash point.
    log: PathBuf,
}

impl Bench {
    async fn set(program: &Path, number: usize) -> anyhow::Result<Self> {
        let scene = Scene::set(program).await?;
        let service = scene.stage.serve()?;
        service.ready().await?;
        let log = std::env::temp_dir().join(format!("backhaul-crash-returns-{}-{number}", std::process::id()));
        Ok(Self { connection: scene.stage.connect().await?, scene, service, log })
    }

    /// Brings a wave of returns up to the flow, crashes a process in it, lets another take over, and checks the result.
    async fn crash(&mut self, flow: Step, point: Point, time: u64) -> anyhow::Result<()> {
        let (address, admin) = (self.service.address, self.service.admin);
        let run = Arc::new(Run {
            // Needless repeats commit as well, and would hide which commit the process crashed at.
            unheard: 0,
            gate: Gate::open_to(before(flow)),
            forgotten: flow == Step::Wake,
            ..self.scene.run(address, Duration::ZERO)
        });
        let lives = self.scene.live(WAVE, &run);
        run.gate.holds(usize::try_from(WAVE)?, WITHIN).await?;
        owing::all_settled(&mut self.connection, WITHIN).await?;
        self.service.leave().await?;
        if flow == Step::Wake {
            self.let_a_month_pass().await?;
        }

        let known = self.commits().await?;
        let (at, log) = (format!("{}:{time}", point.name()), self.log.display().to_string());
        let variables = [("BACKHAUL_CRASH_AT", at.as_str()), ("BACKHAUL_CRASH_LOG", log.as_str())];
        self.service = self.scene.stage.serve_with(address, admin, &variables)?;
        run.gate.open(Step::Wake);
        let started = Instant::now();
        while !self.service.is_gone()? {
            ensure!(started.elapsed() < WITHIN, "the process is still running");
            tokio::time::sleep(LOOK_EVERY).await;
        }
        let logged = std::fs::read_to_string(&self.log).unwrap_or_default();
        ensure!(logged.trim() == point.name(), "the process did not crash at that point: its log says `{logged}`");
        std::fs::remove_file(&self.log)?;
        let committed = self.commits().await? - known;
        let fits = if point == Point::Commit { committed < i64::try_from(time)? } else { committed >= i64::try_from(time)? };
        ensure!(fits, "the process crashed somewhere else: {committed} changes are committed");

        leasing::free_all(&mut self.connection).await?;
        self.service = self.scene.stage.serve_on(address, admin)?;
        self.service.ready().await?;
        end(lives, WITHIN).await?;
        owing::all_settled(&mut self.connection, WITHIN).await?;
        let found = check(&self.scene.history(&mut self.connection).await?);
        ensure!(found.wrong.is_empty(), "{found:?}");
        rollups::check(&mut self.connection).await
    }

    /// The number of transactions that changed a return or stored an early report. A label that finds an early report makes two
    /// changes and deletes the report.
    async fn commits(&mut self) -> anyhow::Result<i64> {
        let count = "select (select coalesce(sum(sequence), 0) from rma)::bigint + (select count(*) from carrier_event)";
        Ok(sqlx::query_scalar(count).fetch_one(&mut self.connection).await?)
    }

    /// Makes all open returns so old that they expire.
    async fn let_a_month_pass(&mut self) -> anyhow::Result<()> {
        let pass = "update rma set created_at = created_at - interval '31 days', wakes_at = wakes_at - interval '31 days'
            where status = 'CREATED'";
        sqlx::query(pass).execute(&mut self.connection).await?;
        Ok(())
    }
}

/// The last step before the one of the crash.
const fn before(flow: Step) -> Step {
    match flow {
        Step::Order | Step::Start => Step::Order,
        Step::Report => Step::Start,
        Step::Refund => Step::Report,
        Step::Wake => Step::Refund,
    }
}
