//! `bench-console`: the pages of the operator's console with a long history stored, and deliveries beside them.
//!
//! Alone, every page is opened several times, and PostgreSQL says how many buffers its statements touched. Then deliveries run at half
//! of their full rate, in turn without anybody at the console and with pages opened at a steady rate.

mod buffers;
mod history;
mod pages;
mod person;
mod visits;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::ensure;
use backhaul::app::App;
use sandbox::postgres::Cluster;
use serde_json::{Value, json};
use sqlx::PgConnection;
use uuid::Uuid;

use self::buffers::Touched;
pub(crate) use self::history::Size;
use self::pages::Pages;
use self::person::Person;
use self::visits::{Seen, Visits};
use crate::messages::owing::{self, Receiver, Target};
use crate::meter::{median, of, percentile, round};
use crate::stage::{Elsewhere, Service, Stage, free};

/// The size of the measurement.
pub(crate) struct Plan {
    pub(crate) size: Size,
    /// The length of each measurement beside deliveries.
    pub(crate) duration: Duration,
    /// Measurements with pages, and as many without; the medians of deliveries count.
    pub(crate) rounds: usize,
    /// Pages opened per second.
    pub(crate) pages_per_second: u32,
    /// Whether times are held to the bars as well; the development build is too slow for them.
    pub(crate) timed: bool,
}

/// PostgreSQL's settings: those of the other stages, and the extension that counts buffers by statement.
const SETTINGS: &str = "shared_buffers = '1GB'\nmax_wal_size = '8GB'\ncheckpoint_timeout = '30min'\n\
    shared_preload_libraries = 'pg_stat_statements'\npg_stat_statements.max = 5000\npg_stat_statements.save = off\n";
/// Concurrent calls to each endpoint.
const SLOTS: i32 = 10;
/// Concurrent flows, and messages in the measurement of the full rate.
const FLOWS: usize = 16;
const WITHIN: Duration = Duration::from_mins(5);
/// Warms up caches, connections and query plans.
const WARM_UP: Duration = Duration::from_secs(3);
/// The bars.
const MOST_BUFFERS: i64 = 500;
/// The most buffers that a file with 10,000 rows touches.
const MOST_BUFFERS_OF_FILE: i64 = 1_000;
const MOST_MS: f64 = 100.0;
const MOST_RATIO: f64 = 1.5;

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL, 100 merchants with endpoints …");
    let database = Elsewhere(Cluster::start_with(&Elsewhere::dir("console"), SETTINGS)?);
    let stage = Stage::set_at(program, database.0.url("postgres")).await?;
    let (app, receiver) = (stage.app()?, Receiver::start().await?);
    let targets = Target::set_all(&app, &stage, 0..stage.merchants.len(), &receiver.systems, SLOTS).await?;
    let Size { orders, messages, failures } = plan.size;
    println!("Storing {orders} orders, {messages} messages with three attempts each, {failures} failures …");
    let began = Instant::now();
    let endpoints: Vec<Uuid> = targets.iter().map(|target| target.endpoint.0).collect();
    history::store(&app, &stage, &receiver.systems, &endpoints, plan.size).await?;
    println!("Stored in {:.0} s.", began.elapsed().as_secs_f64());

    let console = free()?;
    let service = stage.serve_console(console)?;
    service.ready().await?;
    let mut person = Person::enter(&app, console).await?;
    let Pages { addresses: pages, left_out } = Pages::find(&stage, &mut person).await?;
    println!("Opening {} pages, and counting the buffers of each. Nothing is stored for {left_out:?} …", pages.len());
    let buffers = buffers::count(&stage, &mut person, &pages).await?;
    drop(service);

    let bench = Bench { stage, receiver, app, targets };
    let (full, rounds) = bench.beside_deliveries(plan, &mut person, &pages).await?;
    bench.app.cell().close().await;
    let result = Measured { pages: &pages, left_out: left_out.len(), buffers: &buffers, full, rounds }.show(plan);
    drop(bench);
    drop(database);
    result
}

struct Bench {
    stage: Stage,
    receiver: Receiver,
    app: App,
    targets: Vec<Target>,
}

/// Deliveries without and with pages beside them.
#[derive(Default)]
struct Rounds {
    alone: Vec<f64>,
    beside: Vec<f64>,
    seen: Vec<Seen>,
}

impl Bench {
    /// Measures the full rate of deliveries, and then both in turn at half of it.
    async fn beside_deliveries(&self, plan: &Plan, person: &mut Person, pages: &[String]) -> anyhow::Result<(f64, Rounds)> {
        let console = free()?;
        let service = self.stage.serve_with(free()?, free()?, &[("BACKHAUL__CONSOLE__LISTEN", &console.to_string())])?;
        service.ready().await?;
        owing::all_leased(&self.stage).await?;
        person.moves_to(console);
        let forwarder = tokio::spawn(backhaul::delivery::forward_signals(self.app.clone()));
        let mut connection = self.stage.connect().await?;
        self.full_rate(&mut connection, WARM_UP).await?;
        let full = self.full_rate(&mut connection, plan.duration).await?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate is a small positive number")]
        let half = (full / 2.0).max(1.0) as u32;
        println!("Deliveries: {full:.0}/s at most. Now at {half}/s, beside {} pages/s in turn …", plan.pages_per_second);
        let mut visits = Visits::new(console, pages.iter().map(|page| person.request(page)).collect(), plan.pages_per_second);
        visits.open_for(WARM_UP).await?;
        let mut rounds = Rounds::default();
        for at in 0..plan.rounds {
            let alone = self.deliveries(half, plan.duration, None).await?;
            let beside = self.deliveries(half, plan.duration, Some((&mut visits, &mut rounds.seen))).await?;
            println!("round {}  deliveries' p99 {alone:>7.2} ms alone, {beside:>7.2} ms beside pages", at + 1);
            rounds.alone.push(alone);
            rounds.beside.push(beside);
        }
        forwarder.abort();
        drop::<Service>(service);
        Ok((full, rounds))
    }

    /// Messages per second from commit to settlement, as fast as flows can owe them for about this time.
    async fn full_rate(&self, connection: &mut PgConnection, about: Duration) -> anyhow::Result<f64> {
        let (mut count, started) = (0, Instant::now());
        self.receiver.clear();
        while started.elapsed() < about {
            owing::owe_many(&self.app, &self.targets, 1_000, FLOWS, &Arc::default()).await?;
            count += 1_000;
        }
        self.receiver.wait_for(count, WITHIN).await?;
        let per_second = of(count) / started.elapsed().as_secs_f64();
        // Retries at systems that refuse are due later.
        owing::none_due(connection, WITHIN).await?;
        Ok(per_second)
    }

    /// The p99 of deliveries at this rate, in milliseconds.
    async fn deliveries(&self, per_second: u32, duration: Duration, visits: Option<(&mut Visits, &mut Vec<Seen>)>) -> anyhow::Result<f64> {
        self.receiver.clear();
        let messages = async {
            owing::owe_steadily(&self.app, &self.targets, per_second, WARM_UP, "warm").await?;
            owing::owe_steadily(&self.app, &self.targets, per_second, duration, "live").await
        };
        let people = async {
            if let Some((visits, seen)) = visits {
                seen.extend(visits.open_for(WARM_UP + duration).await?);
            }
            anyhow::Ok(())
        };
        let (committed, ()) = tokio::try_join!(messages, people)?;
        // Messages still on their way either arrive now or count as late.
        tokio::time::sleep(Duration::from_secs(2)).await;
        Ok(percentile(&self.receiver.latencies(&committed), 0.99))
    }
}

/// All that was measured.
struct Measured<'a> {
    pages: &'a [String],
    left_out: usize,
    buffers: &'a [Touched],
    full: f64,
    rounds: Rounds,
}

/// True for what is downloaded, and false for a page.
fn is_file(page: &str) -> bool {
    [".csv", ".ndjson"].iter().any(|end| page.split('?').next().is_some_and(|path| path.ends_with(end)))
}

impl Measured<'_> {
    /// Prints a line for every page, and holds everything to the bars.
    fn show(self, plan: &Plan) -> anyhow::Result<Value> {
        let (mut p99_ms, mut files_p99_ms, mut all) = (0.0_f64, 0.0_f64, Vec::with_capacity(self.rounds.seen.len()));
        let (mut most_buffers, mut files_most_buffers, mut over) = (0, 0, 0);
        println!("{:>8} {:>8} {:>10} {:>10}   page", "buffers", "opened", "p50 ms", "p99 ms");
        for (at, (page, Touched { buffers, dearest })) in self.pages.iter().zip(self.buffers).enumerate() {
            let mut times: Vec<u32> = self.rounds.seen.iter().filter(|seen| seen.page == at).map(|seen| seen.took).collect();
            times.sort_unstable();
            let [half, most] = [0.5, 0.99].map(|share| percentile(&times, share));
            println!("{buffers:>8} {:>8} {half:>10.2} {most:>10.2}   {page}", times.len());
            for (buffers, statement) in dearest.iter().filter(|_| *buffers > MOST_BUFFERS) {
                println!("{buffers:>12} of them: {statement}");
            }
            // A file has up to 10,000 rows; a page shows a few.
            if is_file(page) {
                (files_p99_ms, files_most_buffers) = (files_p99_ms.max(most), files_most_buffers.max(*buffers));
            } else {
                (p99_ms, most_buffers) = (p99_ms.max(most), most_buffers.max(*buffers));
                over += usize::from(*buffers > MOST_BUFFERS);
            }
            all.extend(times);
        }
        all.sort_unstable();
        let refused: Vec<&Seen> = self.rounds.seen.iter().filter(|seen| seen.status != 200).collect();
        for Seen { page, status, .. } in &refused {
            println!("{} was answered with {status}", self.pages.get(*page).map_or("", String::as_str));
        }
        let refused = refused.len();
        let (alone, beside) = (median(self.rounds.alone), median(self.rounds.beside));
        let ratio = beside / alone;
        let result = json!({
            "bench": "console", "orders": plan.size.orders, "messages": plan.size.messages, "attempts": plan.size.messages * 3,
            "failures": plan.size.failures, "pages": self.pages.len(), "left_out": self.left_out, "opened": all.len(), "refused": refused,
            "pages_per_s": plan.pages_per_second, "rounds": plan.rounds, "most_buffers": most_buffers, "pages_over_500": over,
            "all_p50_ms": round(percentile(&all, 0.5), 2), "all_p99_ms": round(percentile(&all, 0.99), 2), "p99_ms": round(p99_ms, 2),
            "files_most_buffers": files_most_buffers, "files_p99_ms": round(files_p99_ms, 2),
            "full_per_s": round(self.full, 0), "deliveries_per_s": round(self.full / 2.0, 0),
            "deliveries_p99_ms": round(alone, 2), "deliveries_p99_beside_ms": round(beside, 2), "deliveries_p99_ratio": round(ratio, 3),
        });
        ensure!(refused == 0, "{refused} pages were not shown: {result}");
        ensure!(over == 0, "{over} pages touch more than {MOST_BUFFERS} buffers: {result}");
        ensure!(files_most_buffers <= MOST_BUFFERS_OF_FILE, "a file touches more than {MOST_BUFFERS_OF_FILE} buffers: {result}");
        ensure!(!plan.timed || p99_ms < MOST_MS, "a page takes longer than {MOST_MS} ms: {result}");
        ensure!(!plan.timed || ratio <= MOST_RATIO, "deliveries are slower beside pages: {result}");
        Ok(result)
    }
}
