//! Compares the two ways of reading an order message with each other and with the faults that were injected.
//!
//! The test generates a valid message and injects up to three faults. The fast path must refuse it if and only if the slow path
//! reports exactly these faults. `CASES` is the number of messages to try, `SEED` the first one; a failure prints the `SEED` that
//! repeats it with `CASES=1`.

#![expect(clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "a test may end in a panic")]

use std::collections::BTreeSet;
use std::num::NonZero;

use rand::prelude::*;
use serde::Deserialize;
use serde_json::value::RawValue;
use wire::fault::{Code, Fault};
use wire::json;
use wire::orders::order::{OrderIn, Refusal, read_fast, read_one, read_slow};

use self::message::{MESSAGE, Wealth};
use self::seed::{Seed, Told, count, seeds, spot, spots};
use self::tree::{Json, one_in};

#[path = "agreement/message.rs"]
mod message;
#[path = "agreement/seed.rs"]
mod seed;
#[path = "agreement/tree.rs"]
mod tree;

/// The default of `CASES`.
const CASES: u64 = 20_000;

/// One message in this many also has its orders read on their own.
const ALONE_EVERY: u64 = 8;

#[expect(clippy::disallowed_methods, reason = "the variables are for whoever runs the test, and are no configuration")]
fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |value| value.parse().unwrap_or_else(|_| panic!("{name} is no number")))
}

fn told(fault: &Fault) -> Told {
    let code = match fault.code {
        Code::MissingField => "missing_field",
        Code::InvalidType => "invalid_type",
        Code::Invalid => "invalid",
    };
    (fault.field.clone(), code)
}

/// Checks that both paths agree on `text`, and that exactly the injected faults are reported.
fn check(text: &str, seeded: &BTreeSet<Told>) -> Result<(), String> {
    json::text(text.as_bytes()).map_err(|malformed| format!("not even tried: {malformed:?}"))?;
    let accepted = read_fast(text).is_some();
    let faults = match read_slow(text) {
        Refusal::Faulty(faults) => faults.faults,
        Refusal::Malformed(malformed) => return Err(format!("taken for no JSON: {malformed:?}")),
    };
    if accepted != faults.is_empty() {
        return Err(format!("the fast path {}, the slow path says {faults:?}", if accepted { "accepts" } else { "refuses" }));
    }
    let found: BTreeSet<Told> = faults.iter().map(told).collect();
    if found != *seeded {
        let (missed, made_up) = (seeded.difference(&found).collect::<Vec<_>>(), found.difference(seeded).collect::<Vec<_>>());
        return Err(format!("not told: {missed:?}; told without cause: {made_up:?}"));
    }
    if let Some(twice) = faults.iter().enumerate().find_map(|(at, fault)| faults[..at].contains(fault).then_some(fault)) {
        return Err(format!("told twice: {twice:?}"));
    }
    Ok(())
}

/// The orders of a message, as text.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    returns_portal_order: Orders<'a>,
}

#[derive(Deserialize)]
struct Orders<'a> {
    #[serde(borrow)]
    orders: Vec<&'a RawValue>,
}

/// Checks that an order on its own has the same faults as in the message `text`.
fn check_alone(text: &str) -> Result<(), String> {
    let (Ok(message), Refusal::Faulty(faults)) = (serde_json::from_str::<Message<'_>>(text), read_slow(text)) else { return Ok(()) };
    for (at, order) in message.returns_portal_order.orders.into_iter().enumerate() {
        let path = format!("returns_portal_order.orders[{at}]");
        let of_order = faults.faults.iter().filter_map(|fault| {
            let field = fault.field.strip_prefix(&path)?;
            Some(Fault { field: field.strip_prefix('.').unwrap_or(field).to_owned(), ..fault.clone() })
        });
        let expected: Vec<Fault> = of_order.collect();
        let found = read_one(order.get().as_bytes()).err().map(|refused| refused.faults).unwrap_or_default();
        // Rules are tried once the shape is right: for a message that is when all of its orders are.
        if found != expected && !(expected.is_empty() && serde_json::from_str::<OrderIn<'_>>(order.get()).is_ok()) {
            return Err(format!("order {at}: in the message {expected:?}, alone {found:?}"));
        }
    }
    Ok(())
}

/// Checks that neither path accepts `text` as JSON.
fn check_malformed(text: &str) -> Result<(), String> {
    match (read_fast(text), read_slow(text)) {
        (None, Refusal::Malformed(_)) => Ok(()),
        (Some(_), _) => Err("the fast path accepts".to_owned()),
        (None, Refusal::Faulty(faults)) => Err(format!("the slow path takes it for JSON and says {:?}", faults.faults)),
    }
}

/// A message with up to three faults, and the faults.
struct Case {
    text: String,
    seeds: Vec<Seed>,
}

impl Case {
    fn new(rng: &mut StdRng) -> Self {
        let mut message = MESSAGE.value(Wealth::Mixed, rng);
        let wanted = rng.random_range(0..=3);
        let mut chosen: Vec<Seed> = Vec::new();
        let values = count(&message);
        for _ in 0..wanted {
            // The few values that hold all others would hardly ever be chosen among so many; they stand towards the end.
            let first = if one_in(rng, 10) { values.saturating_sub(3) } else { 0 };
            let spot = spot(&message, rng.random_range(first..values));
            if let Some(seed) = seeds(&mut message, &spot, rng).choose(rng)
                && !chosen.iter().any(|other| other.overlaps(seed))
            {
                chosen.push(seed.clone());
            }
        }
        for seed in &chosen {
            seed.apply(&mut message);
        }
        Self { text: message.write(rng), seeds: chosen }
    }

    fn seeded(&self) -> BTreeSet<Told> {
        self.seeds.iter().map(|seed| seed.told.clone()).collect()
    }
}

/// Tries the messages `numbers`, and counts them by their number of faults.
fn try_cases(numbers: impl Iterator<Item = u64>) -> [u64; 4] {
    let mut by_faults = [0; 4];
    for number in numbers {
        let case = Case::new(&mut StdRng::seed_from_u64(number));
        let alone = if number % ALONE_EVERY == 0 { check_alone(&case.text) } else { Ok(()) };
        if let Err(wrong) = check(&case.text, &case.seeded()).and(alone) {
            panic!("{wrong}\nSEED={number}\nseeded: {:#?}\nmessage: {}", case.seeds, case.text);
        }
        by_faults[case.seeds.len()] += 1;
    }
    by_faults
}

#[test]
fn both_paths_agree_on_generated_messages() {
    let (first, cases) = (setting("SEED", 0), setting("CASES", CASES));
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let counts: Vec<[u64; 4]> = std::thread::scope(|scope| {
        let workers: Vec<_> =
            (first..).take(threads).map(|start| scope.spawn(move || try_cases((start..first + cases).step_by(threads)))).collect();
        workers.into_iter().map(|worker| worker.join().expect("the failure is printed above")).collect()
    });
    // Every number of faults must come up, or the comparison says less than it seems to.
    let often = |faults: usize| counts.iter().map(|by_faults| by_faults[faults]).sum::<u64>() > cases / 20;
    assert!(cases < 1_000 || (0..4).all(often), "messages by number of faults, thread by thread: {counts:?}");
}

#[test]
fn every_fault_that_can_be_put_into_a_full_message_is_told() {
    let rng = &mut StdRng::seed_from_u64(0);
    let mut full = MESSAGE.value(Wealth::Full, rng);
    check(&full.write(rng), &BTreeSet::new()).expect("the message is valid");
    let mut tried = 0;
    for spot in spots(&full) {
        for seed in seeds(&mut full, &spot, rng) {
            let mut message = full.clone();
            seed.apply(&mut message);
            let text = message.write(rng);
            if let Err(wrong) = check(&text, &BTreeSet::from([seed.told.clone()])) {
                panic!("{wrong}\nseeded: {seed:#?}\nmessage: {text}");
            }
            tried += 1;
        }
    }
    assert!(tried > 2_000, "only {tried} faults were tried");
}

#[test]
fn a_message_of_required_fields_alone_is_accepted() {
    let rng = &mut StdRng::seed_from_u64(0);
    let text = MESSAGE.value(Wealth::Bare, rng).write(rng);
    check(&text, &BTreeSet::new()).expect("the message is valid");
}

#[test]
fn a_literal_that_is_no_json_is_refused_wherever_it_stands() {
    let literals = [
        r#""\ud800""#,
        r#""\udc00x""#,
        r#""\ud800A""#,
        r#""\uD83D\uD83D""#,
        r#""\u12""#,
        r#""\x""#,
        "\"\n\"",
        "\"\0\"",
        r#"{"\ud800":1}"#,
        "1e400",
        "-1e400",
        "1E+999",
        "01",
        "1.",
        ".5",
        "+1",
        "NaN",
        "Infinity",
        "nul",
        "'a'",
        "[1,]",
        "{\"a\":1,}",
        "{a:1}",
        "[",
        "/**/1",
    ];
    for number in 0..40 {
        let rng = &mut StdRng::seed_from_u64(number);
        let message = MESSAGE.value(Wealth::Mixed, rng);
        for literal in literals {
            let spots = spots(&message);
            let spot = spots.choose(rng).expect("the message itself is one");
            let mut broken = message.clone();
            *broken.at(&spot.at) = Json::literal(literal);
            let text = broken.write(rng);
            if let Err(wrong) = check_malformed(&text) {
                panic!("{wrong}\nliteral: {literal}\nmessage: {text}");
            }
        }
    }
}

#[test]
fn a_text_that_ends_early_or_late_is_refused() {
    let rng = &mut StdRng::seed_from_u64(0);
    let text = MESSAGE.value(Wealth::Full, rng).write(rng).trim().to_owned();
    for end in (0..text.len()).step_by(7).filter(|end| text.is_char_boundary(*end)) {
        check_malformed(&text[..end]).unwrap_or_else(|wrong| panic!("{wrong}, cut at {end}"));
    }
    for more in ["}", "0", ",", "{}", "\0", "\u{feff}"] {
        check_malformed(&format!("{text}{more}")).unwrap_or_else(|wrong| panic!("{wrong}, followed by {more:?}"));
    }
    check_malformed(&format!("\u{feff}{text}")).expect("a byte order mark is no JSON");
}

#[test]
fn the_check_finds_what_it_is_for() {
    let rng = &mut StdRng::seed_from_u64(0);
    let mut message = MESSAGE.value(Wealth::Bare, rng);
    let valid = message.write(rng);
    let spot = spots(&message).into_iter().find(|spot| tree::path(&spot.at).ends_with("orders[0].currency")).expect("it is required");
    let seed = seeds(&mut message, &spot, rng).into_iter().find(|seed| seed.told.1 == "missing_field").expect("it is required");
    seed.apply(&mut message);
    let faulty = message.write(rng);
    let (place, _) = seed.told.clone();

    check(&valid, &BTreeSet::new()).expect("nothing is wrong");
    check(&faulty, &BTreeSet::from([seed.told.clone()])).expect("this is what is wrong");
    check(&faulty, &BTreeSet::new()).expect_err("a fault that nobody put in");
    check(&faulty, &BTreeSet::from([(place.clone(), "invalid")])).expect_err("another code");
    check(&faulty, &BTreeSet::from([(place.replace("[0]", "[1]"), "missing_field")])).expect_err("another place");
    check(&faulty, &BTreeSet::from([seed.told.clone(), (String::new(), "invalid")])).expect_err("a second fault");
    check(&valid, &BTreeSet::from([seed.told])).expect_err("a fault that is not there");
    check("{", &BTreeSet::new()).expect_err("no JSON");
    check_malformed(&valid).expect_err("nothing is wrong");
    check_malformed(&faulty).expect_err("it is JSON");
}

#[test]
fn the_generator_is_as_varied_as_it_is_meant_to_be() {
    let mut texts = String::new();
    let mut wrong = BTreeSet::new();
    for number in 0..2_000 {
        let case = Case::new(&mut StdRng::seed_from_u64(number));
        wrong.extend(case.seeds.iter().map(|seed| seed.told.1));
        texts.push_str(&case.text);
    }
    assert_eq!(wrong.len(), 3, "codes: {wrong:?}");
    for sign in [
        r#""customer""#,
        r#""the service""#,
        ":null",
        "12.0",
        "1.2e1",
        "1e12",
        "-0",
        "😀",
        "\\u",
        "\\\"",
        "-0730",
        ",25",
        "Canceled",
        "\r\n",
    ] {
        assert!(texts.contains(sign), "no {sign}");
    }
}
