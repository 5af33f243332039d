//! A carrier reports its scans by webhook; webhooks are signed, and may be late, repeated and out of order.

use std::time::Duration;

use backhaul::flow::returns::configure_carrier::rotate_webhook_secret;
use sandbox::carrier::{Failure, Operation, Sending, Status};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use crate::world::World;
use crate::world::carrier::{signed, tracker_event};

#[tokio::test]
async fn a_scan_moves_the_return_once() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let (rma, number) = carried.has_a_label("A-1").await;
    for status in [Status::InTransit, Status::InTransit, Status::OutForDelivery, Status::Delivered, Status::InTransit] {
        carried.carrier.scan(&number, status).unwrap();
    }
    carried.webhooks_are_answered().await;
    assert_eq!(carried.receives_events().await, ["TRANSIT", "DELIVERED"]);
    assert_eq!(carried.shop.merchant.looks_at(&rma).await["sequence"], 4);
}

#[tokio::test]
async fn parcels_that_play_themselves_play_through() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    for (street, expected) in [
        ("1 SIM-TRANSIT St", &["created", "PRE_TRANSIT", "TRANSIT"][..]),
        ("1 SIM-DELIVERED St", &["created", "PRE_TRANSIT", "TRANSIT", "DELIVERED"]),
        ("1 SIM-LOST St", &["created", "PRE_TRANSIT", "TRANSIT", "FAILURE"]),
    ] {
        let rma = carried.has_a_return_from(street, street).await;
        let mut events = carried.receives_events().await;
        carried.webhooks_are_answered().await;
        events.extend(carried.receives_events().await);
        assert_eq!(events, expected, "{street}");
        assert_eq!(carried.bought_and_given_back(&rma), (1, 0));
    }
}

#[tokio::test]
async fn what_is_told_before_the_label_is_there_comes_after_it() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    carried.carrier.fails_next(Operation::Buy, [Failure::ErrorAfter]);
    carried.has_a_return_from("A-1", "SIM-DELIVERED").await;
    assert_eq!(carried.receives_events().await, ["created"]);
    carried.webhooks_are_answered().await;
    assert_eq!(carried.receives_events().await, Vec::<String>::new(), "the carrier already has a label that the service does not know yet");
    world.time_passes(Duration::from_secs(6));
    assert_eq!(carried.receives_events().await, ["PRE_TRANSIT", "TRANSIT", "DELIVERED"]);
    assert_eq!(world.database.count("carrier_event").await, 0);
}

#[tokio::test]
async fn webhooks_that_come_twice_and_newest_first_tell_each_state_once_and_in_order() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    carried.carrier.sends_webhooks_like(Sending { copies: 3, newest_first: true, ..Sending::default() });
    let numbers = [carried.has_a_label("A-1").await.1, carried.has_a_label("A-2").await.1];
    carried.carrier.holds_webhooks();
    for number in &numbers {
        carried.carrier.scan(number, Status::InTransit).unwrap();
        carried.carrier.scan(number, Status::Delivered).unwrap();
    }
    carried.carrier.releases_webhooks();
    carried.webhooks_are_answered().await;
    assert_eq!(carried.carrier.webhooks().taken, 12, "every copy was answered with 200");
    assert_eq!(carried.receives_events().await, ["DELIVERED", "DELIVERED"], "late events change nothing");
}

#[tokio::test]
async fn an_event_is_taken_once() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let (rma, number) = carried.has_a_label("A-1").await;
    let expect = |result: &str| json!({ "result": result, "rma_identifier": if result == "ignored" { Value::Null } else { json!(rma) } });
    // A copy of the first event must not bring back a status that the second one replaced.
    for (id, status, result) in [
        ("evt_1", "failure", "moved"),
        ("evt_1", "failure", "ignored"),
        ("evt_2", "in_transit", "moved"),
        ("evt_1", "failure", "ignored"),
        ("evt_3", "in_transit", "unchanged"),
        ("evt_3", "in_transit", "ignored"),
    ] {
        let reply = carried.carrier_sends(&tracker_event(id, &number, status)).await;
        assert_eq!((reply.status.as_u16(), &reply.body["result"]), (200, &expect(result)["result"]), "{id}: {}", reply.text);
        assert_eq!(reply.body.get("rma_identifier").cloned().unwrap_or_default(), expect(result)["rma_identifier"], "{id}");
    }
    assert_eq!(carried.receives_events().await, ["FAILURE", "TRANSIT"]);
    // Another merchant has its own event ids.
    let bolt = world.shop_with_a_carrier("bolt").await;
    let (_, theirs) = bolt.has_a_label("A-1").await;
    assert_eq!(bolt.carrier_sends(&tracker_event("evt_1", &theirs, "in_transit")).await.body["result"], "moved");
}

#[tokio::test]
async fn whoever_cannot_sign_is_refused_and_learns_nothing() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let bolt = world.shop_with_a_carrier("bolt").await;
    let plain = world.merchant("plain").await;
    let (rma, number) = carried.has_a_label("A-1").await;
    let body = tracker_event("evt_1", &number, "delivered").to_string();
    let (right, theirs) = (signed(&carried.secret, &body), signed(&bolt.secret, &body));
    let here = carried.shop.merchant.webhooks();
    let elsewhere = bolt.shop.merchant.webhooks();
    let unknown = format!("/v1/carrier_webhooks/{}", world.app.mint());
    let other_body = signed(&carried.secret, "{}");
    let upper = right.replace("hmac-sha256-hex=", "sha256=");
    let short = right[..right.len() - 2].to_owned();
    let mut answers = Vec::new();
    for (case, path, signature) in [
        ("none", &here, None),
        ("empty", &here, Some("")),
        ("another's secret", &here, Some(theirs.as_str())),
        ("another body", &here, Some(&other_body)),
        ("another scheme", &here, Some(&upper)),
        ("cut short", &here, Some(&short)),
        ("no hex", &here, Some("hmac-sha256-hex=zz")),
        ("another's account", &elsewhere, Some(&right)),
        ("a merchant without a carrier", &plain.webhooks(), Some(&right)),
        ("an unknown account", &unknown, Some(&right)),
        ("no account", &"/v1/carrier_webhooks/absent".to_owned(), Some(&right)),
    ] {
        let reply = world.receives_webhook(path, signature, &body).await;
        assert_eq!(reply.status, 401, "{case}");
        let mut answer = reply.body.clone();
        answer.as_object_mut().unwrap().remove("request_id");
        answers.push(answer);
    }
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "all refusals look the same: {answers:?}");
    let no_event = world.receives_webhook(&here, None, "{").await;
    assert_eq!(no_event.status, 401, "an unsigned body is not parsed");
    assert_eq!((carried.receives_events().await, world.database.count("carrier_webhook").await), (vec![], 0));
    assert_eq!(carried.shop.merchant.looks_at(&rma).await["sequence"], 2);
    assert_eq!(world.receives_webhook(&here, Some(&right), &body).await.body["result"], "moved", "the correct signature is accepted");
}

#[tokio::test]
async fn an_event_that_is_30_days_old_is_refused() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let (_, number) = carried.has_a_label("A-1").await;
    world.time_passes(Duration::from_hours(30 * 24));
    store::messages::partitions::make_around(world.app.cell(), world.app.now()).await.unwrap();
    assert_eq!(carried.carrier_sends(&tracker_event("evt_1", &number, "in_transit")).await.status, 200);
    world.time_passes(Duration::from_secs(1));
    assert_eq!(carried.carrier_sends(&tracker_event("evt_2", &number, "delivered")).await.status, 401);
}

#[tokio::test]
async fn a_carrier_goes_by_real_time_where_the_sandboxs_clock_was_moved() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let (_, number) = carried.has_a_label("A-1").await;
    let days: backhaul::platform::clock::Span = "60d".parse().unwrap();
    backhaul::flow::node::advance_clock::advance_clock(&world.app, "test", days).await.unwrap();
    assert_eq!(carried.carrier_sends(&tracker_event("evt_1", &number, "in_transit")).await.status, 200);
}

#[tokio::test]
async fn events_about_nothing_of_ours_are_ignored_and_what_is_no_event_is_refused() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let (_, number) = carried.has_a_label("A-1").await;
    let event = |result: Value| json!({ "id": "evt_9", "description": "x", "created_at": "2026-03-01T12:00:00Z", "result": result });
    for ignored in [
        tracker_event("evt_1", &number, "unknown"),
        tracker_event("evt_2", &number, "pre_transit"),
        tracker_event("evt_3", &number, "something new"),
        event(Value::Null),
        event(json!({ "object": "Batch", "id": "batch_1", "state": "purchased" })),
        event(json!({ "object": "Refund", "tracking_code": number, "status": "submitted" })),
        event(json!({ "object": "Shipment", "tracking_code": number, "status": "delivered" })),
    ] {
        let reply = carried.carrier_sends(&ignored).await;
        assert_eq!((reply.status.as_u16(), &reply.body["result"]), (200, &json!("ignored")), "{ignored}");
    }
    let mut timeless = tracker_event("evt_4", &number, "delivered");
    timeless["created_at"] = "yesterday".into();
    for refused in [
        json!({}),
        json!([]),
        json!("x"),
        timeless,
        tracker_event("evt_5", "", "delivered"),
        tracker_event("evt_6", &"9".repeat(300), "delivered"),
    ] {
        let reply = carried.carrier_sends(&refused).await;
        assert_eq!(reply.status, 400, "{refused}: {}", reply.text);
    }
    let path = carried.shop.merchant.webhooks();
    assert_eq!(world.receives_webhook(&path, Some(&signed(&carried.secret, "{")), "{").await.status, 400);
    assert_eq!((carried.receives_events().await, world.database.count("carrier_webhook").await), (vec![], 0));
}

#[tokio::test]
async fn a_replaced_secret_still_signs_for_a_day_and_not_longer() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let merchant = &carried.shop.merchant;
    let new = rotate_webhook_secret(&world.app, "test", merchant.id).await.unwrap().expose_secret().to_owned();
    assert_ne!(new, carried.secret);
    let sends = async |id: &str, secret: &str| {
        let body = tracker_event(id, "9400100000000000000001", "in_transit").to_string();
        world.receives_webhook(&merchant.webhooks(), Some(&signed(secret, &body)), &body).await.status.as_u16()
    };
    assert_eq!([sends("evt_1", &carried.secret).await, sends("evt_2", &new).await, sends("evt_3", "forged").await], [200, 200, 401]);
    world.time_passes(Duration::from_hours(24));
    assert_eq!([sends("evt_4", &carried.secret).await, sends("evt_5", &new).await], [401, 200]);
    let kept = world.database.texts("select carrier_account::text from carrier_account").await;
    assert!(!kept[0].contains(&new) && !kept[0].contains(&carried.secret));
}
