//! The carrier's webhooks: contents, order and retries.

use std::time::Duration;

use sandbox::carrier::{NoParcel, NoTarget, Sending, Status, Tally};
use sandbox::merchant::Answer;
use serde_json::json;

use crate::caller::{LONG, World, error, event, read, statuses};

const SOON: Duration = Duration::from_millis(1);

#[tokio::test]
async fn a_scan_is_told_with_a_signature() {
    let world = World::new().await;
    let listener = world.listener().await;
    let code = world.parcel_of("Ada").await;
    world.carrier.scan(&code, Status::InTransit).unwrap();
    let received = listener.wait_for(1, LONG).await.unwrap();
    assert_eq!((received[0].path(), received[0].query()), ("/hook", Some("merchant=1")));
    assert_eq!(received[0].header("content-type"), Some("application/json"));
    let event = event(&received[0]);
    assert!(event["id"].as_str().unwrap().starts_with("evt_"));
    assert_eq!((&event["object"], &event["description"], &event["mode"]), (&json!("Event"), &json!("tracker.updated"), &json!("test")));
    let tracker = &event["result"];
    assert_eq!(
        (&tracker["object"], &tracker["tracking_code"], &tracker["status"]),
        (&json!("Tracker"), &json!(code), &json!("in_transit"))
    );
    assert_eq!(tracker["shipment_id"], world.carrier.shipments()[0].id.as_str());
    let details = tracker["tracking_details"].as_array().unwrap();
    assert_eq!((details.len(), &details[1]["object"], &details[1]["status"]), (2, &json!("TrackingDetail"), &json!("in_transit")));
    assert_eq!((&details[1]["datetime"], &event["created_at"]), (&tracker["updated_at"], &tracker["updated_at"]));
    assert!(details[0]["datetime"].as_str() < details[1]["datetime"].as_str());
    assert!(details[1]["message"].is_string());
}

#[tokio::test]
async fn every_status_is_told_in_order() {
    let world = World::new().await;
    let listener = world.listener().await;
    let code = world.parcel_of("Ada").await;
    for status in Status::ALL {
        world.carrier.scan(&code, status).unwrap();
    }
    let received = listener.wait_for(8, LONG).await.unwrap();
    assert_eq!(statuses(&received), Status::ALL.map(Status::word));
    assert_eq!(world.carrier.webhooks_settled(LONG).await, Ok(Tally { waiting: 0, taken: 8, given_up: 0 }));
}

#[tokio::test]
async fn people_scan_with_curl() {
    let world = World::new().await;
    let listener = world.listener().await;
    let code = world.parcel_of("Ada").await;
    let scan = |code: &str, status: &str| {
        world.client.post(world.url("sim/scan")).body(json!({"tracking_code": code, "status": status}).to_string())
    };
    let (status, told) = read(scan(&code, "out_for_delivery")).await;
    assert_eq!((status, &told["result"]["status"]), (200, &json!("out_for_delivery")));
    assert_eq!(event(&listener.wait_for(1, LONG).await.unwrap()[0]), told);
    assert_eq!(error(scan(&code, "lost")).await.0, 422);
    assert_eq!(error(scan("SIM0", "in_transit")).await.0, 404);
    assert_eq!(world.carrier.scan("SIM0", Status::InTransit), Err(NoParcel));
    assert_eq!(world.carrier.shipments().len(), 1);
}

#[tokio::test]
async fn what_is_not_taken_is_told_again_in_the_same_words_before_what_follows() {
    let world = World::new().await;
    let listener = world.listener().await;
    world.carrier.sends_webhooks_like(Sending { pause: SOON, ..Sending::default() });
    listener.answer_next("/hook", [Answer::status(500), Answer::reset(), Answer::status(302)]);
    world.parcel_of("SIM-DELIVERED").await;
    let tally = world.carrier.webhooks_settled(LONG).await.unwrap();
    assert_eq!(tally, Tally { waiting: 0, taken: 2, given_up: 0 });
    let received = listener.received();
    assert_eq!(statuses(&received), ["in_transit", "in_transit", "in_transit", "in_transit", "delivered"]);
    assert!(received[..4].iter().all(|again| again.body() == received[0].body()));
}

#[tokio::test]
async fn after_the_last_try_it_is_given_up() {
    let world = World::new().await;
    let listener = world.listener().await;
    world.carrier.sends_webhooks_like(Sending { tries: 3, pause: SOON, ..Sending::default() });
    listener.answer("/hook", Answer::status(503));
    world.parcel_of("SIM-TRANSIT").await;
    assert_eq!(world.carrier.webhooks_settled(LONG).await, Ok(Tally { waiting: 0, taken: 0, given_up: 1 }));
    assert_eq!(listener.count(), 3);
}

#[tokio::test]
async fn a_parcel_that_is_not_taken_holds_up_no_other() {
    let world = World::new().await;
    let listener = world.listener().await;
    listener.answer_next("/hook", [Answer::hang()]);
    world.parcel_of("SIM-LOST").await;
    listener.wait_for(1, LONG).await.unwrap();
    let code = world.parcel_of("Ada").await;
    world.carrier.scan(&code, Status::Delivered).unwrap();
    let received = listener.wait_for(2, LONG).await.unwrap();
    assert_eq!(event(&received[1])["result"]["tracking_code"], code.as_str());
    listener.release();
    world.carrier.webhooks_settled(LONG).await.unwrap();
    assert_eq!(statuses(&listener.received()), ["in_transit", "delivered", "failure"]);
}

#[tokio::test]
async fn each_is_sent_as_often_as_was_asked_for() {
    let world = World::new().await;
    let listener = world.listener().await;
    world.carrier.sends_webhooks_like(Sending { copies: 3, ..Sending::default() });
    world.parcel_of("SIM-DELIVERED").await;
    assert_eq!(world.carrier.webhooks_settled(LONG).await.unwrap().taken, 6);
    let received = listener.received();
    assert_eq!(statuses(&received), ["in_transit", "in_transit", "in_transit", "delivered", "delivered", "delivered"]);
    assert_eq!(received[0].body(), received[2].body());
}

#[tokio::test]
async fn the_newest_can_come_first() {
    let world = World::new().await;
    let listener = world.listener().await;
    world.carrier.sends_webhooks_like(Sending { newest_first: true, ..Sending::default() });
    world.carrier.holds_webhooks();
    let code = world.parcel_of("Ada").await;
    for status in [Status::InTransit, Status::OutForDelivery, Status::Delivered] {
        world.carrier.scan(&code, status).unwrap();
    }
    world.carrier.releases_webhooks();
    world.carrier.webhooks_settled(LONG).await.unwrap();
    let received = listener.received();
    assert_eq!(statuses(&received), ["delivered", "out_for_delivery", "in_transit"]);
    let times: Vec<String> = received.iter().map(|received| event(received)["created_at"].as_str().unwrap().to_owned()).collect();
    assert!(times[0] > times[1] && times[1] > times[2], "what happened first is still what happened first");
}

#[tokio::test]
async fn what_is_held_back_waits_to_be_released() {
    let world = World::new().await;
    let listener = world.listener().await;
    world.carrier.holds_webhooks();
    world.parcel_of("SIM-DELIVERED").await;
    assert_eq!(world.carrier.webhooks_settled(Duration::ZERO).await, Err(Tally { waiting: 2, taken: 0, given_up: 0 }));
    assert_eq!(listener.count(), 0);
    world.carrier.releases_webhooks();
    world.carrier.webhooks_settled(LONG).await.unwrap();
    assert_eq!(statuses(&listener.received()), ["in_transit", "delivered"]);
}

#[tokio::test]
async fn nobody_is_told_before_somebody_wants_to_be() {
    let world = World::new().await;
    world.parcel_of("SIM-DELIVERED").await;
    assert_eq!(world.carrier.webhooks(), Tally::default());
    assert_eq!(world.carrier.sends_webhooks_to("https://example.com/hook", ""), Err(NoTarget));
}
