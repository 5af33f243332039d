//! `backhaul failures note` and `discard` on many messages at once, the history of notes, and what a retry job has delivered.

use std::time::Duration;

use domain::merchants::operator::Role;
use sandbox::merchant::Answer;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::binary::{backhaul, err, out};
use crate::world::World;
use crate::world::receiver::{PATH, Receiver, impatient};

/// The output of `backhaul WORDS --merchant acme -o json`.
fn json_of(world: &World, words: &[&str]) -> Value {
    let output = backhaul(&world.database, &[words, &["--merchant", "acme", "-o", "json"]].concat());
    serde_json::from_str(&out(&output)).unwrap()
}

fn refused(world: &World, words: &[&str]) -> String {
    err(&backhaul(&world.database, &[words, &["--merchant", "acme"]].concat()))
}

/// Gives so many messages up with this status.
async fn given_up(receiver: &Receiver<'_>, status: u16, count: usize) -> Vec<Uuid> {
    receiver.systems.answer(PATH, Answer::status(status));
    let mut ids = Vec::new();
    for at in 0..count {
        ids.push(receiver.is_owed(&format!("R-{status}-{at}"), 1).await);
    }
    receiver.world.five_retries_pass().await;
    receiver.systems.answer(PATH, Answer::ok());
    ids
}

#[tokio::test]
async fn notes_are_a_history_with_author_and_time() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    let id = given_up(&receiver, 503, 1).await[0].to_string();
    json_of(&world, &["failures", "note", &id, "their firewall"]);
    assert_eq!(json_of(&world, &["failures", "note", &id, "they mend it"])["note"], "they mend it");
    let notes = json_of(&world, &["failures", "show", &id])["notes"].clone();
    let texts: Vec<&str> = notes.as_array().unwrap().iter().map(|note| note["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["they mend it", "their firewall"], "the newest first, and none is lost");
    assert!(notes[0]["actor"].as_str().unwrap().starts_with("cli:") && notes[0]["made_at"].is_string(), "{notes}");
    let table = out(&backhaul(&world.database, &["failures", "show", &id, "--merchant", "acme"]));
    assert!(table.contains("their firewall") && table.contains("they mend it"), "{table}");
    assert!(refused(&world, &["failures", "note", &id, " "]).contains("write a note of at most 2000 characters"));
    assert!(refused(&world, &["failures", "note", &id]).contains("<TEXT>"), "the note is missing");
}

#[tokio::test]
async fn many_messages_are_noted_and_discarded_at_once() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    let down = given_up(&receiver, 503, 2).await;
    let forbidden = given_up(&receiver, 403, 1).await;
    let all = ["failures", "note", "--endpoint", "rma", "--note", "they know"];
    let unconfirmed = refused(&world, &all);
    assert!(unconfirmed.contains("3 messages would get the note “they know”") && unconfirmed.contains("give --yes"), "{unconfirmed}");
    let noted = json_of(&world, &[&all[..], &["--reason", "503", "--yes"]].concat());
    assert_eq!(noted, json!({ "interface": "rma", "done": "noted", "messages": 2 }));
    assert_eq!(json_of(&world, &["failures", "show", &down[1].to_string()])["notes"][0]["text"], "they know");
    assert_eq!(json_of(&world, &["failures", "show", &forbidden[0].to_string()])["notes"], json!([]));
    assert!(refused(&world, &["failures", "note", "--endpoint", "rma"]).contains("--note"));

    let discard = ["failures", "discard", "--endpoint", "rma", "--reason", "503"];
    let unconfirmed = refused(&world, &discard);
    assert!(unconfirmed.contains("Discarding takes 2 messages out of the failure queue"), "{unconfirmed}");
    assert!(json_of(&world, &[&discard[..], &["--since", "2026-12-01T00:00:00Z"]].concat())["message"].is_string(), "none of them");
    assert_eq!(json_of(&world, &[&discard[..], &["--yes"]].concat())["messages"], 2);
    assert_eq!(json_of(&world, &["failures", "list", "--interface", "rma"])["items"].as_array().unwrap().len(), 1);
    let audit = world.database.texts("select action || ' ' || split_part(detail, ' ', 1) from audit where action like 'failures.%'").await;
    assert_eq!(audit, ["failures.noted 2", "failures.discarded 2"]);
}

#[tokio::test]
async fn discarding_more_than_a_hundred_takes_a_second_person() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    given_up(&receiver, 503, 101).await;
    let told = refused(&world, &["failures", "discard", "--endpoint", "rma", "--yes"]);
    assert!(told.contains("one person discards at most 100 messages at once, and these are 101 messages"), "{told}");
    assert!(told.contains("backhaul request discard --merchant acme --endpoint rma"), "{told}");
    let support = world.script(Role::Support).await;
    let parameters = json!({ "merchant": "acme", "endpoint": "rma", "yes": true });
    assert_eq!(support.calls("failures/discard", &parameters).await.status, 422, "nor from elsewhere");
    assert_eq!(world.database.texts("select count(*)::text from failure where state = 'discarded'").await, ["0"]);
    // Two administrators together may.
    let admin = world.script(Role::Admin).await;
    let asked = json!({ "merchant": "acme", "endpoint": "rma", "reason": "503", "why": "the merchant has them already" });
    assert_eq!(admin.does("request/discard", &asked).await["things"], 101);
}

#[tokio::test]
async fn a_retry_job_tells_what_was_delivered_and_what_failed_again() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    given_up(&receiver, 503, 3).await;
    let wanted =
        backhaul::flow::messages::retry_failures::RetryRequest { kind: "rma".parse().unwrap(), since: None, per_second: Some(100) };
    backhaul::flow::messages::retry_failures::retry_failures(&world.app, "test", receiver.merchant, wanted).await.unwrap();
    let counts = || {
        let job = json_of(&world, &["failures", "jobs"])["items"][0].clone();
        ["total", "released", "delivered", "failed_again", "underway"].map(|name| job[name].as_i64().unwrap())
    };
    assert_eq!(counts(), [3, 0, 0, 0, 0]);
    world.time_passes(Duration::from_secs(1));
    world.database.becomes("select released::text from retry_job", &["3"]).await;
    world.deliver_all_due().await;
    assert_eq!(counts(), [3, 3, 3, 0, 0]);
    let table = out(&backhaul(&world.database, &["failures", "jobs", "--merchant", "acme"]));
    assert!(table.contains("DELIVERED") && table.contains("FAILED AGAIN"), "{table}");
}

#[tokio::test]
async fn what_a_retry_job_could_not_deliver_either_is_told() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    given_up(&receiver, 503, 2).await;
    receiver.systems.answer(PATH, Answer::status(503));
    let wanted =
        backhaul::flow::messages::retry_failures::RetryRequest { kind: "rma".parse().unwrap(), since: None, per_second: Some(100) };
    backhaul::flow::messages::retry_failures::retry_failures(&world.app, "test", receiver.merchant, wanted).await.unwrap();
    world.time_passes(Duration::from_secs(1));
    world.database.becomes("select released::text from retry_job", &["2"]).await;
    world.deliver_all_due().await;
    let counts = || {
        let job = json_of(&world, &["failures", "jobs"])["items"][0].clone();
        ["released", "delivered", "failed_again", "underway"].map(|name| job[name].as_i64().unwrap())
    };
    assert_eq!(counts(), [2, 0, 0, 2], "they are tried again");
    world.five_retries_pass().await;
    assert_eq!(counts(), [2, 0, 2, 0]);
}
