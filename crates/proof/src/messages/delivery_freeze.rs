//! `freeze-delivery`: a deliverer freezes with calls in flight for longer than its leases last, and resumes. Another has
//! taken over its deliveries meanwhile, so nothing the frozen one does afterwards may change anything.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use backhaul::app::App;
use sandbox::merchant::{Answer, Merchant};
use serde_json::{Value, json};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::messages::leasing::{balanced, owners};
use crate::messages::owing::{self, Target, path};
use crate::messages::witness::Witness;
use crate::stage::Stage;

/// Endpoints, and the slots of each: more than its subjects need.
const ENDPOINTS: usize = 20;
const SLOTS: i32 = 10;
/// Subjects, spread over the endpoints.
const SUBJECTS: u64 = 60;
/// The length of the freeze; leases last 10 s.
const FROZEN_FOR: Duration = Duration::from_secs(15);
/// The timeout of each step.
const WITHIN: Duration = Duration::from_secs(20);

/// The calls held back by the simulated systems.
#[derive(Default)]
struct Held {
    /// The paths where calls are held.
    paths: HashSet<String>,
    messages: Mutex<HashSet<Uuid>>,
    /// Set once no more calls are to be held.
    over: AtomicBool,
}

impl Held {
    fn messages(&self) -> Vec<Uuid> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }

    /// Returns whether to hold this call: the first one of each message at these paths.
    fn hold(&self, path: &str, message: Uuid) -> bool {
        let held = !self.over.load(Ordering::SeqCst) && self.paths.contains(path);
        held && self.messages.lock().unwrap_or_else(PoisonError::into_inner).insert(message)
    }
}

pub(crate) async fn run(program: &Path) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL, 100 merchants, {ENDPOINTS} endpoints …");
    let stage = Stage::set(program).await?;
    let app = stage.app()?;
    let systems = Merchant::start().await?;
    systems.keep_bodies(false);
    let targets = Target::set_all(&app, &stage, 0..ENDPOINTS, &systems, SLOTS).await?;
    let forwarder = tokio::spawn(backhaul::delivery::forward_signals(app.clone()));
    let mut connection = stage.connect().await?;

    let mut frozen = owing::deliver(&stage).await?;
    let first = owners(&mut connection).await?.into_values().next().context("no bucket has an owner")?;
    let mut other = stage.deliver()?;
    ensure!(balanced(&stage, 2).await?, "the buckets are not shared fairly");
    let by_bucket = owners(&mut connection).await?;
    let is_frozen = |target: &Target| by_bucket.get(&i16::from(target.bucket)) == Some(&first);
    let paths = targets.iter().enumerate().filter(|(_, target)| is_frozen(target)).map(|(number, _)| path(number));
    let held = Arc::new(Held { paths: paths.collect(), ..Held::default() });
    let witness = Arc::new(Witness::default());
    watch(&systems, &witness, &held);
    let owe = Owe { app: app.clone(), targets, witness: Arc::clone(&witness) };

    owe.steps(1..=3).await?;
    let heads = (0..SUBJECTS).filter(|number| owe.to(*number).is_some_and(is_frozen)).count();
    ensure!(heads > 0, "the first deliverer owns no endpoint's bucket");
    let started = Instant::now();
    while held.messages().len() < heads {
        ensure!(started.elapsed() < WITHIN, "only {} of {heads} calls are held", held.messages().len());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    println!("Freezing the deliverer with {heads} calls in flight …");
    let frozen_at = app.now();
    frozen.signal("-STOP")?;
    held.over.store(true, Ordering::SeqCst);
    owe.steps(4..=4).await?;
    tokio::time::sleep(FROZEN_FOR).await;
    owing::all_settled(&mut connection, WITHIN).await?;
    let taken_over = !owners(&mut connection).await?.values().any(|owner| *owner == first);
    let before = attempts(&mut connection).await?;

    println!("Resuming it, and answering its calls …");
    systems.release();
    frozen.signal("-CONT")?;
    let shared = balanced(&stage, 2).await?;
    // By now it has finished its old calls, because it takes part again. Those calls began before the freeze.
    let after = attempts(&mut connection).await?;
    let stored_late: i64 = sqlx::query_scalar("select count(*) from attempt where message_id = any ($1) and started_at <= $2")
        .bind(held.messages())
        .bind(frozen_at)
        .fetch_one(&mut connection)
        .await?;
    owe.steps(5..=6).await?;
    let drained = owing::all_settled(&mut connection, WITHIN).await;
    frozen.leave().await?;
    other.leave().await?;
    forwarder.abort();
    app.cell().close().await;

    let report = witness.check(&mut connection).await?;
    let own = json!({
        "frozen_s": FROZEN_FOR.as_secs(), "held_calls": heads, "stale_attempts": stored_late, "written_late": after - before,
        "taken_over": taken_over, "shared": shared,
    });
    let result = report.result("freeze-delivery", own);
    report.ensure(&result)?;
    ensure!(taken_over, "the buckets were not taken over: {result}");
    ensure!(stored_late == 0 && after == before, "the deliverer wrote after losing its leases: {result}");
    ensure!(report.found.duplicates >= heads, "calls with an unknown outcome were not repeated: {result}");
    ensure!(shared, "the deliverer did not get a share again: {result}");
    drained?;
    Ok(result)
}

/// Makes `systems` accept everything, and hold the calls that are to be held.
fn watch(systems: &Merchant, witness: &Arc<Witness>, held: &Arc<Held>) {
    let (witness, held) = (Arc::clone(witness), Arc::clone(held));
    systems.answer_by("/", move |received| {
        let message = witness.arrive(received, true);
        let is_held = message.is_some_and(|message| held.hold(received.path(), message));
        if is_held { Answer::ok().held() } else { Answer::ok() }
    });
}

/// Owes the messages of all subjects.
struct Owe {
    app: App,
    targets: Vec<Target>,
    witness: Arc<Witness>,
}

impl Owe {
    /// The endpoint of a subject.
    fn to(&self, number: u64) -> Option<&Target> {
        usize::try_from(number).ok().and_then(|number| self.targets.get(number % self.targets.len()))
    }

    /// Owes these steps of every subject.
    async fn steps(&self, sequences: std::ops::RangeInclusive<i64>) -> anyhow::Result<()> {
        for sequence in sequences {
            for number in 0..SUBJECTS {
                let to = self.to(number).context("the endpoint is not there")?;
                let subject = format!("R-{number}");
                let (id, _) = owing::owe(&self.app, to, &subject, sequence).await?;
                self.witness.owe(id, number, sequence, &owing::body(&subject, sequence));
            }
        }
        Ok(())
    }
}

/// The number of stored attempts.
async fn attempts(connection: &mut PgConnection) -> anyhow::Result<i64> {
    Ok(sqlx::query_scalar("select count(*) from attempt").fetch_one(connection).await?)
}
