//! A message that is retried again and again: its attempts come in pages, and there is an end to it.

use std::time::Duration;

use backhaul::flow::messages::retry_message::{Asker, retry_message};
use reqwest::Method;
use serde_json::{Value, json};

use crate::binary::{backhaul, out};
use crate::world::World;

#[tokio::test]
async fn a_message_is_retried_by_hand_only_so_often_within_an_hour() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let engineer = receiver.engineer().await;
    let id = receiver.is_owed("R-1", 1).await.to_string();
    world.deliver_all_due().await;
    let retry = async || engineer.calls(Method::POST, &format!("/v1/messages/{id}/retry"), |request| request).await;
    for attempt in 2..=20 {
        world.time_passes(Duration::from_secs(1));
        assert_eq!(retry().await.body["attempt"], attempt);
        world.deliver_all_due().await;
    }
    let refused = retry().await;
    assert_eq!((refused.status.as_u16(), refused.header("retry-after")), (429, "3581"), "{}", refused.text);
    let why = refused.body["message"].as_str().unwrap();
    assert!(why.starts_with("The limit of 20 attempts per hour at one message is reached."), "{why}");
    assert_eq!(receiver.arrived().len(), 20);
    let operator = retry_message(&world.app, Asker::Operator("test"), receiver.merchant, id.parse().unwrap()).await.unwrap_err();
    assert_eq!(operator.to_string(), "there were 20 attempts at this message within the last hour; try again in 3581 s");
    // The first attempt is an hour old then.
    world.time_passes(Duration::from_secs(3_581));
    assert_eq!(retry().await.status, 202);
}

#[tokio::test]
async fn the_attempts_at_a_message_come_in_pages() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let engineer = receiver.engineer().await;
    let id = receiver.is_owed("R-1", 1).await.to_string();
    world.deliver_all_due().await;
    // As if it had been retried every few minutes for weeks, and delivered at first only.
    let copy = "insert into attempt (started_at, merchant_id, attempt_id, message_id, endpoint_id, took_ms, number, status, outcome, reason, answer)
        select started_at, merchant_id, (substr(attempt_id::text, 1, 24) || lpad(to_hex(at), 12, '0'))::uuid, message_id, endpoint_id, took_ms, number + at, 500, '500', reason, answer
        from attempt, generate_series(1, 119) as at";
    sqlx::raw_sql(copy).execute(&mut world.database.connect().await).await.unwrap();
    let numbers = |body: &Value| {
        body["attempts"]["items"].as_array().unwrap().iter().map(|attempt| attempt["number"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    let page = engineer.gets(&format!("/v1/messages/{id}")).await.body;
    assert_eq!((numbers(&page), &page["state"]), ((1..=50).collect(), &json!("delivered")));
    let (mut seen, mut after, mut pages) = (Vec::new(), String::new(), 0);
    loop {
        let page = engineer.gets(&format!("/v1/messages/{id}?limit=40{after}")).await.body;
        assert_eq!(page["state"], "delivered", "whichever attempts are shown");
        seen.extend(numbers(&page));
        pages += 1;
        let Some(next) = page["attempts"]["next"].as_str() else { break };
        after = format!("&cursor={next}");
    }
    assert_eq!((seen, pages), ((1..=120).collect(), 3));
    for query in ["limit=0", "limit=101", "cursor=nonsense"] {
        let refused = engineer.calls(Method::GET, &format!("/v1/messages/{id}?{query}"), |request| request).await;
        assert_eq!(refused.status, 400, "{query}: {}", refused.text);
    }
    let shown = out(&backhaul(&world.database, &["messages", "show", &id, "--merchant", "acme"]));
    let next = shown.lines().last().unwrap().rsplit(' ').next().unwrap();
    assert!(shown.contains("There are more attempts. `backhaul messages show` continues with --cursor "), "{shown}");
    let rest = ["messages", "show", &id, "--merchant", "acme", "--cursor", next, "--limit", "100", "-o", "json"];
    let rest: Value = serde_json::from_str(&out(&backhaul(&world.database, &rest))).unwrap();
    assert_eq!((numbers(&rest), &rest["attempts"]["next"]), ((51..=120).collect(), &Value::Null));
}
