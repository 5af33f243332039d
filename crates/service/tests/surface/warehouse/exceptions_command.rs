//! `backhaul exceptions …`, run as a program.

use domain::merchants::operator::Role;
use serde_json::Value;

use crate::binary::{backhaul, err, out};
use crate::world::{World, scan};

/// The output of `backhaul exceptions WORDS --merchant acme -o json`.
fn json(world: &World, words: &[&str]) -> Value {
    let output = backhaul(&world.database, &[&["exceptions"], words, &["--merchant", "acme", "-o", "json"]].concat());
    serde_json::from_str(&out(&output)).unwrap()
}

#[tokio::test]
async fn support_works_the_list_of_exceptions_from_the_command_line() {
    let world = World::new().await;
    let yard = world.yard("acme").await;
    yard.merchant.scans(&[scan("A-9", "LP-1"), scan("A-9", "LP-2")]).await;
    let email = world.console(Role::Support).await.email;
    let listed = json(&world, &["list"]);
    assert_eq!((listed["items"].as_array().unwrap().len(), &listed["items"][0]["unit_identifier"]), (2, &"LP-1".into()));
    let id = listed["items"][0]["id"].as_str().unwrap();
    assert_eq!(json(&world, &["assign", id, &email])["owner"], email.as_str());
    assert_eq!(json(&world, &["list", "--show", "mine", "--owner", &email])["items"].as_array().unwrap().len(), 1);
    assert_eq!(json(&world, &["list", "--show", "unassigned"])["items"][0]["unit_identifier"], "LP-2");
    json(&world, &["note", id, "asked the warehouse"]);
    let resolved = json(&world, &["resolve", id, "thrown away"]);
    assert_eq!((&resolved["resolution"], resolved["resolved_at"].is_string()), (&"thrown away".into(), true));
    assert_eq!(json(&world, &["list"])["items"].as_array().unwrap().len(), 1);
    assert_eq!(json(&world, &["list", "--show", "resolved"])["items"][0]["id"], id);
    let notes = json(&world, &["notes", id]);
    let told: Vec<&str> = notes["items"].as_array().unwrap().iter().map(|note| note["kind"].as_str().unwrap()).collect();
    assert_eq!(told, ["resolved", "note", "owner"]);
    assert!(notes["items"][0]["actor"].as_str().unwrap().starts_with("cli:"), "{notes}");
    let again = backhaul(&world.database, &["exceptions", "resolve", id, "again", "--merchant", "acme"]);
    assert!(err(&again).contains("it only takes notes now"));
}
