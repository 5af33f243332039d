//! Exchange orders whose identifier becomes known later, or never.

use std::time::Duration;

use backhaul::flow::returns::list_unidentified_exchanges::list_unidentified_exchanges;
use reqwest::Method;
use sandbox::merchant::{Answer, Mood};
use serde_json::json;

use crate::world::{World, exchange, exchange_summary, exchanged_for, mail_back, message, refund_for, refunded, sold};

const FAILURES: &str = "select state || ': ' || reason from failure where kind = 'exchange_order' order by subject";

/// The state of an exchange that was placed without an identifier.
fn nameless() -> (String, Option<String>) {
    ("placed".to_owned(), None)
}

fn placed(identifier: &str) -> (String, Option<String>) {
    ("placed".to_owned(), Some(identifier.to_owned()))
}

#[tokio::test]
async fn any_2xx_places_the_order_with_or_without_a_body() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    for (order, answer) in [
        ("A-1", Answer::status(204)),
        ("A-2", Answer::status(201)),
        ("A-3", Answer::status(202).body("accepted")),
        ("A-4", Answer::ok().body("<html>")),
        ("A-5", Answer::ok().json(&json!(["X-A-5"]))),
        ("A-6", Answer::ok().json(&json!({ "order_identifier": null }))),
        ("A-7", Answer::ok().json(&json!({ "order_identifier": "" }))),
    ] {
        boutique.orders.next([Mood::PlacingThen(answer)]);
        let rma = boutique.exchanges(order).await;
        let received = boutique.shop.receives().await;
        let [_, (event, placed)] = received.as_slice() else { panic!("{order}: {received:?}") };
        let item = &placed["items"][0];
        assert_eq!((event.as_str(), &item["exchange_order_identifier"]), ("rma.exchange_placed", &json!(null)), "{order}");
        assert_eq!((&item["is_exchange"], boutique.exchange_of(&rma).await), (&json!(true), nameless()), "{order}");
        assert_eq!(exchange_summary(&boutique.orders).last().unwrap(), &format!("{order} became X-{order} after 1"));
    }
    assert_eq!((world.owed().await, world.failures().await), (0, 0), "nothing is retried");
    let delivered = world.database.texts("select sum(count)::text from delivered_hourly where kind = 'exchange_order'").await;
    assert_eq!(delivered, ["7"]);
}

#[tokio::test]
async fn amounts_are_kept_even_if_the_order_is_not_named() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.orders.next([Mood::PlacingThen(Answer::ok().json(&json!({ "total_amount_cents": 5_400 })))]);
    let rma = boutique.exchanges("A-1").await;
    world.deliver_all_due().await;
    assert_eq!(boutique.shop.merchant.looks_at(&rma).await["exchange"]["total_amount_cents"], 5_400);
}

#[tokio::test]
async fn an_order_message_that_names_the_original_order_identifies_the_exchange() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.orders.mood(Mood::Forgetful);
    for original in ["A-1", "A-2"] {
        let rma = boutique.exchanges(original).await;
        assert_eq!(boutique.shop.receives_events().await, ["rma.created", "rma.exchange_placed"]);
        let identifier = format!("X-{original}");
        // Once on its own, and once among other orders.
        let reply = match original {
            "A-1" => boutique.sells_in_exchange(&identifier, original).await,
            _ => boutique.shop.merchant.publishes(&message([sold("B-1", 1), exchanged_for(original, &identifier), sold("B-2", 1)])).await,
        };
        assert_eq!((reply.status.as_u16(), reply.warnings().len()), (200, 0), "{}", reply.text);
        let received = boutique.shop.receives().await;
        let [(event, told)] = received.as_slice() else { panic!("{received:?}") };
        assert_eq!((event.as_str(), &told["items"][0]["exchange_order_identifier"]), ("rma.exchange_identified", &json!(identifier)));
        assert_eq!(boutique.exchange_of(&rma).await, placed(&identifier));
        let mut shipped = exchanged_for(original, &identifier);
        shipped["updated_at"] = "2026-03-02T12:00:00Z".into();
        assert_eq!(boutique.shop.merchant.publishes(&message([shipped])).await.results(), ["updated"]);
        assert_eq!(boutique.shop.receives_events().await, Vec::<String>::new(), "it is known");
    }
}

#[tokio::test]
async fn an_imported_order_identifies_the_exchange_too() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.orders.mood(Mood::Forgetful);
    let (plain, refunding) = (boutique.exchanges("A-1").await, boutique.exchanges("A-2").await);
    world.deliver_all_due().await;
    let with_a_refund = refunded(exchanged_for("A-2", "X-A-2"), [crate::world::plain_refund("F-1", 1)]);
    let reply = boutique.shop.merchant.imports(&[exchanged_for("A-1", "X-A-1"), with_a_refund]).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert_eq!(boutique.exchange_of(&plain).await, placed("X-A-1"));
    assert_eq!(boutique.exchange_of(&refunding).await, placed("X-A-2"));
}

#[tokio::test]
async fn a_message_that_is_only_checked_records_nothing() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.orders.mood(Mood::Forgetful);
    let rma = boutique.exchanges("A-1").await;
    world.deliver_all_due().await;
    assert_eq!(boutique.shop.merchant.checks(&message([exchanged_for("A-1", "X-A-1")])).await.status, 200);
    assert_eq!(boutique.exchange_of(&rma).await, nameless());
}

#[tokio::test]
async fn the_merchant_names_the_order_once_and_as_often_as_it_likes() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.orders.mood(Mood::Forgetful);
    let rma = boutique.exchanges("A-1").await;
    boutique.shop.receives().await;
    for _ in 0..2 {
        let reply = boutique.names("A-1", "X-7").await;
        assert_eq!((reply.status.as_u16(), &reply.body["rma_identifier"]), (200, &json!(rma)), "{}", reply.text);
        assert_eq!(reply.body["items"][0]["exchange_order_identifier"], "X-7");
    }
    assert_eq!(boutique.shop.receives_events().await, ["rma.exchange_identified"], "the second time nothing happens");
    let other = boutique.names("A-1", "X-8").await;
    assert_eq!(other.status, 409);
    assert!(other.body["message"].as_str().unwrap().contains("already known as X-7"), "{}", other.text);
    assert_eq!(boutique.names("A-2", "X-7").await.status, 404);
    let faulty = boutique.shop.merchant.calls(Method::PUT, "/v1/exchange_orders/A-1", |request| request.json(&json!({}))).await;
    assert_eq!((faulty.status.as_u16(), faulty.faults().len()), (422, 1), "{}", faulty.text);
    let reply = boutique.sells_in_exchange("X-8", "A-1").await;
    assert_eq!(reply.warnings().len(), 1, "{}", reply.text);
    assert_eq!(boutique.exchange_of(&rma).await, placed("X-7"), "the first name counts");
    let audit = world.database.texts("select actor || ' ' || detail from audit where action = 'exchange.recorded'").await;
    assert_eq!(audit, [format!("merchant {rma}")]);
}

#[tokio::test]
async fn asking_again_for_what_has_no_name_gets_the_name() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.orders.next([Mood::Forgetful]);
    let rma = boutique.exchanges("A-1").await;
    boutique.shop.receives().await;
    assert_eq!(boutique.is_tried_again(&rma).await.status, 202);
    assert_eq!(boutique.shop.receives_events().await, ["rma.exchange_identified"]);
    assert_eq!(boutique.exchange_of(&rma).await, placed("X-A-1"));
}

#[tokio::test]
async fn an_order_that_was_placed_after_all_is_recorded_from_the_failure_queue() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.orders.mood(Mood::PlacingThen(Answer::status(500)));
    for original in ["A-1", "A-2"] {
        let rma = boutique.exchanges(original).await;
        boutique.everything_is_tried().await;
        assert_eq!(boutique.shop.receives_events().await, ["rma.created"]);
        let identifier = format!("X-{original}");
        let reply = match original {
            "A-1" => boutique.names(original, &identifier).await,
            _ => boutique.sells_in_exchange(&identifier, original).await,
        };
        assert_eq!(reply.status, 200, "{}", reply.text);
        let received = boutique.shop.receives().await;
        let [(event, body)] = received.as_slice() else { panic!("{received:?}") };
        assert_eq!((event.as_str(), &body["items"][0]["exchange_order_identifier"]), ("rma.exchange_placed", &json!(identifier)));
        assert_eq!(boutique.exchange_of(&rma).await, placed(&identifier));
        assert_eq!(boutique.converts(&rma, r#"{"confirm": true}"#).await.status, 409, "the shopper would get both");
    }
    assert_eq!(world.database.texts(FAILURES).await, ["discarded: 500"; 2], "no work is left for the operator");
}

#[tokio::test]
async fn an_order_that_is_named_while_it_is_owed_is_placed_and_not_asked_for_again() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.orders.mood(Mood::PlacingThen(Answer::close()));
    for original in ["A-1", "A-2"] {
        let rma = boutique.exchanges(original).await;
        world.deliver_all_due().await;
        let reply = match original {
            "A-1" => boutique.names(original, "X-A-1").await,
            _ => boutique.sells_in_exchange("X-A-2", original).await,
        };
        assert_eq!(reply.status, 200, "{}", reply.text);
        boutique.everything_is_tried().await;
        assert_eq!(boutique.exchange_of(&rma).await.0, "placed");
        assert_eq!(boutique.shop.receives_events().await, ["rma.created", "rma.exchange_placed"]);
    }
    assert_eq!(exchange_summary(&boutique.orders), ["A-1 became X-A-1 after 1", "A-2 became X-A-2 after 1"]);
    assert_eq!(world.failures().await, 0);
}

#[tokio::test]
async fn an_order_that_is_cancelled_or_names_itself_or_no_exchange_records_nothing() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.orders.mood(Mood::Forgetful);
    let rma = boutique.exchanges("A-1").await;
    boutique.shop.receives().await;
    let mut cancelled = exchanged_for("A-1", "X-1");
    cancelled["status"] = "Cancelled".into();
    let mut itself = exchanged_for("A-1", "A-1");
    itself["updated_at"] = "2026-03-02T12:00:00Z".into();
    let mut empty = sold("B-2", 1);
    empty["original_order_identifier"] = "".into();
    let reply = boutique.shop.merchant.publishes(&message([cancelled, itself, exchanged_for("A-9", "B-1"), empty])).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert_eq!((boutique.exchange_of(&rma).await, boutique.cases().await), (nameless(), vec![]));
    assert_eq!(boutique.shop.receives_events().await, Vec::<String>::new());
}

#[tokio::test]
async fn an_order_for_an_exchange_that_was_converted_is_a_case_for_people() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.orders.mood(Mood::PlacingThen(Answer::status(500)));
    let rma = boutique.exchanges("A-1").await;
    boutique.everything_is_tried().await;
    boutique.is_converted(&rma).await.unwrap();
    boutique.shop.receives().await;
    let reply = boutique.sells_in_exchange("X-A-1", "A-1").await;
    assert_eq!((reply.status.as_u16(), reply.results(), reply.warnings().len()), (200, vec!["created"], 1), "{}", reply.text);
    assert_eq!(boutique.cases().await, [format!("exchange_after_conversion {rma}")]);
    assert_eq!((boutique.exchange_of(&rma).await.0.as_str(), world.owed().await), ("converted", 0), "never silently to both");
    assert_eq!(boutique.names("A-1", "X-A-1").await.status, 409);
    let listed = boutique.shop.merchant.calls(Method::GET, "/v1/work_items", |request| request).await;
    let case = &listed.body["items"][0];
    assert!(case["reason"].as_str().unwrap().contains("X-A-1"), "{case}");
    let close = format!("/v1/work_items/{}/close", case["work_item_id"].as_str().unwrap());
    assert_eq!(boutique.shop.merchant.calls(Method::POST, &close, |request| request).await.status, 204);
    let mut shipped = exchanged_for("A-1", "X-A-1");
    shipped["updated_at"] = "2026-03-02T12:00:00Z".into();
    assert_eq!(boutique.shop.merchant.publishes(&message([shipped])).await.status, 200);
    assert_eq!(boutique.cases().await, Vec::<String>::new(), "people have decided");
}

#[tokio::test]
async fn naming_an_order_by_the_api_after_the_conversion_is_a_case_too() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.orders.mood(Mood::Refusing(500));
    let rma = boutique.exchanges("A-1").await;
    boutique.everything_is_tried().await;
    boutique.is_converted(&rma).await.unwrap();
    let refused = boutique.names("A-1", "X-A-1").await;
    assert_eq!(refused.status, 409);
    assert!(refused.body["message"].as_str().unwrap().contains("converted into refunds"), "{}", refused.text);
    assert_eq!(boutique.cases().await, [format!("exchange_after_conversion {rma}")]);
}

#[tokio::test]
async fn an_order_without_a_name_is_a_case_after_a_day_until_it_is_named() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.orders.mood_by(|original, _| if original == "A-3" { Mood::Willing } else { Mood::Forgetful });
    let (first, second) = (boutique.exchanges("A-1").await, boutique.exchanges("A-2").await);
    boutique.exchanges("A-3").await;
    world.deliver_all_due().await;
    for (hours, minutes) in [(23, 0), (0, 59), (0, 1)] {
        assert_eq!(boutique.cases().await, Vec::<String>::new());
        world.time_passes(Duration::from_hours(hours) + Duration::from_mins(minutes));
        assert!(!list_unidentified_exchanges(&world.app).await.unwrap(), "one batch was enough");
    }
    let mut cases = boutique.cases().await;
    cases.sort();
    let mut expected = [&first, &second].map(|rma| format!("exchange_unidentified {rma}"));
    expected.sort();
    assert_eq!(cases, expected);
    assert_eq!(boutique.names("A-1", "X-A-1").await.status, 200);
    assert_eq!(boutique.cases().await, [format!("exchange_unidentified {second}")]);
    assert_eq!(boutique.converts(&second, r#"{"confirm": true}"#).await.status, 200);
    world.time_passes(Duration::from_hours(48));
    list_unidentified_exchanges(&world.app).await.unwrap();
    assert_eq!(world.database.texts("select subject from work_item where closed_at is null").await, Vec::<String>::new());
}

#[tokio::test]
async fn what_was_placed_without_a_name_is_converted_only_with_a_confirmation() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.orders.next([Mood::Forgetful]);
    let rma = boutique.exchanges("A-1").await;
    boutique.shop.receives().await;
    let refused = boutique.converts(&rma, "").await;
    assert_eq!(refused.status, 409);
    assert!(refused.body["message"].as_str().unwrap().contains("placed the order without naming it"), "{}", refused.text);
    assert_eq!(boutique.converts(&rma, r#"{"confirm": true}"#).await.status, 200);
    assert_eq!(boutique.refunds_of(&rma).await, [("REFUND".to_owned(), 5_400)]);
    let received = boutique.shop.receives().await;
    let [(event, body)] = received.as_slice() else { panic!("{received:?}") };
    assert_eq!((event.as_str(), &body["items"][0]["is_exchange"]), ("rma.exchange_converted", &json!(false)));
    assert_eq!(boutique.is_tried_again(&rma).await.status, 409);
    boutique.sells_in_exchange("X-A-1", "A-1").await;
    assert_eq!(boutique.cases().await, [format!("exchange_after_conversion {rma}")]);
    let settled = message([refunded(sold("A-1", 1), [refund_for(&rma, "F-1", 1)])]);
    assert_eq!(boutique.shop.merchant.publishes(&settled).await.status, 200);
    assert_eq!(boutique.shop.receives_events().await, ["rma.refunded"]);
}

#[tokio::test]
async fn an_exchange_of_a_return_that_is_settled_stays() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.orders.next([Mood::Forgetful]);
    boutique.shop.merchant.sells("A-1", 2).await;
    let mut wanted = exchange("A-1", 1, "SHOE-43");
    wanted["items"].as_array_mut().unwrap().push(json!({ "order_line_item_identifier": "L1" }));
    let rma = boutique.starts(&wanted).await;
    world.deliver_all_due().await;
    boutique.shop.merchant.publishes(&message([refunded(sold("A-1", 2), [refund_for(&rma, "F-1", 1)])])).await;
    let refused = boutique.converts(&rma, r#"{"confirm": true}"#).await;
    assert_eq!(refused.status, 409);
    assert!(refused.body["message"].as_str().unwrap().contains("the return is refunded, which is final") || refused.text.contains("final"));
    assert_eq!(boutique.exchange_of(&rma).await, nameless());
}

#[tokio::test]
async fn converting_and_asking_again_at_the_same_time_never_gives_a_shopper_both() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    for at in 0..20 {
        boutique.orders.next([Mood::Forgetful]);
        let rma = boutique.exchanges(&format!("A-{at}")).await;
        world.deliver_all_due().await;
        let (converted, retried) = tokio::join!(boutique.converts(&rma, r#"{"confirm": true}"#), boutique.is_tried_again(&rma));
        assert_ne!(converted.status == 200, retried.status == 202, "exactly one of them succeeds: {} {}", converted.text, retried.text);
        world.deliver_all_due().await;
        let (state, _) = boutique.exchange_of(&rma).await;
        assert_eq!(state, if converted.status == 200 { "converted" } else { "placed" });
    }
}

#[tokio::test]
async fn what_comes_back_of_an_exchange_order_says_so() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.exchanges("A-1").await;
    boutique.shop.receives().await;
    // One that was exchanged here, one that the merchant says was exchanged elsewhere, and one that was not exchanged.
    boutique.shop.merchant.sells("X-A-1", 1).await;
    boutique.sells_in_exchange("X-Z-1", "Z-1").await;
    boutique.shop.merchant.sells("B-1", 1).await;
    for (order, original) in [("X-A-1", json!("A-1")), ("X-Z-1", json!("Z-1")), ("B-1", json!(null))] {
        boutique.starts(&mail_back(order, 1)).await;
        let received = boutique.shop.receives().await;
        let [(_, created)] = received.as_slice() else { panic!("{received:?}") };
        let item = &created["items"][0];
        assert_eq!((&item["original_order_identifier"], &item["refund_type"]), (&original, &json!("REFUND")), "{order}");
        assert_eq!(item["is_exchange"], json!(!original.is_null()), "{order}");
    }
}
