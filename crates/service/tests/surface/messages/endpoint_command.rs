//! `backhaul endpoint list` and `show`: how endpoints fare, and why they fail.

use std::time::Duration;

use backhaul::flow::messages::configure_endpoint::{self as endpoint, EndpointChange};
use domain::merchants::operator::Role;
use domain::messages::message::Interface;
use sandbox::merchant::Answer;
use serde_json::{Value, json};

use crate::binary::{backhaul, command, out};
use crate::merchants::json_output::answer_to_terminal;
use crate::world::World;
use crate::world::receiver::PATH;

#[tokio::test]
async fn an_endpoint_says_why_it_fails() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let script = world.script(Role::Viewer).await;
    let show = async || script.reads("endpoint/show?merchant=acme&interface=rma").await.body;
    let shown = show().await;
    assert_eq!((&shown["merchant"], &shown["state"], &shown["last_answer"]), (&json!("acme"), &json!("untried"), &Value::Null));
    assert_eq!((&shown["slots"], &shown["per_second"], &shown["authentication"]), (&json!(10), &json!(10_000), &json!("none")));
    assert_eq!((&shown["waits"], &shown["next_attempt_at"]), (&json!([5, 40, 320, 2560, 20480]), &Value::Null));
    receiver.is_owed("R-1", 1).await;
    world.deliver_all_due().await;
    world.time_passes(Duration::from_mins(3));
    receiver.systems.answer(PATH, Answer::status(503));
    receiver.is_owed("R-2", 1).await;
    receiver.is_owed("R-3", 1).await;
    world.deliver_all_due().await;
    let shown = show().await;
    assert_eq!((&shown["state"], &shown["owed"]), (&json!("failing"), &json!(2)));
    assert_eq!(shown["last_answer"], json!({ "at": "2026-03-01T12:03:00Z", "outcome": "503", "reason": null }));
    assert_eq!(shown["last_success_at"], "2026-03-01T12:00:00Z");
    assert!(shown["next_attempt_at"].as_str().unwrap().starts_with("2026-03-01T12:03:05"), "{shown}");
    let rma = json!({ "merchant": "acme", "interface": "rma" });
    let answer = answer_to_terminal("output=table;columns=80", &script, "endpoint/show", true, &rma).await;
    let table = answer["out"].as_str().unwrap();
    for line in ["last_answer         503 Service Unavailable", "slots               10", "waits               5, 40, 320, 2560, 20480"] {
        assert!(table.lines().any(|shown| shown == line), "{line}: {table}");
    }
    // Nobody listens there.
    let change = EndpointChange { url: Some("http://127.0.0.1:9/rmas".to_owned()), ..EndpointChange::default() };
    endpoint::set_endpoint(&world.app, "test", receiver.merchant, Interface::Rma, change).await.unwrap();
    world.time_passes(Duration::from_mins(1));
    world.deliver_all_due().await;
    let answer = &show().await["last_answer"];
    assert_eq!(answer["outcome"], "unreachable");
    assert!(answer["reason"].as_str().unwrap().contains("refused"), "{answer}");
    endpoint::pause_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    assert_eq!((&show().await["state"], &show().await["next_attempt_at"]), (&json!("paused"), &Value::Null));
}

#[tokio::test]
async fn everybody_is_told_the_same_state_of_an_endpoint() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let engineer = receiver.engineer().await;
    let console = world.console(Role::Viewer).await;
    let script = world.script(Role::Viewer).await;
    let told = async |state: &str, words: &str| {
        assert_eq!(engineer.gets("/v1/endpoints").await.body["items"][0]["state"], state);
        // The program uses the machine's clock, by which the last call was long ago.
        let list: Value = serde_json::from_str(&out(&backhaul(&world.database, &LIST))).unwrap();
        assert_eq!((&list["items"][0]["state"], &list["items"][0]["merchant"]), (&json!(state), &json!("acme")));
        assert_eq!(script.reads("endpoint/show?merchant=acme&interface=rma").await.body["state"], state);
        for page in ["/merchants/acme/endpoints", "/merchants/acme/endpoints/rma"] {
            let page = console.get(page).await.page();
            assert!(page.contains(words), "{words}: {page}");
        }
    };
    told("untried", "No calls yet").await;
    receiver.is_owed("R-1", 1).await;
    world.deliver_all_due().await;
    told("healthy", "Delivering").await;
    // The last answer is the newest one.
    world.time_passes(Duration::from_secs(1));
    receiver.systems.answer(PATH, Answer::status(500));
    receiver.is_owed("R-2", 1).await;
    receiver.is_owed("R-3", 1).await;
    world.deliver_all_due().await;
    told("failing", "Failing").await;
    assert!(console.get("/merchants/acme/endpoints/rma").await.page().contains("500 Internal Server Error"));
    endpoint::pause_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    told("paused", "Paused").await;
}

const LIST: [&str; 6] = ["endpoint", "list", "--merchant", "acme", "-o", "json"];

#[tokio::test]
async fn an_endpoint_shows_where_its_tokens_come_from_and_no_secret() {
    let world = World::new().await;
    world.merchant("acme").await;
    let set = ["endpoint", "set", "--merchant", "acme", "rma", "--url", "https://hooks.example.com/rmas", "--authentication", "oauth-form"];
    let oauth = ["--user", "acme-backhaul", "--token-url", "https://login.example.com/token", "--waits", "1,2,3,4,5", "-o", "json"];
    let made = command(&world.database).args(set).args(oauth).env("BACKHAUL_ENDPOINT_SECRET", "s3cr3t").output().unwrap();
    let made: Value = serde_json::from_str(&out(&made)).unwrap();
    assert_eq!((&made["token_url"], &made["waits"]), (&json!("https://login.example.com/token"), &json!([1, 2, 3, 4, 5])));
    let shown = out(&backhaul(&world.database, &["endpoint", "show", "--merchant", "acme", "rma"]));
    assert!(shown.contains("https://login.example.com/token") && shown.contains("oauth") && !shown.contains("s3cr3t"), "{shown}");
    let listed = out(&backhaul(&world.database, &["endpoint", "list", "--merchant", "acme"]));
    assert!(listed.contains("untried") && listed.contains("oauth"), "{listed}");
}

#[tokio::test]
async fn the_secrets_of_all_merchants_are_resealed_at_once() {
    let world = World::new().await;
    let (old, new) = ("k1:QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=", "k2:QkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkI=");
    let both = format!("{new},{old}");
    let run =
        |keys: &str, words: &[&str]| out(&command(&world.database).env("BACKHAUL__KEYS__SEALING", keys).args(words).output().unwrap());
    for handle in ["acme", "zeta"] {
        world.merchant(handle).await;
        run(old, &["endpoint", "set", "--merchant", handle, "rma", "--url", "https://hooks.example.com/rmas"]);
    }
    run(&both, &["keys", "rotate", "sealing"]);
    assert_eq!(run(&both, &["endpoint", "reseal"]), "2 resealed with the current key.\n");
    assert_eq!(world.database.texts("select distinct key_id from merchant_key").await, ["k2"]);
    assert_eq!(run(&both, &["endpoint", "reseal"]), "0 resealed with the current key.\n");
    assert_eq!(run(&both, &["carrier", "reseal"]), "Nothing to reseal: the current key is already in use.\n");
    let audit = world.database.texts("select count(*)::text from audit where action = 'endpoint.resealed'").await;
    assert_eq!(audit, ["2"], "one of each merchant");
}
