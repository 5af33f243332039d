//! Single sign-on: the identity provider says who somebody is, and only what it has signed is believed.

use std::time::Duration;

use backhaul::flow::merchants::operators::people::{self, Authority};
use domain::merchants::operator::Role;
use serde_json::{Value, json};
use store::merchants::operators;

use crate::world::World;
use crate::world::console::{Console, Shown};
use crate::world::provider::Provider;

async fn world_of(provider: &Provider) -> World {
    let settings = provider.settings();
    World::with(&settings.iter().map(|(name, value)| (*name, value.as_str())).collect::<Vec<_>>()).await
}

/// Goes to the provider and comes back.
async fn signs_in(person: &Console<'_>, provider: &Provider, change: impl FnOnce(&mut Value)) -> Shown {
    let sent = person.get("/sign-in/single?next=%2Foperators").await;
    assert_eq!(sent.status, 303, "{}", sent.text);
    let back = provider.lets_in(&sent.location, person.world.app.now().timestamp(), change);
    person.get(&back).await
}

async fn role(world: &World, email: &str) -> Option<Role> {
    operators::find(world.app.home(), email).await.unwrap().map(|account| account.operator.role)
}

#[tokio::test]
async fn a_person_is_known_after_the_first_single_sign_on() {
    let provider = Provider::start().await;
    let world = world_of(&provider).await;
    let person = world.at_the_console();
    assert!(person.get("/sign-in").await.page().contains("Go on with single sign-on"));
    let back = signs_in(&person, &provider, |_| {}).await;
    assert_eq!((back.status, back.location.as_str()), (303, "/operators"), "{}", back.text);
    assert!(person.is_in().await);
    assert_eq!(role(&world, "desk.one@ops.example.com").await, Some(Role::Support));
    let page = person.get("/operators").await.page();
    assert!(page.contains("Desk One") && page.contains("single sign-on"), "{page}");
    assert_eq!(world.database.count("operator").await, 1);
    // Without a password there is none to sign in with.
    let mut other = world.at_the_console();
    other.email = "desk.one@ops.example.com".to_owned();
    assert_eq!(other.enters("").await.status, 422);
}

#[tokio::test]
async fn the_role_follows_the_groups_at_each_sign_in() {
    let provider = Provider::start().await;
    let world = world_of(&provider).await;
    let person = world.at_the_console();
    for (groups, expected) in [(json!(["desk"]), Role::Support), (json!(["desk", "admins"]), Role::Admin), (json!("desk"), Role::Support)] {
        let back = signs_in(&person, &provider, |claims| claims["groups"] = groups.clone()).await;
        assert_eq!(back.location, "/operators", "{}", back.text);
        assert_eq!(role(&world, "desk.one@ops.example.com").await, Some(expected), "{groups}");
    }
    let changes = world
        .database
        .texts("select actor || ':' || split_part(detail, ':', 2) from home_audit where action = 'operator.role_changed' order by detail")
        .await;
    assert_eq!(changes, ["single sign-on: admin to support", "single sign-on: support to admin"]);
    for groups in [json!([]), json!(["everybody"]), Value::Null, json!(7)] {
        let refused = signs_in(&person, &provider, |claims| claims["groups"] = groups.clone()).await;
        assert!(refused.status == 422 && refused.text.contains("None of your groups has a role here"), "{}", refused.text);
    }
}

/// A change of what the provider claims.
type Lie = fn(&mut Value);

#[tokio::test]
async fn only_what_the_provider_has_signed_for_this_console_is_believed() {
    let provider = Provider::start().await;
    let world = world_of(&provider).await;
    let person = world.at_the_console();
    let lies: [(&str, Lie); 7] = [
        ("audience", |claims| claims["aud"] = json!("another-client")),
        ("audiences", |claims| claims["aud"] = json!(["backhaul-console", "another-client"])),
        ("nonce", |claims| claims["nonce"] = json!("another")),
        ("no nonce", |claims| _ = claims.as_object_mut().unwrap().remove("nonce")),
        ("issuer", |claims| claims["iss"] = json!("https://login.example.com")),
        ("expiry", |claims| claims["exp"] = json!(claims["iat"].as_i64().unwrap() - 1)),
        ("e-mail", |claims| claims["email_verified"] = json!(false)),
    ];
    for (what, lie) in lies {
        let refused = signs_in(&person, &provider, lie).await;
        assert!(refused.status == 422 && refused.text.contains("did not succeed"), "{what}: {}", refused.text);
        assert!(!person.is_in().await, "{what}");
    }
    provider.signs_with_another_key();
    let refused = signs_in(&person, &provider, |_| {}).await;
    assert!(refused.status == 422 && refused.text.contains("was not accepted"), "{}", refused.text);
    assert_eq!(world.database.count("operator").await, 0, "nobody became an operator");
}

#[tokio::test]
async fn a_sign_in_belongs_to_the_browser_that_began_it() {
    let provider = Provider::start().await;
    let world = world_of(&provider).await;
    let (person, attacker) = (world.at_the_console(), world.at_the_console());
    let now = world.app.now().timestamp();
    // Somebody else's way back: another state, or no ticket at all.
    let theirs = provider.lets_in(&attacker.get("/sign-in/single").await.location, now, |_| {});
    assert_eq!(person.get(&theirs).await.status, 422, "the browser has begun nothing");
    person.get("/sign-in/single").await;
    assert_eq!(person.get(&theirs).await.status, 422, "it has begun another one");
    assert!(!person.is_in().await);
    // A code works once, and a ticket for ten minutes.
    let sent = person.get("/sign-in/single").await.location;
    let back = provider.lets_in(&sent, now, |_| {});
    let ticket = person.cookie("__Host-console-provider").unwrap();
    assert_eq!(person.get(&back).await.location, "/");
    person.has_cookie("__Host-console-provider", Some(&ticket));
    assert_eq!(person.get(&back).await.status, 422);
    let late = provider.lets_in(&person.get("/sign-in/single").await.location, now, |_| {});
    world.time_passes(Duration::from_mins(10));
    assert!(person.get(&late).await.text.contains("longer than ten minutes"));
    // The provider says no.
    person.get("/sign-in/single").await;
    assert!(person.get("/sign-in/single/back?error=access_denied&state=x").await.text.contains("did not let you in"));
}

#[tokio::test]
async fn a_disabled_person_stays_out() {
    let provider = Provider::start().await;
    let world = world_of(&provider).await;
    let person = world.at_the_console();
    assert_eq!(signs_in(&person, &provider, |_| {}).await.status, 303);
    let id = operators::find(world.app.home(), "desk.one@ops.example.com").await.unwrap().unwrap().operator.id;
    people::disable(&world.app, "test", id).await.unwrap();
    assert!(!person.is_in().await);
    let refused = signs_in(&person, &provider, |_| {}).await;
    assert!(refused.status == 422 && refused.text.contains("Your account here is disabled"), "{}", refused.text);
    people::enable(&world.app, "test", Authority::Full, id).await.unwrap();
    assert_eq!(signs_in(&person, &provider, |_| {}).await.status, 303);
}

#[tokio::test]
async fn without_a_provider_there_is_no_single_sign_on() {
    let world = World::new().await;
    assert_eq!(world.at_the_console().get("/sign-in/single").await.status, 404);
    let world = World::with(&[
        ("BACKHAUL__CONSOLE__URL", "https://console.example.com"),
        ("BACKHAUL__CONSOLE__OIDC__ISSUER", "http://127.0.0.1:1"),
        ("BACKHAUL__CONSOLE__OIDC__CLIENT_ID", "x"),
        ("BACKHAUL__CONSOLE__OIDC__GROUPS__DESK", "support"),
    ])
    .await;
    let down = world.at_the_console().get("/sign-in/single").await;
    assert!(down.status == 422 && down.text.contains("could not be asked"), "{}", down.text);
}
