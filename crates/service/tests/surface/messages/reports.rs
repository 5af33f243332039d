//! The counts in reports: every attempt once, every message that arrived once, and nothing else.

use std::time::Duration;

use backhaul::flow::messages::configure_endpoint as flow;
use domain::messages::message::Interface;
use reqwest::Method;
use sandbox::merchant::Answer;
use serde_json::json;
use store::messages::settlements::{self, Attempt, Disposition, Hold, Settlement};

use crate::world::receiver::{PATH, Receiver, impatient};
use crate::world::{Merchant, World};

#[tokio::test]
async fn a_message_that_arrived_counts_once_with_its_attempts_and_its_time() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    receiver.systems.answer_next(PATH, [Answer::status(500), Answer::status(503)]);
    receiver.is_owed("R-1", 1).await;
    world.deliver_all_due().await;
    assert_eq!(world.database.count("delivered_hourly").await, 0, "it has not arrived yet");
    for wait in [6, 45] {
        world.time_passes(Duration::from_secs(wait));
        world.deliver_all_due().await;
    }
    flow::test_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    world.deliver_all_due().await;
    let counted =
        "select kind || ' ' || to_char(hour, 'HH24:MI') || ' ' || attempts || ' ' || within_ms || ' ' || count from delivered_hourly";
    assert_eq!(world.database.texts(counted).await, ["rma 12:00 3 63000 1"], "trials do not count");
    let attempts = "select number || ' ' || outcome || ' ' || count from attempt_hourly order by number";
    assert_eq!(world.database.texts(attempts).await, ["1 500 1", "2 503 1", "3 200 1"]);
}

#[tokio::test]
async fn what_is_given_up_or_discarded_has_not_arrived() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    receiver.systems.answer(PATH, Answer::status(500));
    receiver.is_owed("R-1", 1).await;
    world.five_retries_pass().await;
    flow::pause_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    let unwanted = receiver.is_owed("R-2", 1).await;
    let mut tx = world.app.begin(receiver.merchant).await.unwrap();
    assert!(store::messages::deliveries::discard(&mut tx, unwanted).await.unwrap());
    tx.commit().await.unwrap();
    world.deliver_all_due().await;
    assert_eq!((world.owed().await, world.failures().await, world.database.count("delivered_hourly").await), (0, 1, 0));
}

#[tokio::test]
async fn a_settling_whose_answer_was_lost_counts_nothing_the_second_time() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let message = receiver.is_owed("R-1", 1).await;
    let endpoint = store::messages::endpoints::list(world.app.cell(), receiver.merchant).await.unwrap().remove(0);
    let bucket = domain::messages::message::bucket_of(endpoint.id.0);
    let owner = world.app.mint();
    let leased: Vec<Hold> = store::messages::leases::take(world.app.cell(), owner, 256, 600.0).await.unwrap();
    let hold = *leased.iter().find(|hold| hold.bucket == bucket).unwrap();
    let attempt = Attempt {
        hold,
        id: world.app.mint(),
        merchant: receiver.merchant,
        message,
        endpoint: endpoint.id,
        started_at: world.app.now(),
        took_ms: 30,
        by_hand: false,
        number: 1,
        status: Some(201),
        outcome: "201".to_owned(),
        reason: None,
        answer: None,
        counted_as: Some("rma"),
    };
    let settlement = Settlement { hold, merchant: receiver.merchant, message, disposition: Disposition::Finished };
    for _ in 0..2 {
        settlements::settle(world.app.cell(), &[&settlement], &[&attempt], world.app.now()).await.unwrap();
    }
    let counted = "select 'attempts ' || outcome || ' ' || count from attempt_hourly
        union all select 'delivered ' || within_ms || ' ' || count from delivered_hourly order by 1";
    assert_eq!(world.database.texts(counted).await, ["attempts 201 1", "delivered 40 1"]);
}

/// A merchant with a token and an endpoint for RMA messages.
async fn reported(world: &World) -> (Merchant<'_>, Receiver<'_>) {
    let merchant = world.merchant("acme").await;
    let systems = sandbox::merchant::Merchant::start().await.unwrap();
    let change = flow::EndpointChange { url: Some(systems.url(PATH)), per_second: Some(10_000), ..flow::EndpointChange::default() };
    flow::set_endpoint(&world.app, "test", merchant.id, Interface::Rma, change).await.unwrap();
    let receiver = Receiver { world, merchant: merchant.id, systems, secret: String::new() };
    (merchant, receiver)
}

#[tokio::test]
async fn a_report_says_how_calls_ended_and_how_soon_messages_arrived() {
    let world = World::new().await;
    let (merchant, receiver) = reported(&world).await;
    receiver.systems.answer_next(PATH, [Answer::status(500)]);
    receiver.is_owed("R-1", 1).await;
    world.deliver_all_due().await;
    world.time_passes(Duration::from_secs(6));
    world.deliver_all_due().await;
    let report = merchant.calls(Method::GET, "/v1/reports/deliveries", |request| request).await;
    assert_eq!(report.status, 200, "{}", report.text);
    let expected = json!({
        "from": "2026-01-31",
        "to": "2026-03-01",
        "interfaces": [{
            "interface": "rma",
            "delivered": 1,
            "failed_attempts": 1,
            "delivered_at_attempt": [{ "attempt": 2, "messages": 1 }],
            "time_to_deliver": { "p50_at_most_ms": 6_300, "p90_at_most_ms": 6_300, "p99_at_most_ms": 6_300 },
        }],
        "days": [{
            "day": "2026-03-01",
            "interface": "rma",
            "delivered": 1,
            "failed_attempts": 1,
            "outcomes": [{ "outcome": "200", "attempts": 1 }, { "outcome": "500", "attempts": 1 }],
        }],
    });
    assert_eq!(report.body, expected);
    let rows = [
        "day,interface,figure,value,count",
        "2026-03-01,rma,delivered_at_attempt,2,1",
        "2026-03-01,rma,delivered_within_ms,6300,1",
        "2026-03-01,rma,outcome,200,1",
        "2026-03-01,rma,outcome,500,1",
    ];
    let asked = merchant.calls(Method::GET, "/v1/reports/deliveries?format=csv", |request| request).await;
    let accepted = merchant.calls(Method::GET, "/v1/reports/deliveries", |request| request.header("Accept", "text/csv")).await;
    for csv in [asked, accepted] {
        assert_eq!((csv.status.as_u16(), csv.header("content-type")), (200, "text/csv; charset=utf-8"));
        assert_eq!(csv.text.lines().collect::<Vec<_>>(), rows);
    }
}

#[tokio::test]
async fn a_report_is_of_the_days_and_the_merchant_that_it_is_asked_for() {
    let world = World::new().await;
    let (merchant, receiver) = reported(&world).await;
    let other = world.merchant("other").await;
    receiver.is_owed("R-1", 1).await;
    world.deliver_all_due().await;
    let days = async |who: &Merchant<'_>, query: &str| {
        let reply = who.calls(Method::GET, &format!("/v1/reports/deliveries{query}"), |request| request).await;
        (reply.status.as_u16(), reply.body["days"].as_array().map(Vec::len))
    };
    assert_eq!(days(&merchant, "?from=2026-03-01&to=2026-03-01").await, (200, Some(1)));
    assert_eq!(days(&merchant, "?from=2026-02-27&to=2026-02-28").await, (200, Some(0)));
    assert_eq!(days(&merchant, "?from=2026-03-02&to=2026-03-02").await, (200, Some(0)));
    assert_eq!(days(&other, "").await, (200, Some(0)), "a report shows one merchant only");
    for wrong in ["?from=2026-03-02", "?from=2025-11-29", "?to=soon", "?format=xml"] {
        assert_eq!(days(&merchant, wrong).await, (400, None), "{wrong}");
    }
}
