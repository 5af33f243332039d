//! The terms of credentials: scopes that are named, an end, networks, the last use, and a secret that its holder replaces.

use std::time::Duration;

use backhaul::flow::merchants::configure_merchant::{self as flow, Terms};
use backhaul::heartbeat;
use domain::merchants::access::{Scope, Scopes};
use domain::merchants::operator::Role;
use reqwest::Method;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use crate::binary::{Served, backhaul, command, err, out};
use crate::merchants::console_merchants::shown_secret;
use crate::world::{Database, Merchant, Reply, World};

/// Settings with which a test says by a header where a call comes from.
const FROM_ANYWHERE: [(&str, &str); 1] = [("BACKHAUL__HTTP__TRUSTED_PROXIES", r#"["127.0.0.0/8"]"#)];

fn orders() -> Scopes {
    Scopes::from_iter([Scope::Orders])
}

/// Another credential of the merchant, on these terms.
async fn issues<'w>(merchant: &Merchant<'w>, terms: Terms) -> Merchant<'w> {
    let issued = flow::issue_credential(&merchant.world.app, "test", merchant.id, &terms).await.unwrap();
    let client_secret = issued.client_secret.expose_secret().to_owned();
    Merchant { world: merchant.world, id: merchant.id, client_id: issued.client_id, client_secret, token: String::new() }
}

async fn asks_from(merchant: &Merchant<'_>, address: &str) -> Reply {
    let body = merchant.credentials();
    merchant.world.ask(Method::POST, "/oauth/token", |request| request.header("X-Forwarded-For", address).json(&body)).await
}

async fn calls_from(merchant: &Merchant<'_>, address: &str) -> Reply {
    merchant.calls(Method::GET, "/v1/orders/x", |request| request.header("X-Forwarded-For", address)).await
}

async fn rotates(merchant: &Merchant<'_>, secret: &str, overlap: Option<u32>) -> Reply {
    let body = json!({ "client_id": merchant.client_id, "client_secret": secret, "overlap_seconds": overlap });
    merchant.world.ask(Method::POST, "/v1/credentials/rotate", |request| request.json(&body)).await
}

async fn token_with(merchant: &Merchant<'_>, secret: &str) -> Reply {
    let body = json!({ "grant_type": "client_credentials", "client_id": merchant.client_id, "client_secret": secret });
    merchant.world.asks_for_a_token(&body).await
}

#[tokio::test]
async fn a_credential_opens_what_is_named_and_nothing_by_default() {
    let database = Database::create().await;
    out(&backhaul(&database, &["merchant", "add", "acme", "--name", "Acme Shoes"]));
    let refused = err(&backhaul(&database, &["credential", "issue", "--merchant", "acme"]));
    assert!(refused.contains("--scope <SCOPES>"), "{refused}");
    for (named, scope) in [(&["--scope", "warehouse"][..], "warehouse"), (&["--scope", "carrier", "--scope", "orders"], "orders carrier")] {
        let issued = out(&backhaul(&database, &[&["credential", "issue", "--merchant", "acme", "-o", "json"], named].concat()));
        assert_eq!(serde_json::from_str::<Value>(&issued).unwrap()["scope"], scope);
    }
}

#[tokio::test]
async fn nobody_else_has_a_default_of_all_scopes_either() {
    let world = World::new().await;
    world.merchant("acme").await;
    let script = world.script(Role::Manager).await;
    let refused = script.calls("credential/issue", &json!({ "merchant": "acme" })).await;
    assert_eq!(refused.status, 400, "{}", refused.text);
    let console = world.console(Role::Manager).await;
    let page = console.get("/merchants/acme/credentials").await.text;
    assert!(page.contains(r#"name="scope" value="orders">"#), "nothing is ticked: {page}");
    assert_eq!(console.post("/merchants/acme/credentials", &[("label", "x"), ("sure", "yes")]).await.status, 422);
    let nothing =
        flow::issue_credential(&world.app, "test", world.merchant("fern").await.id, &Terms::open(Scopes::from_iter([]), "")).await;
    assert!(nothing.is_err());
    assert_eq!(world.database.count("credential").await, 2);
}

#[tokio::test]
async fn a_credential_that_has_expired_opens_nothing_and_its_tokens_end_with_it() {
    let world = World::new().await;
    let acme = world.merchant("acme").await;
    let mut short = issues(&acme, Terms { days: Some(1), ..Terms::open(orders(), "") }).await;
    world.time_passes(Duration::from_hours(22));
    let reply = world.asks_for_a_token(&short.credentials()).await;
    assert_eq!(reply.body["expires_in"], 7200, "no longer than its credential: {}", reply.text);
    short.token = reply.body["access_token"].as_str().unwrap().to_owned();
    assert_eq!(short.looks_up("x").await.status, 404);
    world.time_passes(Duration::from_hours(2));
    assert_eq!(short.looks_up("x").await.status, 401);
    let refused = world.asks_for_a_token(&short.credentials()).await;
    assert_eq!((refused.status.as_u16(), &refused.body["error"]), (401, &json!("invalid_client")));
    assert_eq!(rotates(&short, &short.client_secret, None).await.status, 401);
    let console = world.console(Role::Viewer).await;
    assert!(console.get("/merchants/acme/credentials").await.text.contains("Expired"));
}

#[tokio::test]
async fn a_stolen_secret_and_a_stolen_token_are_refused_outside_of_their_networks() {
    let world = World::with(&FROM_ANYWHERE).await;
    let acme = world.merchant("acme").await;
    let networks = ["192.0.2.0/24", "2001:db8:7::/48"].map(|network| network.parse().unwrap()).to_vec();
    let mut bound = issues(&acme, Terms { networks, ..Terms::open(orders(), "") }).await;
    let elsewhere = ["198.51.100.7", "2001:db8:8::1", "::ffff:198.51.100.7", "198.51.100.7, 192.0.2.9, 198.51.100.8"];
    for address in elsewhere {
        let refused = asks_from(&bound, address).await;
        assert_eq!((refused.status.as_u16(), &refused.body["error"]), (401, &json!("invalid_client")), "{address}");
    }
    let token = asks_from(&bound, "192.0.2.9").await;
    assert_eq!(token.status, 200, "{}", token.text);
    bound.token = token.body["access_token"].as_str().unwrap().to_owned();
    for address in ["192.0.2.1", "2001:db8:7:ffff::1", "::ffff:192.0.2.1"] {
        assert_eq!(calls_from(&bound, address).await.status, 404, "{address}");
    }
    for address in elsewhere {
        let refused = calls_from(&bound, address).await;
        assert_eq!(refused.status, 403, "{address}");
        assert!(refused.body["message"].as_str().unwrap().contains("may not be used from this network"), "{}", refused.text);
    }
    let body = json!({ "client_id": bound.client_id, "client_secret": bound.client_secret });
    let rotated =
        world.ask(Method::POST, "/v1/credentials/rotate", |request| request.header("X-Forwarded-For", "198.51.100.7").json(&body)).await;
    assert_eq!(rotated.status, 401, "nor can a thief replace the secret");
    assert_eq!(calls_from(&acme, "198.51.100.7").await.status, 404, "a credential without networks works from anywhere");
}

#[tokio::test]
async fn a_use_from_outside_of_the_networks_is_in_the_security_log() {
    let database = Database::create().await;
    out(&backhaul(&database, &["merchant", "add", "acme", "--name", "Acme Shoes"]));
    let words = ["credential", "issue", "--merchant", "acme", "--scope", "orders", "--network", "192.0.2.0/24", "-o", "json"];
    let issued: Value = serde_json::from_str(&out(&backhaul(&database, &words))).unwrap();
    let served = Served::start(command(&database).env(FROM_ANYWHERE[0].0, FROM_ANYWHERE[0].1).arg("serve"));
    let client = reqwest::Client::new();
    let asks = async |address: &str| {
        let body =
            json!({ "grant_type": "client_credentials", "client_id": issued["client_id"], "client_secret": issued["client_secret"] });
        client.post(format!("{}/oauth/token", served.base)).header("X-Forwarded-For", address).json(&body).send().await.unwrap()
    };
    assert_eq!(asks("198.51.100.7").await.status(), 401);
    let line = served.wait_for("token.refused");
    for told in ["foreign_network", "198.51.100.7", issued["client_id"].as_str().unwrap()] {
        assert!(line.contains(told), "{told}: {line}");
    }
    let token: Value = asks("192.0.2.7").await.json().await.unwrap();
    let call = client.get(format!("{}/v1/orders/x", served.base)).header("X-Forwarded-For", "203.0.113.4");
    assert_eq!(call.bearer_auth(token["access_token"].as_str().unwrap()).send().await.unwrap().status(), 403);
    let line = served.wait_for("access.refused");
    assert!(line.contains("foreign_network") && line.contains("203.0.113.4"), "{line}");
}

#[tokio::test]
async fn the_last_use_is_noted_by_the_heartbeat_and_at_most_every_five_minutes() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let noted = || world.database.texts("select coalesce(last_used_at::text, 'never') from credential");
    assert_eq!(merchant.looks_up("x").await.status, 404);
    assert_eq!(noted().await, ["never"], "a call writes nothing");
    heartbeat::beat(&world.app, 60).await.unwrap();
    assert_eq!(noted().await, ["2026-03-01 12:00:00+00"]);
    let version = || world.database.texts("select xmin::text from credential");
    let before = version().await;
    for _ in 0..4 {
        world.time_passes(Duration::from_mins(1));
        assert_eq!(merchant.looks_up("x").await.status, 404);
        heartbeat::beat(&world.app, 60).await.unwrap();
    }
    assert_eq!(version().await, before, "the row is not rewritten every minute");
    world.time_passes(Duration::from_mins(1));
    assert_eq!(merchant.looks_up("x").await.status, 404);
    heartbeat::beat(&world.app, 61).await.unwrap();
    assert_eq!(noted().await, ["2026-03-01 12:00:00+00"], "not in every heartbeat");
    heartbeat::beat(&world.app, 120).await.unwrap();
    assert_eq!(noted().await, ["2026-03-01 12:05:00+00"]);
    let list = out(&backhaul(&world.database, &["credential", "list", "--merchant", "acme", "-o", "json"]));
    assert_eq!(serde_json::from_str::<Value>(&list).unwrap()["items"][0]["last_used_at"], "2026-03-01T12:05:00Z");
}

#[tokio::test]
async fn a_holder_replaces_its_secret_and_the_old_one_goes_on_for_the_overlap() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let old = merchant.client_secret.as_str();
    let rotated = rotates(&merchant, old, Some(3600)).await;
    assert_eq!(rotated.status, 200, "{}", rotated.text);
    assert_eq!((rotated.header("cache-control"), &rotated.body["old_secret_expires_at"]), ("no-store", &json!("2026-03-01T13:00:00Z")));
    let new = rotated.body["client_secret"].as_str().unwrap();
    assert!(new.starts_with("bhs_") && new != old);
    assert_eq!(token_with(&merchant, new).await.body["expires_in"], 90_000);
    world.time_passes(Duration::from_mins(30));
    let overlapping = token_with(&merchant, old).await;
    assert_eq!(overlapping.body["expires_in"], 1800, "a token for the old secret ends with it: {}", overlapping.text);
    let shown = out(&backhaul(&world.database, &["credential", "list", "--merchant", "acme", "-o", "json"]));
    assert!(shown.contains(&new[new.len() - 4..]), "{shown}");
    let console = world.console(Role::Viewer).await;
    assert!(console.get("/merchants/acme/credentials").await.text.contains("old secret until"));
    world.time_passes(Duration::from_mins(30));
    assert_eq!(token_with(&merchant, old).await.status, 401);
    assert_eq!(token_with(&merchant, new).await.status, 200);
    let audit = world.database.texts("select actor || ' ' || action from audit where action = 'credential.rotated'").await;
    assert_eq!(audit, [format!("client:{} credential.rotated", merchant.client_id)]);
    let kept = world.database.texts("select credential::text || (select string_agg(audit::text, '') from audit) from credential").await;
    assert!(!kept[0].contains(new) && !kept[0].contains(old), "only hashes are kept");
}

#[tokio::test]
async fn an_old_secret_cannot_take_the_credential_back() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let old = merchant.client_secret.as_str();
    let new = rotates(&merchant, old, None).await.body["client_secret"].as_str().unwrap().to_owned();
    assert_eq!(token_with(&merchant, &new).await.status, 200);
    let refused = rotates(&merchant, old, None).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    assert_eq!(token_with(&merchant, &new).await.status, 200);
    // A further rotation ends the overlap of the one before.
    let newest = rotates(&merchant, &new, Some(0)).await.body["client_secret"].as_str().unwrap().to_owned();
    for (secret, status) in [(old, 401), (new.as_str(), 401), (newest.as_str(), 200)] {
        assert_eq!(token_with(&merchant, secret).await.status, status);
    }
}

#[tokio::test]
async fn a_rotation_whose_answer_was_lost_is_sent_again() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let old = merchant.client_secret.as_str();
    let lost = rotates(&merchant, old, Some(3600)).await.body["client_secret"].as_str().unwrap().to_owned();
    world.time_passes(Duration::from_mins(10));
    let again = rotates(&merchant, old, Some(3600)).await;
    assert_eq!(again.body["old_secret_expires_at"], "2026-03-01T13:00:00Z", "the overlap is not longer for it: {}", again.text);
    let new = again.body["client_secret"].as_str().unwrap();
    for (secret, status) in [(old, 200), (lost.as_str(), 401), (new, 200)] {
        assert_eq!(token_with(&merchant, secret).await.status, status);
    }
}

#[tokio::test]
async fn a_rotation_takes_the_secret_and_no_token() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let with_token = merchant.calls(Method::POST, "/v1/credentials/rotate", |request| request.json(&json!({}))).await;
    assert_eq!((with_token.status.as_u16(), &with_token.body["error"]), (400, &json!("invalid_request")), "{}", with_token.text);
    let (id, secret) = (merchant.client_id.clone(), merchant.client_secret.clone());
    let wrong = rotates(&merchant, "guess", None).await;
    assert_eq!((wrong.status.as_u16(), &wrong.body["error"]), (401, &json!("invalid_client")));
    assert_eq!(rotates(&merchant, &secret, Some(2_592_001)).await.status, 400);
    let basic = world.ask(Method::POST, "/v1/credentials/rotate", |request| request.basic_auth(id, Some(secret))).await;
    assert_eq!((basic.status.as_u16(), &basic.body["old_secret_expires_at"]), (200, &json!("2026-03-03T12:00:00Z")), "{}", basic.text);
    for _ in 0..30 {
        rotates(&merchant, "guess", None).await;
    }
    assert_eq!(rotates(&merchant, "guess", None).await.status, 429, "guesses are counted here too");
}

#[tokio::test]
async fn the_console_issues_a_credential_on_terms() {
    let world = World::with(&FROM_ANYWHERE).await;
    world.merchant("acme").await;
    let console = world.console(Role::Manager).await;
    let fields = [("scope", "orders"), ("label", "OMS"), ("days", "90"), ("networks", "192.0.2.77/24, 2001:db8::/32")];
    let preview = console.post("/merchants/acme/credentials", &fields).await.page();
    for fact in ["for 90 days", "192.0.2.0/24 2001:db8::/32", "--scope orders --expires-in-days 90 --network 192.0.2.0/24"] {
        assert!(preview.contains(fact), "{fact}: {preview}");
    }
    let issued = console.confirms("/merchants/acme/credentials", &fields).await;
    assert!(shown_secret(&issued.text).starts_with("bhs_"));
    let kept = "select expires_at::text || ' ' || networks::text from credential where label = 'OMS'";
    assert_eq!(world.database.texts(kept).await, ["2026-05-30 12:00:00+00 {192.0.2.0/24,2001:db8::/32}"]);
    assert!(console.get("/merchants/acme/credentials").await.text.contains("192.0.2.0/24 2001:db8::/32"));
    for (field, wrong, says) in [("days", "0", "Give 1 to 3650 days"), ("networks", "home", "is not a network")] {
        let refused = console.post("/merchants/acme/credentials", &[("scope", "orders"), (field, wrong)]).await;
        assert!(refused.status == 422 && refused.text.contains(says), "{}", refused.text);
        assert!(refused.text.contains(r#"value="orders" checked"#), "what was typed stays: {}", refused.text);
    }
}
