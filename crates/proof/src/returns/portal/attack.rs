//! `attack-portal`: attackers compare the answers to failed searches, and guess. No answer and no time may tell why an order was
//! not found, no guess may find one, and no guessing may lock a shopper out.
//!
//! - The requests of an attacker (`attacker.rs`).
//! - Pairs of misses and their times (`misses.rs`, `welch.rs`).
//! - Guesses (`guesses.rs`).

mod attacker;
mod guesses;
mod misses;
mod welch;

use std::path::Path;

use anyhow::ensure;
use serde_json::{Value, json};

use self::guesses::Guesses;
use self::misses::Misses;
use crate::meter::round;
use crate::stage::{Stage, free};

/// The size of a run.
pub(crate) struct Plan {
    /// Pairs of each kind of miss and an unknown number.
    pub(crate) pairs: u32,
    pub(crate) guesses: u32,
    /// Addresses of those who guess.
    pub(crate) addresses: u32,
}

/// The client's address is taken from `X-Forwarded-For`, so that an attacker here can have many.
const VARIABLES: [(&str, &str); 1] = [("BACKHAUL__HTTP__TRUSTED_PROXIES", r#"["127.0.0.0/8"]"#)];
/// From here on, times are held to differ.
const DIFFERENT: f64 = 4.5;

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL, 100 merchants …");
    let stage = Stage::set(program).await?;
    let service = stage.serve_with(free()?, free()?, &VARIABLES)?;
    service.ready().await?;

    let misses = Misses::compare(&stage, &service, plan.pairs).await?;
    misses.show();
    println!("{} guesses from {} addresses …", plan.guesses, plan.addresses);
    let guesses = Guesses::make(&stage, &service, plan.guesses, plan.addresses).await?;
    let result = json!({
        "attack": "portal", "pairs": misses.pairs(), "worst_t": round(misses.worst_t(), 2), "unlike": misses.unlike(),
        "guesses": guesses.made, "found": guesses.found, "limited": guesses.limited, "without_time": guesses.without_time,
        "afterwards": guesses.afterwards, "locked_out": guesses.locked_out,
    });
    ensure!(misses.unlike() == 0, "some misses are answered differently: {}: {result}", misses.example());
    ensure!(misses.worst_t() < DIFFERENT, "the time of a miss tells its reason: {result}");
    ensure!(guesses.found == 0, "a guess found an order: {result}");
    ensure!(guesses.limited > 0 && guesses.without_time == 0, "the limits did not answer as they should: {result}");
    ensure!(guesses.locked_out == 0, "shoppers were locked out: {result}");
    Ok(result)
}
