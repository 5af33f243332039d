//! What reports count: every attempt once, every message that arrived once, and nothing else.

use std::time::Duration;

use backhaul::flow::configure_endpoint as flow;
use domain::message::Interface;
use sandbox::merchant::Answer;
use store::settlements::{self, Attempt, Fate, Hold, Settlement};

use crate::world::World;
use crate::world::receiver::PATH;

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
    assert_eq!(world.database.texts(counted).await, ["rma 12:00 3 60000 1"], "trials do not count");
    let attempts = "select number || ' ' || outcome || ' ' || count from attempt_hourly order by number";
    assert_eq!(world.database.texts(attempts).await, ["1 500 1", "2 503 1", "3 200 1"]);
}

#[tokio::test]
async fn what_is_given_up_or_discarded_has_not_arrived() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", flow::Change { waits: Some(vec![1]), ..flow::Change::default() }).await;
    receiver.systems.answer(PATH, Answer::status(500));
    receiver.is_owed("R-1", 1).await;
    world.deliver_all_due().await;
    world.time_passes(Duration::from_secs(2));
    world.deliver_all_due().await;
    flow::pause_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    let unwanted = receiver.is_owed("R-2", 1).await;
    let mut tx = world.app.store.begin(receiver.merchant).await.unwrap();
    assert!(store::deliveries::discard(&mut tx, unwanted).await.unwrap());
    tx.commit().await.unwrap();
    world.deliver_all_due().await;
    assert_eq!((world.owed().await, world.failures().await, world.database.count("delivered_hourly").await), (0, 1, 0));
}

#[tokio::test]
async fn a_settling_whose_answer_was_lost_counts_nothing_the_second_time() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let message = receiver.is_owed("R-1", 1).await;
    let endpoint = store::endpoints::list(&world.app.store, receiver.merchant).await.unwrap().remove(0);
    let bucket = domain::message::bucket_of(endpoint.id.0);
    let hold = Hold { bucket, epoch: 0 };
    let attempt = Attempt {
        hold,
        id: world.app.mint(),
        merchant: receiver.merchant,
        message,
        endpoint: endpoint.id,
        started_at: world.app.now(),
        took_ms: 30,
        number: 1,
        status: Some(201),
        outcome: "201".to_owned(),
        reason: None,
        answer: None,
        counted_as: Some("rma"),
    };
    let settlement = Settlement { hold, merchant: receiver.merchant, message, fate: Fate::Gone };
    for _ in 0..2 {
        settlements::settle(&world.app.store, std::slice::from_ref(&settlement), std::slice::from_ref(&attempt), world.app.now())
            .await
            .unwrap();
    }
    let counted = "select 'attempts ' || outcome || ' ' || count from attempt_hourly
        union all select 'delivered ' || within_ms || ' ' || count from delivered_hourly order by 1";
    assert_eq!(world.database.texts(counted).await, ["attempts 201 1", "delivered 50 1"]);
}
