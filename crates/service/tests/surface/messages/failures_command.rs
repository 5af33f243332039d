//! `backhaul failures …` and `backhaul messages …`, run as a program.

use domain::messages::message::Interface;
use sandbox::merchant::Answer;
use serde_json::Value;
use uuid::Uuid;

use crate::binary::{backhaul, err, out};
use crate::world::World;
use crate::world::receiver::{PATH, Receiver, impatient};

/// The output of `backhaul WORDS --merchant acme -o json`.
fn json(world: &World, words: &[&str]) -> Value {
    let output = backhaul(&world.database, &[words, &["--merchant", "acme", "-o", "json"]].concat());
    serde_json::from_str(&out(&output)).unwrap()
}

/// The error output of a command that fails.
fn refused(world: &World, words: &[&str]) -> String {
    err(&backhaul(&world.database, &[words, &["--merchant", "acme"]].concat()))
}

async fn given_up(receiver: &Receiver<'_>, count: usize) -> Vec<Uuid> {
    receiver.systems.answer(PATH, Answer::status(503).body("down"));
    let mut ids = Vec::new();
    for at in 0..count {
        ids.push(receiver.is_owed(&format!("R-{at}"), 1).await);
    }
    receiver.world.five_retries_pass().await;
    receiver.systems.answer(PATH, Answer::ok());
    ids
}

#[tokio::test]
async fn support_sees_the_failure_queue_and_notes_down_what_it_does() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    let id = given_up(&receiver, 3).await[0].to_string();
    let groups = json(&world, &["failures", "list"]);
    assert_eq!(
        (&groups["items"][0]["interface"], &groups["items"][0]["reason"], &groups["items"][0]["count"]),
        (&"rma".into(), &"503".into(), &3.into())
    );
    let first = json(&world, &["failures", "list", "--interface", "rma", "--limit", "1"]);
    assert_eq!((first["items"].as_array().unwrap().len(), first["items"][0]["message_id"].as_str()), (1, Some(id.as_str())));
    let next = first["next"].as_str().unwrap();
    let rest = json(&world, &["failures", "list", "--interface", "rma", "--cursor", next]);
    assert_eq!((rest["items"].as_array().unwrap().len(), &rest["next"]), (2, &Value::Null));
    assert_eq!(json(&world, &["failures", "owner", &id, "sam"])["owner"], "sam");
    assert_eq!(json(&world, &["failures", "note", &id, "their firewall"])["note"], "their firewall");
    assert_eq!(json(&world, &["failures", "contacted", &id])["state"], "contacted");
    let notes = json(&world, &["failures", "notes", &id]);
    let told: Vec<(&str, Option<&str>)> =
        notes["items"].as_array().unwrap().iter().map(|note| (note["kind"].as_str().unwrap(), note["text"].as_str())).collect();
    assert_eq!(told, [("contacted", None), ("note", Some("their firewall")), ("owner", Some("sam"))]);
    assert!(notes["items"][0]["actor"].as_str().unwrap().starts_with("cli:"), "{notes}");
    let other = ["failures", "retry", "--endpoint", "rma", "--reason", "401", "--merchant", "acme"];
    assert!(out(&backhaul(&world.database, &other)).contains("The failure queue has no messages for this interface."));
    let shown = json(&world, &["failures", "show", &id]);
    assert_eq!((&shown["message"]["attempts"]["items"][1]["answer"], &shown["owner"]), (&"down".into(), &"sam".into()));
    for words in [["failures", "show"], ["messages", "show"]] {
        let table = out(&backhaul(&world.database, &[&words[..], &[id.as_str(), "--merchant", "acme"]].concat()));
        assert!(table.lines().any(|line| line.starts_with("ATTEMPT  STARTED")) && table.contains("down"), "{table}");
        assert!(!table.contains("[]") && !table.contains("[{"), "attempts are a table and nothing else: {table}");
    }
    assert_eq!(json(&world, &["failures", "discard", &id, "--yes"])["state"], "discarded");
    assert!(refused(&world, &["failures", "discard", &id]).contains("`backhaul failures list --merchant HANDLE`"));
    assert_eq!(json(&world, &["messages", "list", "--state", "failed"])["items"].as_array().unwrap().len(), 2);
    assert_eq!(json(&world, &["endpoint", "show", "rma"])["failed"], 2);
}

#[tokio::test]
async fn what_a_removed_endpoint_left_is_found_and_retried_by_the_interface() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    let ids: Vec<String> = given_up(&receiver, 2).await.iter().map(Uuid::to_string).collect();
    backhaul::flow::messages::configure_endpoint::remove_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    let listed = |words: &[&str]| -> Vec<String> {
        let rows = json(&world, &[&["failures", "list", "--interface", "rma"], words].concat());
        rows["items"].as_array().unwrap().iter().map(|row| row["message_id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(listed(&[]), ids, "without an endpoint");
    let set = ["endpoint", "set", "--merchant", "acme", "rma", "--url", "https://hooks.example.com/rmas"];
    out(&backhaul(&world.database, &set));
    assert_eq!(listed(&[]), ids, "and with another one");
    assert_eq!(listed(&["--limit", "1"]), ids[..1]);
    assert_eq!(json(&world, &["failures", "list"])["items"][0]["endpoint"], "removed");
    let (_, total) = {
        let wanted =
            backhaul::flow::messages::retry_failures::RetryRequest { kind: "rma".parse().unwrap(), since: None, per_second: Some(1) };
        backhaul::flow::messages::retry_failures::retry_failures(&world.app, "test", receiver.merchant, wanted).await.unwrap()
    };
    assert_eq!(total, 2);
}

#[tokio::test]
async fn support_tries_messages_again_and_is_told_what_stands_in_the_way() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    let ids: Vec<String> = given_up(&receiver, 3).await.iter().map(Uuid::to_string).collect();
    let retried = json(&world, &["failures", "retry", &ids[0], &ids[1]]);
    assert_eq!((retried["items"].as_array().unwrap().len(), &retried["items"][0]["attempt"]), (2, &7.into()));
    assert!(refused(&world, &["failures", "retry", &ids[0]]).contains("still owed"));
    assert!(refused(&world, &["messages", "retry", "0190a000-0000-7000-8000-000000000000"]).contains("kept for 30 days"));
    // The program uses the machine's clock, the test world its own.
    let due = sqlx::query("update delivery set due_at = $1").bind(world.app.now());
    due.execute(&mut world.database.connect().await).await.unwrap();
    world.deliver_all_due().await;
    let shown = json(&world, &["messages", "show", &ids[0]]);
    assert_eq!((&shown["state"], &shown["attempts"]["items"][6]["number"]), (&"delivered".into(), &7.into()));
    assert_eq!(json(&world, &["messages", "retry", &ids[0]])["attempt"], 8, "and once more, though it was delivered");
}

#[tokio::test]
async fn support_sees_who_delivers_and_what_a_job_does() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    given_up(&receiver, 3).await;
    let deliverers: Value = serde_json::from_str(&out(&backhaul(&world.database, &["deliverers", "-o", "json"]))).unwrap();
    // A row for each cell; this process delivers in that of the world.
    let rows = deliverers["items"].as_array().unwrap();
    assert_eq!(rows.len(), world.app.of_each_cell().len());
    let ours = rows.iter().find(|row| row["process"].as_str().unwrap().ends_with(&format!(":{}", std::process::id())));
    assert_eq!(ours.unwrap_or_else(|| panic!("{deliverers}"))["buckets"], 256);
    assert!(
        refused(&world, &["failures", "retry", "--endpoint", "rma"]).contains("give --yes"),
        "without a terminal there is nobody to ask"
    );
    assert!(refused(&world, &["failures", "retry", "--endpoint", "outbound_asn", "--yes"]).contains("`backhaul endpoint list`"));
    let wanted = backhaul::flow::messages::retry_failures::RetryRequest { kind: "rma".parse().unwrap(), since: None, per_second: Some(1) };
    let (job, _) = backhaul::flow::messages::retry_failures::retry_failures(&world.app, "test", receiver.merchant, wanted).await.unwrap();
    let jobs = json(&world, &["failures", "jobs"]);
    assert_eq!(
        (&jobs["items"][0]["state"], &jobs["items"][0]["total"], &jobs["items"][0]["per_second"]),
        (&"at work".into(), &3.into(), &1.into())
    );
    assert!(refused(&world, &["failures", "retry", "--endpoint", "rma", "--yes"]).contains("`backhaul failures cancel --merchant HANDLE`"));
    assert_eq!(json(&world, &["failures", "cancel", &job.to_string()])["items"][0]["state"], "cancelled");
    assert!(refused(&world, &["failures", "cancel", &job.to_string()]).contains("`backhaul failures jobs --merchant HANDLE`"));
    assert_eq!(json(&world, &["failures", "jobs", "--follow", &job.to_string()])["state"], "cancelled");
}
