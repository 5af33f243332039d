//! A request for a return that is repeated under the same key starts no second return.

use std::time::Duration;

use futures::future::join_all;
use reqwest::Method;
use serde_json::Value;

use crate::world::{Merchant, Reply, World, mail_back};

impl Merchant<'_> {
    /// Requests a return under a key.
    async fn starts_under(&self, key: &str, wanted: &Value) -> Reply {
        self.calls(Method::POST, "/v1/returns", |request| request.header("Idempotency-Key", key).json(wanted)).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_request_fifty_times_at_once_starts_one_return() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 50).await;
    let wanted = mail_back("A-1", 1);
    let replies = join_all((0..50).map(|_| shop.merchant.starts_under("K-1", &wanted))).await;
    let count = |status: u16| replies.iter().filter(|reply| reply.status == status).count();
    assert_eq!((count(201), count(200)), (1, 49));
    assert!(replies.iter().all(|reply| reply.text == replies[0].text && reply.body["status"] == "CREATED"), "all get the same response");
    assert_eq!(shop.receives_events().await, ["rma.created"]);
    assert_eq!(world.database.count("rma").await, 1);
    assert_eq!(shop.merchant.asks_what_can_come_back("A-1").await["items"][0]["returnable"], 49);
}

#[tokio::test]
async fn the_answer_is_that_of_the_beginning_however_the_return_went_on() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    let first = shop.merchant.starts_under("K-1", &mail_back("A-1", 1)).await;
    let rma = first.body["rma_identifier"].as_str().unwrap();
    assert_eq!(shop.merchant.cancels(rma).await.status, 200);
    let again = shop.merchant.starts_under("K-1", &mail_back("A-1", 1)).await;
    assert_eq!((again.status.as_u16(), &again.text), (200, &first.text));
    assert_eq!(shop.receives_events().await, ["rma.created", "rma.canceled"]);
}

#[tokio::test]
async fn a_key_is_for_one_request() {
    let world = World::new().await;
    let (shop, other) = (world.shop("acme").await, world.merchant("bolt").await);
    for (merchant, order) in [(&shop.merchant, "A-1"), (&shop.merchant, "A-2"), (&other, "A-1")] {
        merchant.sells(order, 2).await;
    }
    assert_eq!(shop.merchant.starts_under("K-1", &mail_back("A-1", 1)).await.status, 201);
    for another in [mail_back("A-1", 2), mail_back("A-2", 1), mail_back("A-9", 1)] {
        let reply = shop.merchant.starts_under("K-1", &another).await;
        assert_eq!(reply.status, 409, "{}", reply.text);
        assert_eq!(reply.body["message"], "The Idempotency-Key was used for another request. Use a new one for every return.");
    }
    assert_eq!(other.starts_under("K-1", &mail_back("A-1", 1)).await.status, 201, "another merchant has its own keys");
    assert_eq!(shop.receives_events().await, ["rma.created"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_requests_at_once_under_one_key_start_one_return() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    for order in ["A-1", "A-2"] {
        shop.merchant.sells(order, 20).await;
    }
    for round in 0..10 {
        let key = format!("K-{round}");
        let wanted = [mail_back("A-1", 1), mail_back("A-2", 1)];
        let replies = join_all(wanted.iter().map(|wanted| shop.merchant.starts_under(&key, wanted))).await;
        let mut statuses: Vec<u16> = replies.iter().map(|reply| reply.status.as_u16()).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 409], "{round}");
    }
    assert_eq!(world.database.count("rma").await, 10);
}

#[tokio::test]
async fn a_refused_request_does_not_use_its_key_up() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    assert_eq!(shop.merchant.starts_under("K-1", &mail_back("A-1", 2)).await.status, 422);
    assert_eq!(shop.merchant.starts_under("K-1", &mail_back("A-1", 1)).await.status, 201);
}

#[tokio::test]
async fn a_key_can_be_used_anew_after_two_days() {
    let world = World::new().await;
    let mut shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 2).await;
    let first = shop.merchant.starts_under("K-1", &mail_back("A-1", 1)).await;
    world.time_passes(Duration::from_hours(24));
    assert_eq!(shop.merchant.starts_under("K-1", &mail_back("A-1", 1)).await.status, 200);
    world.time_passes(Duration::from_hours(24));
    shop.merchant.token = shop.merchant.gets_a_token().await;
    let again = shop.merchant.starts_under("K-1", &mail_back("A-1", 1)).await;
    assert_eq!(again.status, 201, "{}", again.text);
    assert_ne!(again.body["rma_identifier"], first.body["rma_identifier"]);
    assert_eq!(world.database.count("idempotency_key").await, 1, "old keys are deleted");
}

#[tokio::test]
async fn a_key_is_1_to_255_visible_characters() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 2).await;
    for wrong in ["", "two words", &"k".repeat(256)] {
        let reply = shop.merchant.starts_under(wrong, &mail_back("A-1", 1)).await;
        assert_eq!(reply.status, 400, "{wrong:?}: {}", reply.text);
    }
    assert_eq!(shop.merchant.starts_under(&"k".repeat(255), &mail_back("A-1", 1)).await.status, 201);
}
