//! Security events in the log: each is there, with its origin, and none holds a secret or anything personal.

use std::collections::{BTreeMap, BTreeSet};

use backhaul::flow::merchants::configure_merchant::{pause_merchant, revoke_credential};
use backhaul::flow::merchants::operators::{people, tokens};
use domain::merchants::access::Scope;
use domain::merchants::operator::Role;
use reqwest::Method;
use serde_json::{Value, json};
use store::merchants::{accounts, operator_tokens, operators};

use crate::world::World;
use crate::world::log::Log;

/// The text that must not appear in any event.
const CANARY: &str = "canary7f3a";

/// The reasons of the events of this name.
fn reasons(events: &BTreeMap<String, Vec<Value>>, name: &str) -> BTreeSet<String> {
    let found = events.get(name).unwrap_or_else(|| panic!("no {name} in {:?}", events.keys()));
    found.iter().map(|event| event["reason"].as_str().unwrap_or_default().to_owned()).collect()
}

/// The names in the table of the documentation.
fn documented() -> BTreeSet<String> {
    let page = include_str!("../../../../../docs/security-events.md");
    page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).map(str::to_owned).collect()
}

/// A merchant's system is refused in every way, and a token issued.
async fn merchants_call(world: &World) -> Vec<String> {
    let acme = world.merchant("acme").await;
    let wrong = json!({ "grant_type": "client_credentials", "client_id": acme.client_id, "client_secret": CANARY });
    for _ in 0..11 {
        world.asks_for_a_token(&wrong).await;
    }
    let unknown = json!({ "grant_type": "client_credentials", "client_id": CANARY, "client_secret": CANARY });
    assert_eq!(world.asks_for_a_token(&unknown).await.status, 401);
    for token in [CANARY, &format!("{}x", acme.token)] {
        assert_eq!(world.ask(Method::GET, "/v1/orders/1", |request| request.bearer_auth(token)).await.status, 401);
    }
    let bolt = world.merchant_with("bolt", World::all_scopes_but(Scope::Orders)).await;
    assert_eq!(bolt.looks_up(CANARY).await.status, 403);
    revoke_credential(&world.app, CANARY, bolt.id, &bolt.client_id).await.unwrap();
    assert_eq!(world.asks_for_a_token(&bolt.credentials()).await.status, 401);
    let cord = world.merchant("cord").await;
    let account = accounts::find(world.app.cell(), &"cord".parse().unwrap()).await.unwrap().unwrap();
    pause_merchant(&world.app, CANARY, &account).await.unwrap();
    assert_eq!(cord.looks_up(CANARY).await.status, 403);
    assert_eq!(world.receives_webhook(&acme.webhooks(), Some(CANARY), "{}").await.status, 401);
    let mut secrets = Vec::new();
    for merchant in [&acme, &bolt, &cord] {
        secrets.extend([merchant.client_secret.clone(), merchant.token.clone()]);
    }
    secrets
}

/// People and scripts come to the console, rightly and wrongly.
async fn people_come(world: &World) -> Vec<String> {
    let person = world.console(Role::Support).await;
    assert_eq!(person.get("/audit").await.status, 403);
    assert_eq!(person.posts_from_elsewhere("/sign-out", &[("", CANARY)]).await.status, 403);
    assert_eq!(person.enters(CANARY).await.status, 422);
    assert_eq!(person.signs_in().await.location, "/");
    assert_eq!(person.enters(crate::world::console::PASSWORD).await.location, "/sign-in/code");
    assert_eq!(person.post("/sign-in/code", &[("code", "000000")]).await.status, 422);
    let other = world.console(Role::Viewer).await;
    let operator = operators::find(world.app.home(), &other.email).await.unwrap().unwrap().operator;
    people::disable(&world.app, CANARY, operator.id).await.unwrap();
    assert_eq!(other.enters(CANARY).await.status, 422);

    let script = world.script(Role::Viewer).await;
    assert_eq!(script.reads("operator/tokens").await.status, 403);
    let token = operator_tokens::list(world.app.home(), script.operator.id, world.app.now()).await.unwrap().remove(0).id;
    assert!(tokens::revoke(&world.app, CANARY, script.operator.id, token).await.unwrap());
    assert_eq!(script.reads("merchant/list").await.status, 401);
    // Last, because it slows the address down.
    let mut stranger = world.at_the_console();
    stranger.email = format!("{CANARY}@example.com");
    for _ in 0..40 {
        if stranger.enters(CANARY).await.status == 429 {
            break;
        }
    }
    let mut secrets = vec![script.token, person.email, other.email, script.operator.email, stranger.email];
    secrets.extend(person.recovery_codes);
    secrets
}

#[tokio::test]
async fn every_security_event_is_logged_with_its_origin_and_without_anything_personal() {
    let (log, guard) = Log::start("trace");
    let world = World::new().await;
    let mut secrets = merchants_call(&world).await;
    secrets.extend(people_come(&world).await);
    secrets.push(CANARY.to_owned());
    drop(guard);

    let events = log.events();
    assert_eq!(events.keys().cloned().collect::<BTreeSet<_>>(), documented(), "the table of docs/security-events.md has every event");
    let expected: [(&str, &[&str]); 7] = [
        ("token.refused", &["revoked", "unknown", "wrong_secret"]),
        ("access.refused", &["unknown"]),
        ("permission.denied", &["active_merchant", "admin", "manager", "scope"]),
        ("limit.hit", &["secrets_of_client", "sign_in"]),
        ("sign_in.refused", &["disabled", "unknown_account", "wrong_password"]),
        ("sign_in.succeeded", &["password"]),
        ("sign_in.second_factor_wrong", &[""]),
    ];
    for (name, found) in expected {
        assert_eq!(reasons(&events, name), found.iter().map(|reason| (*reason).to_owned()).collect(), "{name}");
    }
    // What was done through flows directly, as a command at a terminal does it, has no request.
    let by_hand = ["credential.revoked", "personal_token.made", "personal_token.revoked"];
    for (name, events) in &events {
        for event in events {
            assert_eq!(event["level"], "INFO");
            let origin = (event["request_id"].as_str().unwrap_or_default().len(), event["address"].as_str().unwrap_or_default());
            assert_eq!(origin, if by_hand.contains(&name.as_str()) { (0, "") } else { (32, "127.0.0.1") }, "{event}");
        }
    }
    let known: Vec<&str> = events["token.refused"].iter().filter_map(|event| event["client"].as_str()).collect();
    assert_eq!(known.len(), 11, "ten guesses at one client before the limit, and one credential that was revoked");
    for line in log.text().lines() {
        assert!(secrets.iter().all(|secret| !line.contains(secret.as_str())), "{line}");
    }
}

#[tokio::test]
async fn security_events_are_logged_at_every_level() {
    let (log, _guard) = Log::start("error");
    let world = World::new().await;
    world.merchant("acme").await;
    assert_eq!(log.events().keys().collect::<Vec<_>>(), ["token.issued"]);
    assert_eq!(log.text().lines().count(), 1, "and nothing else: {}", log.text());
}
