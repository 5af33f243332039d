//! `crash-delivery`: a process crashes at every point of a message's delivery, and another takes over. No message may be lost,
//! altered or delivered out of order within its subject.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use backhaul::app::App;
use backhaul::delivery::secrets::authentication::{Authentication, OAuth, Style};
use backhaul::flow::messages::configure_endpoint::EndpointChange;
use sandbox::merchant::{Merchant, TOKEN_PATH};
use serde_json::{Value, json};
use sqlx::PgConnection;
use store::crash::{POINTS, Point};
use tokio::task::{JoinHandle, LocalSet};
use uuid::Uuid;

use crate::messages::owing::{self, Target, path};
use crate::messages::witness::{FAILING, Report, Witness};
use crate::messages::{leasing, rollups, witness};
use crate::stage::{Service, Stage};

/// The number of parallel stages. A run mostly waits for retries, but each stage begins with a database, and two cores set up no more in time.
const STAGES: usize = 5;
/// Endpoints whose calls fail sometimes. The first requires a token.
const ENDPOINTS: usize = 4;
/// The endpoint whose calls all fail, and the one whose calls all succeed.
const HOPELESS: usize = ENDPOINTS;
const WILLING: usize = ENDPOINTS + 1;
/// Subjects per wave, and messages per subject.
const SUBJECTS: u64 = 12;
const MESSAGES: i64 = 4;
/// The same for the endpoint whose calls all fail.
const HOPELESS_SUBJECTS: u64 = 2;
const HOPELESS_MESSAGES: i64 = 2;
/// The size of each stage's range of subject numbers.
const MOST_SUBJECTS: u64 = 1_000_000;
/// The most waves a process may survive before its crash point counts as unreachable.
const MOST_WAVES: usize = 8;
/// The timeout of a wave.
const SETTLED_WITHIN: Duration = Duration::from_secs(40);
/// The interval for checking whether the process has ended.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Crashes still to come.
type Cuts = Arc<Mutex<VecDeque<(Point, usize)>>>;

pub(crate) async fn run(program: &Path, times: usize) -> anyhow::Result<Value> {
    println!("Setting up {STAGES} stages, each with a temporary PostgreSQL, 100 merchants, {} endpoints …", ENDPOINTS + 2);
    let runs = POINTS.len() * times;
    let cuts = Cuts::new(Mutex::new((1..=times).flat_map(|turn| POINTS.iter().map(move |point| (*point, turn))).collect()));
    let started = Instant::now();
    let stages = LocalSet::new();
    let played: Vec<JoinHandle<anyhow::Result<(usize, Report)>>> =
        (0..STAGES).map(|number| stages.spawn_local(play(program.to_owned(), number, Arc::clone(&cuts)))).collect();
    stages.await;
    let (mut hits, mut reports) = (0, Vec::new());
    for stage in played {
        let (hit, report) = stage.await??;
        hits += hit;
        reports.push(report);
    }
    println!("{} points, {hits} processes crashed in {:.0} s", POINTS.len(), started.elapsed().as_secs_f64());
    let report = Report::join(reports);
    let result = report.result("crash-delivery", json!({"points": POINTS.len(), "hits": hits, "runs": runs}));
    ensure!(hits == runs, "not every crash point was reached: {result}");
    report.ensure(&result)?;
    Ok(result)
}

/// Makes crashes on its own stage until none is left. Returns the number of crash points reached.
async fn play(program: PathBuf, number: usize, cuts: Cuts) -> anyhow::Result<(usize, Report)> {
    let mut scene = Scene::set(&program, number).await?;
    let mut hits = 0;
    loop {
        let next = cuts.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let Some((point, turn)) = next else { break };
        let started = Instant::now();
        let outcome = scene.cut(point, turn).await;
        if outcome.is_err() {
            // Stop the other stages as well.
            cuts.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
        outcome.with_context(|| format!("crash at {}, turn {turn}", point.name()))?;
        hits += 1;
        println!("{}:{} after {:.1} s", point.name(), passes(point, turn), started.elapsed().as_secs_f64());
    }
    let report = scene.witness.check(&mut scene.connection).await?;
    scene.forwarder.abort();
    scene.app.cell().close().await;
    Ok((hits, report))
}

/// The ways to reach a crash point.
enum Reach {
    /// By a process that owes one message.
    Owing,
    /// By a deliverer, up to this many times without much waiting.
    Delivering(usize),
    /// By a deliverer that shuts down.
    Leaving,
}

fn reach(point: Point) -> Reach {
    match point {
        Point::Commit | Point::Committed | Point::Notify | Point::Notified => Reach::Owing,
        Point::PartitionsMade | Point::LeasesTaken | Point::TokenFetched => Reach::Delivering(1),
        Point::LeasesRenewed | Point::WorkFound => Reach::Delivering(2),
        Point::SettleFailuresKept | Point::NoticeWritten => Reach::Delivering(3),
        Point::SignalReceived
        | Point::WorkRead
        | Point::Call
        | Point::Answered
        | Point::Judged
        | Point::SettleBegun
        | Point::SettleHeld
        | Point::SettleRemoved
        | Point::SettlePostponed
        | Point::SettleParked
        | Point::SettleUnparked
        | Point::SettleAppended
        | Point::SettleCounted
        | Point::SettleCommit
        | Point::SettleCommitted => Reach::Delivering(usize::MAX),
        Point::Release | Point::Released | Point::Leave | Point::Left => Reach::Leaving,
    }
}

/// The number of passes of the point, from 1, after which the process crashes in this turn. It varies as much as the point
/// allows.
fn passes(point: Point, turn: usize) -> usize {
    match reach(point) {
        Reach::Owing | Reach::Leaving => 1,
        Reach::Delivering(most) => 1 + (turn - 1) % most,
    }
}

/// A stage and the messages owed on it.
struct Scene {
    stage: Stage,
    app: App,
    forwarder: JoinHandle<()>,
    witness: Arc<Witness>,
    _systems: Merchant,
    /// The endpoints whose calls fail sometimes, always and never, in this order.
    targets: Vec<Target>,
    connection: PgConnection,
    /// The file to which a crashing process writes its crash point.
    log: PathBuf,
    next_subject: u64,
    trials: Vec<Uuid>,
}

impl Scene {
    async fn set(program: &Path, number: usize) -> anyhow::Result<Self> {
        let stage = Stage::set(program).await?;
        let app = stage.app()?;
        let witness = Arc::new(Witness::default());
        let systems = Merchant::start().await?;
        witness.watch(&systems, "/", FAILING);
        witness.watch(&systems, &path(HOPELESS), 100);
        witness.watch(&systems, &path(WILLING), 0);
        let mut targets = Vec::new();
        for number in 0..=WILLING {
            let waits = if number == HOPELESS { vec![1; 5] } else { vec![1, 1, 2, 3, 3] };
            let authentication = (number == 0).then(|| token_of(&systems));
            let change = EndpointChange { waits: Some(waits), authentication, ..EndpointChange::default() };
            targets.push(Target::set(&app, &stage, number, &systems, change).await?);
        }
        Ok(Self {
            forwarder: tokio::spawn(backhaul::delivery::forward_signals(app.clone())),
            connection: stage.connect().await?,
            log: std::env::temp_dir().join(format!("backhaul-crash-{}-{number}", std::process::id())),
            next_subject: number as u64 * MOST_SUBJECTS,
            trials: Vec::new(),
            stage,
            app,
            witness,
            _systems: systems,
            targets,
        })
    }

    /// Crashes a process at the point, lets another take over, and checks the result.
    async fn cut(&mut self, point: Point, turn: usize) -> anyhow::Result<()> {
        let at = format!("{}:{}", point.name(), passes(point, turn));
        let log = self.log.display().to_string();
        let variables = [("BACKHAUL_CRASH_AT", at.as_str()), ("BACKHAUL_CRASH_LOG", log.as_str())];
        match reach(point) {
            Reach::Owing => self.cut_owing(point, &variables).await?,
            Reach::Delivering(_) => {
                let mut doomed = self.stage.deliver_with(&variables)?;
                self.owe_until_gone(&mut doomed).await?;
            }
            Reach::Leaving => {
                let mut doomed = self.stage.deliver_with(&variables)?;
                owing::all_leased(&self.stage).await?;
                self.owe_wave().await?;
                doomed.leave().await?;
            }
        }
        let said = std::fs::read_to_string(&self.log).unwrap_or_default();
        ensure!(said.trim() == point.name(), "the process did not crash at that point: its log says `{said}`");
        std::fs::remove_file(&self.log)?;

        leasing::free_all(&mut self.connection).await?;
        let mut successor = self.stage.deliver()?;
        let settled = owing::all_settled(&mut self.connection, SETTLED_WITHIN).await;
        successor.leave().await?;
        let witness::Report { found, .. } = self.witness.check(&mut self.connection).await?;
        ensure!(found.lost.is_empty() && found.inverted.is_empty() && found.altered.is_empty(), "{found:?}");
        settled?;
        rollups::check(&mut self.connection).await
    }

    /// Crashes a process that owes an endpoint test. The test must be owed if and only if the transaction was committed.
    async fn cut_owing(&mut self, point: Point, variables: &[(&str, &str)]) -> anyhow::Result<()> {
        let mut doomed = self.stage.try_endpoint(WILLING, variables)?;
        let started = Instant::now();
        while !doomed.is_gone()? {
            ensure!(started.elapsed() < SETTLED_WITHIN, "the process is still running");
            tokio::time::sleep(LOOK_EVERY).await;
        }
        let trials: Vec<(Uuid, String)> =
            sqlx::query_as("select message_id, body from message where kind = 'endpoint_test' and message_id <> all ($1)")
                .bind(&self.trials)
                .fetch_all(&mut self.connection)
                .await?;
        ensure!(trials.len() == usize::from(point != Point::Commit), "{} endpoint tests are owed", trials.len());
        for (id, body) in trials {
            self.witness.owe(id, self.next_subject, 1, &body);
            self.next_subject += 1;
            self.trials.push(id);
        }
        Ok(())
    }

    /// Owes wave after wave until the process has crashed.
    async fn owe_until_gone(&mut self, doomed: &mut Service) -> anyhow::Result<()> {
        for _ in 0..MOST_WAVES {
            self.owe_wave().await?;
            let started = Instant::now();
            while started.elapsed() < SETTLED_WITHIN {
                if doomed.is_gone()? {
                    return Ok(());
                }
                if !sqlx::query_scalar::<_, bool>("select exists (select from delivery)").fetch_one(&mut self.connection).await? {
                    break;
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
        }
        bail!("the process is still running after {MOST_WAVES} waves")
    }

    /// Owes the messages of new subjects, step by step.
    async fn owe_wave(&mut self) -> anyhow::Result<()> {
        let first = self.next_subject;
        self.next_subject += SUBJECTS + HOPELESS_SUBJECTS;
        for sequence in 1..=MESSAGES {
            for number in first..self.next_subject {
                let hopeless = number - first >= SUBJECTS;
                if hopeless && sequence > HOPELESS_MESSAGES {
                    continue;
                }
                let at = if hopeless { HOPELESS } else { usize::try_from(number)? % ENDPOINTS };
                let to = self.targets.get(at).context("there is no such endpoint")?;
                let subject = format!("R-{number}");
                let (id, _) = owing::owe(&self.app, to, &subject, sequence).await?;
                self.witness.owe(id, number, sequence, &owing::body(&subject, sequence));
            }
        }
        Ok(())
    }
}

/// Authentication with a token from the token endpoint of `systems`.
fn token_of(systems: &Merchant) -> Authentication {
    Authentication::OAuth(OAuth {
        token_url: systems.url(TOKEN_PATH),
        client_id: "backhaul".to_owned(),
        client_secret: "secret".into(),
        scope: None,
        style: Style::Form,
        extra: None,
    })
}
