//! Random histories of merchants, run by the flows on a real database and by a simple model in memory. The two must agree after
//! every step, and at the end the invariants are checked without the model.
//!
//! `HISTORIES` sets the number of histories and `SEED` the first seed. A failure prints the `SEED` that reproduces it with
//! `HISTORIES=1`, and the shortest list of steps that still fails.

mod counting;
mod drive;
mod generate;
mod invariants;
mod lane;
mod model;
mod step;
mod tampering;
mod view;

use std::ops::Range;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

use domain::returns::rma::Event;
use serde_json::json;

use self::counting::{Counts, OUTCOMES, count};
use self::generate::Generator;
use self::lane::{Lane, Wrong};
use self::tampering::Tampering;

/// The number of histories unless `HISTORIES` is set.
const HISTORIES: u64 = 100;
/// The number of histories that run in parallel. Each lane has its own database, because one wake-up handles the returns of all
/// merchants, and each history has its own time.
const LANES: usize = 4;
/// The seeds of the histories that are tampered with.
const TAMPERED: Range<u64> = 0..12;

fn setting<T: FromStr>(name: &str, usual: T) -> T {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

/// Runs histories until `next` reaches `end`.
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
#[expect(clippy::print_stdout, reason = "scripts read the counts")]
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
        let events = Event::ALL.iter().map(|event| event.as_str());
        let missing: Vec<&str> = events.chain(OUTCOMES).filter(|word| !sum.contains_key(*word)).collect();
        assert!(missing.is_empty(), "these outcomes never occurred: {missing:?}");
    }
}

#[tokio::test]
async fn the_model_catches_whatever_is_tampered_with() {
    let mut lane = Lane::new().await;
    for tampering in Tampering::ALL {
        let mut caught = false;
        for seed in TAMPERED {
            caught = caught || lane.run_seed(seed, Some(tampering)).await.is_err();
        }
        assert!(caught, "{tampering:?}");
    }
}

#[tokio::test]
async fn what_must_always_hold_is_checked_without_the_model_too() {
    let mut lane = Lane::new().await;
    let mut records = Vec::new();
    for seed in TAMPERED {
        let (_, terms) = Generator::new(seed);
        records.push((terms, lane.run_seed(seed, None).await.unwrap_or_else(|(_, wrong)| panic!("{wrong:?}"))));
    }
    for tampering in Tampering::ALL {
        let mut caught = 0;
        for (terms, mut record) in records.clone() {
            let changed = record.iter_mut().any(|(_, view)| tampering.change(view));
            if changed {
                assert!(invariants::check(terms, &record).is_err(), "{tampering:?}");
                caught += 1;
            }
        }
        assert!(caught > 0, "{tampering:?}");
    }
}
