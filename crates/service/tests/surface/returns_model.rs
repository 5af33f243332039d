//! Histories of merchants by chance, taken by the flows on a real database and by a plain model in memory: after every step
//! both must show the same, and at the end what must always hold is checked without the model.
//!
//! `HISTORIES` says how many, `SEED` where to begin: a failure prints the `SEED` that repeats it with `HISTORIES=1`, and the
//! fewest steps that still fail.

mod drive;
mod generate;
mod invariants;
mod model;
mod step;
mod tampering;
mod view;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

use backhaul::flow::configure_merchant::add_merchant;
use chrono::TimeDelta;
use domain::money::Cents;
use domain::rma::policy::{Offer, Policy};
use domain::rma::{Event, Method};
use serde_json::json;
use sqlx::PgConnection;
use store::{partitions, return_policies};
use uuid::Uuid;

use self::generate::Generator;
use self::invariants::Record;
use self::model::{Model, Terms};
use self::step::Step;
use self::tampering::Tampering;
use self::view::View;
use crate::world::{World, beginning};

/// How many histories are tried unless `HISTORIES` says otherwise.
const HISTORIES: u64 = 100;
/// How many are under way at a time. Each has a database, because returns of all merchants are woken together, and histories are
/// not at the same time.
const LANES: usize = 4;

/// How steps end, by the first words.
const OUTCOMES: [&str; 18] = [
    "created",
    "updated",
    "unchanged",
    "stale",
    "refused",
    "started",
    "repeated",
    "faulty",
    "key",
    "moved",
    "kept",
    "another's",
    "no",
    "received",
    "cancelled",
    "resent",
    "woken",
    "reminded",
];

/// A database, and the histories in it one after the other.
struct Lane {
    world: World,
    beside: PgConnection,
    taken: u32,
}

/// A history that did not go as it must.
#[derive(Debug)]
struct Wrong {
    steps: Vec<Step>,
    why: String,
}

impl Lane {
    async fn new() -> Self {
        let mail = [("BACKHAUL__MAIL__URL", "smtp://127.0.0.1:9?tls=none"), ("BACKHAUL__MAIL__FROM", "returns@example.com")];
        let world = World::with(&mail).await;
        partitions::make(&world.app.store, beginning(), i32::try_from(generate::MOST_HOURS / 24).unwrap() + 2).await.unwrap();
        let beside = world.database.connect().await;
        Self { world, beside, taken: 0 }
    }

    /// Takes a history from its beginning. `tampering` changes what is seen.
    async fn run(
        &mut self,
        terms: Terms,
        mut next: impl FnMut(&Model) -> Option<Step>,
        tampering: Option<Tampering>,
    ) -> Result<Record, Wrong> {
        let app = self.world.app.clone();
        app.clock.set(beginning());
        self.taken += 1;
        let merchant = add_merchant(&app, "test", &format!("m-{}", self.taken).parse().unwrap(), "A merchant", None).await.unwrap();
        let policy = policy(terms);
        let mut tx = app.store.begin(merchant).await.unwrap();
        return_policies::save(&mut tx, &policy, app.now()).await.unwrap();
        tx.commit().await.unwrap();

        let (mut model, mut names, mut record) = (Model::new(terms), Vec::new(), Record::new());
        while let Some(step) = next(&model) {
            let waited = if let Step::Wait(hours) = step { TimeDelta::hours(hours) } else { TimeDelta::zero() };
            app.clock.advance((TimeDelta::seconds(1) + waited).to_std().unwrap());
            model.now = app.now();
            let first = Uuid::from_u128(u128::try_from(model.now.timestamp_millis()).unwrap() << 80);
            let outcome = drive::take(&app, merchant, &step, &mut names).await;
            let started = outcome.strip_prefix("started ");
            let looked_at = looked_at(&step, &model, record.len());
            let expected = model.take(&step, started, looked_at);
            let mut seen = View { outcome, ..view::see(&app, &mut self.beside, merchant, &policy, first, looked_at).await };
            let tampered = tampering.is_some_and(|tampering| tampering.change(&mut seen));
            let difference = difference(&expected, &seen);
            assert!(!tampered || difference.is_some(), "{tampering:?} goes unseen");
            record.push((step, seen));
            if let Some(why) = difference {
                return Err(Wrong { steps: steps(&record), why });
            }
        }
        // What is over is not woken by the histories that follow.
        let over = sqlx::query("update rma set wakes_at = null where merchant_id = $1").bind(merchant.0);
        over.execute(&mut self.beside).await.unwrap();
        match invariants::check(&record) {
            Ok(()) => Ok(record),
            Err(why) => Err(Wrong { steps: steps(&record), why }),
        }
    }

    /// Takes the history of a seed.
    async fn run_seed(&mut self, seed: u64, tampering: Option<Tampering>) -> Result<Record, (Terms, Wrong)> {
        let (mut generator, terms) = Generator::new(seed);
        self.run(terms, |model| generator.next(model), tampering).await.map_err(|wrong| (terms, wrong))
    }

    /// Leaves out steps for as long as the history still fails.
    async fn shrink(&mut self, terms: Terms, mut wrong: Wrong) -> Wrong {
        let mut at = wrong.steps.len();
        while at > 0 {
            at -= 1;
            let mut fewer = wrong.steps.clone();
            fewer.remove(at);
            let mut steps = fewer.into_iter();
            if let Err(still) = self.run(terms, |_| steps.next(), None).await {
                wrong = still;
                at = at.min(wrong.steps.len());
            }
        }
        wrong
    }
}

fn steps(record: &Record) -> Vec<Step> {
    record.iter().map(|(step, _)| step.clone()).collect()
}

fn policy(terms: Terms) -> Policy {
    let offer = |method, fee, deducted| Offer { method, fee: Cents::new(fee).unwrap(), deducted };
    Policy {
        managed_receiving: terms.managed_receiving,
        offers: vec![
            offer(Method::MailBack, terms.fee, terms.deducted),
            offer(Method::ExpressReturns, 0, false),
            offer(Method::CustomerKeep, 0, false),
        ],
        ..Policy::default()
    }
}

/// The order of which is asked what can come back: the one that the step is about, or any.
fn looked_at(step: &Step, model: &Model, nth_step: usize) -> usize {
    let of_return = |nth: usize| model.returns.get(nth).map_or(0, |kept| kept.order);
    match step {
        Step::Publish(snapshot) => snapshot.order,
        Step::Start(start) => start.order,
        Step::Carry(report) => report.of.map_or(0, of_return),
        Step::Receive(nth, _) | Step::Close(nth) | Step::Cancel(nth) | Step::Resend(nth) => of_return(*nth),
        Step::Wait(_) => nth_step % 2,
    }
}

/// The first thing that is not as it must be.
fn difference(expected: &View, seen: &View) -> Option<String> {
    fn unlike<T: PartialEq + Debug>(what: &str, expected: &T, seen: &T) -> Option<String> {
        (expected != seen).then(|| format!("{what}: expected {expected:#?}\nseen {seen:#?}"))
    }
    unlike("outcome", &expected.outcome, &seen.outcome)
        .or_else(|| unlike("messages", &expected.told, &seen.told))
        .or_else(|| unlike("reminders", &expected.reminded, &seen.reminded))
        .or_else(|| unlike("returns", &expected.returns, &seen.returns))
        .or_else(|| unlike("claims", &expected.claims, &seen.claims))
        .or_else(|| unlike("what can come back", &expected.returnable, &seen.returnable))
}

fn setting<T: FromStr>(name: &str, usual: T) -> T {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

/// How often steps ended in each way, and how often each message was told.
type Counts = BTreeMap<String, usize>;

fn count(record: &Record, counts: &mut Counts) {
    for (_, view) in record {
        let outcome = view.outcome.split(' ').next().unwrap_or_default();
        let events = view.told.iter().map(|told| told.event.as_str());
        for word in events.chain([outcome]).chain(view.reminded.iter().map(|_| "reminded")) {
            *counts.entry(word.to_owned()).or_default() += 1;
        }
    }
}

/// Takes histories until `next` is beyond `end`.
async fn run_lane(next: &AtomicU64, end: u64) -> Result<Counts, String> {
    let (mut lane, mut counts) = (Lane::new().await, Counts::new());
    loop {
        let seed = next.fetch_add(1, Ordering::SeqCst);
        if seed >= end {
            return Ok(counts);
        }
        match lane.run_seed(seed, None).await {
            Ok(record) => count(&record, &mut counts),
            Err((terms, wrong)) => {
                next.store(end, Ordering::SeqCst);
                let Wrong { steps, why } = lane.shrink(terms, wrong).await;
                return Err(format!("SEED={seed} HISTORIES=1, {terms:?}\n{steps:#?}\n{why}"));
            }
        }
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "scripts read it")]
fn any_history_of_returns_goes_as_the_model_says() {
    let (first, histories) = (setting("SEED", 0), setting("HISTORIES", HISTORIES));
    let next = AtomicU64::new(first);
    let in_a_lane = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run_lane(&next, first + histories))
    };
    let counts: Vec<Counts> = std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES).map(|_| scope.spawn(in_a_lane)).collect();
        lanes.into_iter().map(|lane| lane.join().unwrap().unwrap_or_else(|wrong| panic!("{wrong}"))).collect()
    });
    let mut sum = Counts::new();
    counts.into_iter().flatten().for_each(|(word, count)| *sum.entry(word).or_default() += count);
    println!("{}", json!({ "model": "returns", "histories": histories, "counts": sum }));
    if histories >= HISTORIES {
        let told = Event::ALL.iter().map(|event| event.as_str());
        let missing: Vec<&str> = told.chain(OUTCOMES).filter(|word| !sum.contains_key(*word)).collect();
        assert!(missing.is_empty(), "what never happened was not tried: {missing:?}");
    }
}

#[tokio::test]
async fn the_model_catches_whatever_is_tampered_with() {
    let mut lane = Lane::new().await;
    for tampering in Tampering::ALL {
        let mut caught = 0;
        for seed in 0..5 {
            caught += u32::from(lane.run_seed(seed, Some(tampering)).await.is_err());
        }
        assert!(caught > 0, "{tampering:?}");
    }
}

#[tokio::test]
async fn what_must_always_hold_is_checked_without_the_model_too() {
    let mut lane = Lane::new().await;
    let mut records = Vec::new();
    for seed in 0..5 {
        records.push(lane.run_seed(seed, None).await.unwrap_or_else(|(_, wrong)| panic!("{wrong:?}")));
    }
    for tampering in Tampering::ALL {
        let mut caught = 0;
        for mut record in records.clone() {
            let changed = record.iter_mut().any(|(_, view)| tampering.change(view));
            if changed {
                assert!(invariants::check(&record).is_err(), "{tampering:?}");
                caught += 1;
            }
        }
        assert!(caught > 0, "{tampering:?}");
    }
}
