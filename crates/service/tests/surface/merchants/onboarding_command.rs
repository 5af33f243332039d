//! `backhaul merchant onboarding` and `live`, run as a program.

use serde_json::Value;

use crate::binary::{backhaul, err, out};
use crate::world::World;

#[tokio::test]
async fn the_way_to_live_is_shown_and_ended_on_the_command_line() {
    let world = World::new().await;
    world.merchant("acme").await;
    let shown = backhaul(&world.database, &["merchant", "onboarding", "acme", "-o", "json"]);
    let shown: Value = serde_json::from_str(&out(&shown)).unwrap();
    let steps = shown["items"].as_array().unwrap();
    let states: Vec<(&str, &str)> = steps.iter().map(|step| (step["step"].as_str().unwrap(), step["state"].as_str().unwrap())).collect();
    let expected = [
        ("credential issued", "done"),
        ("first access token", "done"),
        ("first order", "now"),
        ("endpoints tested", "to come"),
        ("live", "to come"),
    ];
    assert_eq!(states, expected);
    assert_eq!(steps[2]["stuck_since"], "2026-03-01T12:00:00Z");
    let state = |words: &[&str]| serde_json::from_str::<Value>(&out(&backhaul(&world.database, words))).unwrap()["state"].clone();
    assert_eq!(state(&["merchant", "show", "acme", "-o", "json"]), "onboarding");
    assert_eq!(state(&["merchant", "live", "acme", "-o", "json"]), "live");
    assert!(err(&backhaul(&world.database, &["merchant", "live", "acme"])).contains("the merchant `acme` is live already"));
    let audit = world.database.texts("select detail from audit where action = 'merchant.went_live' and actor like 'cli:%'").await;
    assert_eq!(audit, ["acme, without: first order, endpoints tested"]);
}

#[tokio::test]
async fn a_credentials_use_is_noted_to_the_minute() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let times = "select to_char(first_token_at at time zone 'UTC', 'HH24:MI:SS') || ' ' || to_char(last_token_at at time zone 'UTC', 'HH24:MI:SS') from credential";
    assert_eq!(world.database.texts(times).await, ["12:00:00 12:00:00"]);
    world.time_passes(std::time::Duration::from_secs(59));
    merchant.gets_a_token().await;
    assert_eq!(world.database.texts(times).await, ["12:00:00 12:00:00"]);
    world.time_passes(std::time::Duration::from_secs(1));
    merchant.gets_a_token().await;
    assert_eq!(world.database.texts(times).await, ["12:00:00 12:01:00"]);
}
