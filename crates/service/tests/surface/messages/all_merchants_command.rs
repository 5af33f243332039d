//! `--all-merchants`: failures, endpoints and messages of all merchants at once.

use std::process::Output;

use domain::merchants::operator::Role;
use sandbox::merchant::Answer;
use serde_json::{Value, json};

use crate::binary::{backhaul, command, err, out};
use crate::world::World;
use crate::world::receiver::{PATH, Receiver, impatient};

async fn gives_up(receiver: &Receiver<'_>, status: u16, count: usize) {
    receiver.systems.answer(PATH, Answer::status(status));
    for at in 0..count {
        receiver.is_owed(&format!("R-{at}"), 1).await;
    }
    receiver.world.five_retries_pass().await;
}

fn json_of(output: &Output) -> Value {
    serde_json::from_str(&out(output)).unwrap()
}

fn rows(output: &Output) -> Vec<Value> {
    json_of(output)["items"].as_array().unwrap().clone()
}

fn texts<'v>(rows: &'v [Value], field: &str) -> Vec<&'v str> {
    rows.iter().map(|row| row[field].as_str().unwrap()).collect()
}

#[tokio::test]
async fn support_lists_what_all_merchants_have() {
    let world = World::new().await;
    let (acme, zeta) = (world.receiver_with("acme", impatient()).await, world.receiver_with("zeta", impatient()).await);
    gives_up(&acme, 503, 1).await;
    gives_up(&zeta, 401, 2).await;
    let all = |words: &[&str]| command(&world.database).args(words).args(["--all-merchants", "-o", "json"]).output().unwrap();
    let groups = rows(&all(&["failures", "list"]));
    assert_eq!((texts(&groups, "merchant"), texts(&groups, "reason")), (vec!["zeta", "acme"], vec!["401", "503"]), "the largest first");
    assert_eq!(rows(&all(&["failures", "list", "--interface", "outbound_asn"])), Vec::<Value>::new());
    assert_eq!(texts(&rows(&all(&["endpoint", "list"])), "merchant"), ["acme", "zeta"]);
    assert_eq!(texts(&rows(&all(&["endpoint", "list", "--cursor", "acme"])), "merchant"), ["zeta"]);
    let first = json_of(&all(&["endpoint", "list", "--limit", "1"]));
    assert_eq!((&first["items"][0]["merchant"], &first["next"]), (&json!("acme"), &json!("acme/rma")));
    assert_eq!(texts(&rows(&all(&["endpoint", "list", "--cursor", "acme/rma"])), "merchant"), ["zeta"]);
    let messages = rows(&all(&["messages", "list"]));
    assert_eq!(texts(&messages, "merchant"), ["zeta", "zeta", "acme"], "the newest first");
    assert_eq!(texts(&rows(&all(&["messages", "list", "--state", "delivered"])), "merchant"), Vec::<&str>::new());

    // Page by page, nothing is listed twice or left out.
    let first = all(&["messages", "list", "--limit", "2"]);
    let next = json_of(&first)["next"].as_str().unwrap().to_owned();
    assert_eq!(rows(&all(&["messages", "list", "--cursor", &next])), messages[2..]);
    let first = all(&["failures", "list", "--limit", "1"]);
    let next = json_of(&first)["next"].as_str().unwrap().to_owned();
    let both = [rows(&first), rows(&all(&["failures", "list", "--cursor", &next]))].concat();
    assert_eq!(texts(&both, "merchant").len(), 2, "{both:?}");
    assert_ne!(both[0]["merchant"], both[1]["merchant"]);

    // One merchant's list has the same shape.
    let of_one = rows(&backhaul(&world.database, &["failures", "list", "--merchant", "zeta", "-o", "json"]));
    assert_eq!((&of_one[0]["merchant"], &of_one[0]["count"]), (&json!("zeta"), &json!(2)));
}

#[tokio::test]
async fn the_flag_wins_over_the_environment_and_contradicts_an_option() {
    let world = World::new().await;
    for handle in ["acme", "zeta"] {
        world.receiver(handle).await;
    }
    let named = |words: &[&str]| command(&world.database).env("BACKHAUL_MERCHANT", "acme").args(words).output().unwrap();
    assert_eq!(rows(&named(&["endpoint", "list", "-o", "json"])).len(), 1);
    assert_eq!(rows(&named(&["endpoint", "list", "--all-merchants", "-o", "json"])).len(), 2);
    for list in [["endpoint", "list"], ["failures", "list"], ["messages", "list"]] {
        let both = [&list[..], &["--all-merchants", "--merchant", "acme"]].concat();
        assert!(err(&backhaul(&world.database, &both)).contains("'--all-merchants' cannot be used with '--merchant <HANDLE>'"));
        assert!(err(&backhaul(&world.database, &list)).contains("--merchant <HANDLE>"), "one of them is needed");
    }
    // The environment of the service says nothing about its callers.
    let script = world.script(Role::Viewer).await;
    let unnamed = script.reads("endpoint/list").await;
    assert!(unnamed.status == 400 && unnamed.text.contains("`merchant` is missing; name one, or set `all_merchants`"), "{}", unnamed.text);
    assert_eq!(script.reads("endpoint/list?all_merchants=true").await.body["items"].as_array().unwrap().len(), 2);
    let subject = ["messages", "list", "--all-merchants", "--subject", "R-1"];
    assert!(err(&backhaul(&world.database, &subject)).contains("cannot be used with"));
    let internal = ["messages", "list", "--all-merchants", "--interface", "mail"];
    assert!(err(&backhaul(&world.database, &internal)).contains("name it with --merchant"));
}

#[tokio::test]
async fn the_most_failing_endpoints_come_first() {
    let world = World::new().await;
    let (acme, zeta) = (world.receiver_with("acme", impatient()).await, world.receiver_with("zeta", impatient()).await);
    world.receiver("fine").await;
    gives_up(&acme, 503, 1).await;
    gives_up(&zeta, 500, 3).await;
    let list = ["endpoint", "list", "--all-merchants", "--failing"];
    // Whether the deliverer has reported them by now is its own affair.
    for (of, at) in [(&acme, "2026-03-01T12:00:00Z"), (&zeta, "2026-03-01T12:01:00Z")] {
        let told = "insert into endpoint_notice as told (merchant_id, endpoint_id, failing_since, sequence)
            select merchant_id, endpoint_id, $2::timestamptz, 1 from endpoint where merchant_id = $1 and interface = 'rma'
            on conflict (merchant_id, endpoint_id) do update set failing_since = excluded.failing_since";
        let told = sqlx::query(told).bind(of.merchant.0).bind(at.parse::<chrono::DateTime<chrono::Utc>>().unwrap());
        told.execute(&mut world.database.connect().await).await.unwrap();
    }
    let failing = rows(&backhaul(&world.database, &[&list[..], &["-o", "json"]].concat()));
    assert_eq!((texts(&failing, "merchant"), texts(&failing, "state")), (vec!["zeta", "acme"], vec!["failing", "failing"]));
    assert_eq!(failing[1]["failing_since"], "2026-03-01T12:00:00Z");
    let of_one = ["endpoint", "list", "--merchant", "fine", "--failing"];
    assert!(out(&backhaul(&world.database, &of_one)).contains("No endpoint of fine fails."));
}
