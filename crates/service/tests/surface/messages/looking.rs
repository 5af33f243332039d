//! Merchants' engineers look at their messages and endpoints, and retry messages.

use std::time::Duration;

use backhaul::flow::messages::configure_endpoint as endpoint;
use domain::messages::message::Interface;
use reqwest::Method;
use sandbox::merchant::Answer;
use serde_json::{Value, json};

use crate::world::receiver::{PATH, Receiver};
use crate::world::{Merchant, Reply, World};

impl Receiver<'_> {
    /// The merchant's engineer, with a token.
    pub async fn engineer(&self) -> Merchant<'_> {
        use backhaul::flow::merchants::configure_merchant as flow;
        use secrecy::ExposeSecret as _;

        let world = self.world;
        let credential =
            flow::issue_credential(&world.app, "test", self.merchant, &flow::Terms::open(domain::merchants::access::Scopes::all(), ""))
                .await
                .unwrap();
        let client_secret = credential.client_secret.expose_secret().to_owned();
        let mut engineer = Merchant { world, id: self.merchant, client_id: credential.client_id, client_secret, token: String::new() };
        engineer.token = engineer.gets_a_token().await;
        engineer
    }
}

impl Merchant<'_> {
    pub async fn gets(&self, path: &str) -> Reply {
        let reply = self.calls(Method::GET, path, |request| request).await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.text);
        reply
    }

    /// The `subject sequence state` of each message that a query lists.
    async fn lists(&self, query: &str) -> Vec<String> {
        let reply = self.gets(&format!("/v1/messages{query}")).await;
        let summary = |message: &Value| {
            format!("{} {} {}", message["subject"].as_str().unwrap(), message["sequence"], message["state"].as_str().unwrap())
        };
        reply.body["items"].as_array().unwrap().iter().map(summary).collect()
    }

    async fn retries(&self, id: &str) -> Reply {
        self.calls(Method::POST, &format!("/v1/messages/{id}/retry"), |request| request).await
    }
}

#[tokio::test]
async fn an_engineer_sees_every_message_and_where_it_stands() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let engineer = receiver.engineer().await;
    receiver.is_owed("R-1", 1).await;
    world.deliver_all_due().await;
    world.time_passes(Duration::from_mins(1));
    receiver.systems.answer(PATH, Answer::status(500));
    receiver.is_owed("R-2", 1).await;
    world.time_passes(Duration::from_millis(1));
    receiver.is_owed("R-2", 2).await;
    world.deliver_all_due().await;
    endpoint::test_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    world.deliver_all_due().await;

    assert_eq!(engineer.lists("").await, ["R-2 2 owed", "R-2 1 owed", "R-1 1 delivered"]);
    assert_eq!(engineer.lists("?subject=R-2").await, ["R-2 2 owed", "R-2 1 owed"]);
    assert_eq!(engineer.lists("?state=owed").await, ["R-2 2 owed", "R-2 1 owed"]);
    assert_eq!(engineer.lists("?state=delivered").await, ["R-1 1 delivered"]);
    assert_eq!(engineer.lists("?event=rma.created&interface=rma&limit=1").await, ["R-2 2 owed"]);
    assert_eq!(engineer.lists("?interface=outbound_asn").await, Vec::<String>::new());
    assert_eq!(engineer.lists("?interface=endpoint_test").await.len(), 1, "trials only on request");
    assert_eq!(engineer.lists("?to=2026-03-01T12:00:30Z").await, ["R-1 1 delivered"]);
    assert_eq!(engineer.lists("?from=2026-03-01T12:00:30Z").await, ["R-2 2 owed", "R-2 1 owed"]);
    for wait in [6, 45, 360, 2_900, 23_000] {
        world.time_passes(Duration::from_secs(wait));
        world.deliver_all_due().await;
    }
    let engineer = receiver.engineer().await;
    assert_eq!(engineer.lists("?state=failed").await, ["R-2 1 failed"]);
    assert_eq!(engineer.lists("?state=owed").await, ["R-2 2 owed"]);
    let stranger = world.merchant("stranger").await;
    assert_eq!(stranger.lists("").await, Vec::<String>::new());
    let unsent = world.owe(stranger.id, "R-7", 1).await;
    assert_eq!(stranger.lists("").await, ["R-7 1 unsent"], "it has no endpoint");
    assert_eq!(stranger.gets(&format!("/v1/messages/{unsent}")).await.body["state"], "unsent");
}

#[tokio::test]
async fn pages_follow_each_other_until_nothing_is_left() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let engineer = receiver.engineer().await;
    endpoint::pause_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    for at in 0..260 {
        receiver.is_owed(&format!("R-{at}"), 1).await;
    }
    for query in ["?limit=100", "?limit=100&state=owed", "?limit=7&state=delivered", "?event=nothing"] {
        let (mut seen, mut before, mut pages) = (Vec::new(), String::new(), 0);
        loop {
            let reply = engineer.gets(&format!("/v1/messages{query}{before}")).await;
            let messages = reply.body["items"].as_array().unwrap().clone();
            seen.extend(messages.iter().map(|message| message["message_id"].as_str().unwrap().to_owned()));
            pages += 1;
            let Some(next) = reply.body["next"].as_str() else { break };
            before = format!("&cursor={next}");
        }
        let expected = if query.contains("delivered") || query.contains("nothing") { 0 } else { 260 };
        assert_eq!(seen.len(), expected, "{query}");
        assert!(seen.is_sorted_by(|newer, older| newer > older), "{query}");
        assert!(pages > 1 && pages < 10, "{query}: {pages}");
    }
    for query in ["?limit=0", "?limit=101", "?state=lost", "?interface=rmas", "?from=yesterday", "?cursor=x", "?subject=%00"] {
        let reply = engineer.calls(Method::GET, &format!("/v1/messages{query}"), |request| request).await;
        assert_eq!(reply.status, 400, "{query}: {}", reply.text);
    }
}

#[tokio::test]
async fn a_message_is_shown_with_its_body_and_what_became_of_each_call() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let engineer = receiver.engineer().await;
    receiver.systems.answer_next(PATH, [Answer::status(500).body("out of order"), Answer::ok().body(vec![0xff, 0x00])]);
    let first = receiver.is_owed("R-1", 1).await;
    let second = receiver.is_owed("R-1", 2).await;
    world.deliver_all_due().await;
    let shown = engineer.gets(&format!("/v1/messages/{second}")).await.body;
    assert_eq!((&shown["state"], &shown["waits_for"]), (&json!("owed"), &json!(first.to_string())));
    let shown = engineer.gets(&format!("/v1/messages/{first}")).await.body;
    assert_eq!(shown["state"], "owed");
    assert!(shown["next_attempt_at"].as_str().unwrap().starts_with("2026-03-01T12:00:05"), "{shown}");
    world.time_passes(Duration::from_secs(6));
    world.deliver_all_due().await;
    let shown = engineer.gets(&format!("/v1/messages/{first}")).await.body;
    assert_eq!((&shown["state"], &shown["body"]), (&json!("delivered"), &json!(r#"{"rma_identifier":"R-1","step":1}"#)));
    let attempts = shown["attempts"]["items"].as_array().unwrap();
    assert_eq!((&attempts[0]["outcome"], &attempts[0]["answer"]), (&json!("500"), &json!("out of order")));
    assert_eq!((&attempts[1]["number"], &attempts[1]["answer"], &attempts[1]["answer_base64"]), (&json!(2), &json!(null), &json!("/wA=")));
}

#[tokio::test]
async fn an_engineer_has_a_delivered_message_sent_once_more_but_no_other() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let engineer = receiver.engineer().await;
    let stranger = world.merchant("stranger").await;
    let id = receiver.is_owed("R-1", 1).await.to_string();
    let reply = engineer.retries(&id).await;
    assert_eq!(
        (reply.status.as_u16(), &reply.body["message"]),
        (409, &json!("The message is still owed and is retried automatically. Wait for its next attempt."))
    );
    world.deliver_all_due().await;
    assert_eq!(stranger.retries(&id).await.status, 404, "it belongs to another merchant");
    assert_eq!(engineer.retries("0190a000-0000-7000-8000-000000000000").await.status, 404);
    let reply = engineer.retries(&id).await;
    assert_eq!((reply.status.as_u16(), &reply.body["attempt"], &reply.body["warning"]), (202, &json!(2), &json!(null)));
    world.deliver_all_due().await;
    assert_eq!(receiver.arrived(), ["R-1 1", "R-1 1"]);
    endpoint::remove_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    let reply = engineer.retries(&id).await;
    assert_eq!(reply.status, 409);
    assert!(reply.body["message"].as_str().unwrap().contains("Ask the operator to set one"), "{}", reply.text);
}

#[tokio::test]
async fn an_endpoint_says_how_it_fares() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let engineer = receiver.engineer().await;
    let health = async || engineer.gets("/v1/endpoints").await.body["items"][0].clone();
    assert_eq!(health().await["state"], "untried");
    receiver.is_owed("R-1", 1).await;
    world.deliver_all_due().await;
    let fares = health().await;
    assert_eq!((&fares["state"], &fares["last_success_hour"]), (&json!("healthy"), &json!("2026-03-01T12:00:00Z")));
    world.time_passes(Duration::from_hours(1));
    receiver.systems.answer(PATH, Answer::status(500));
    receiver.is_owed("R-2", 1).await;
    world.deliver_all_due().await;
    let fares = health().await;
    assert_eq!((&fares["state"], &fares["owed"], &fares["past_due"]), (&json!("failing"), &json!(1), &json!(0)));
    assert_eq!(fares["last_failure_hour"], "2026-03-01T13:00:00Z");
    // The retry that is due meanwhile has no response yet.
    receiver.systems.answer(PATH, Answer::status(500).held());
    world.time_passes(Duration::from_mins(2));
    assert_eq!(health().await["past_due"], 1);
    endpoint::pause_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    let fares = health().await;
    assert_eq!((&fares["state"], &fares["past_due"]), (&json!("paused"), &json!(0)), "a paused endpoint raises no alarm");
}
