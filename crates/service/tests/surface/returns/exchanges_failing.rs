//! Exchange orders that are not placed at once: what is certain, and what people decide.

use std::time::Duration;

use backhaul::flow::messages::work_on_failure::{FailureAction, WorkOnFailureError, work_on_failure};
use backhaul::flow::returns::convert_exchange::ConvertExchangeError;
use domain::money::Cents;
use domain::returns::rma::Method as Way;
use domain::returns::rma::policy::{Offer, Policy};
use sandbox::merchant::{Answer, Mood};
use serde_json::json;

use crate::world::{Boutique, EXCHANGE_ORDERS, World, exchange, exchange_summary, message, refund_for, refunded, sold, with_gift_cards};

/// The state and reason of each exchange order in the failure queue.
const FAILURES: &str = "select state || ': ' || reason from failure where kind = 'exchange_order' order by subject";

async fn states(boutique: &Boutique<'_>) -> Vec<String> {
    boutique.shop.merchant.world.database.texts(FAILURES).await
}

#[tokio::test]
async fn every_failure_is_tried_again_with_the_same_bytes() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    let moods = [Mood::Refusing(400), Mood::Refusing(422), Mood::Refusing(500), Mood::PlacingThen(Answer::close()), Mood::Refusing(410)];
    boutique.orders.next(moods);
    let rma = boutique.exchanges("A-1").await;
    boutique.everything_is_tried().await;
    let asked = boutique.asked();
    assert_eq!(asked.iter().map(|asked| asked.attempt().unwrap()).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    assert!(asked.iter().all(|once| once.body() == asked[0].body() && once.message_id() == asked[0].message_id()));
    assert_eq!(boutique.exchange_of(&rma).await, ("placed".to_owned(), Some("X-A-1".to_owned())));
    assert_eq!(exchange_summary(&boutique.orders), ["A-1 became X-A-1 after 6"]);
    assert_eq!(boutique.shop.merchant.looks_at(&rma).await["items"][0]["exchange_order_identifier"], "X-A-1");
}

#[tokio::test]
async fn every_failure_ends_in_the_failure_queue_and_nothing_is_converted_by_itself() {
    let world = World::new().await;
    for (handle, status) in [("shop-a", 400), ("shop-b", 404), ("shop-c", 409), ("shop-d", 410), ("shop-e", 422), ("shop-f", 500)] {
        let boutique = world.boutique(handle).await;
        boutique.orders.mood(Mood::Refusing(status));
        let rma = boutique.exchanges("A-1").await;
        boutique.everything_is_tried().await;
        assert_eq!(exchange_summary(&boutique.orders), ["A-1 became nothing after 6"], "{status}");
        assert_eq!(boutique.exchange_of(&rma).await, ("pending".to_owned(), None), "{status}");
        assert_eq!(boutique.refunds_of(&rma).await, [("EVEN_EXCHANGE".to_owned(), 0)], "{status}");
        assert_eq!(boutique.shop.receives_events().await, ["rma.created"], "{status}");
    }
    assert_eq!(
        world.database.texts("select reason from failure where state = 'open' order by 1").await,
        ["400", "404", "409", "410", "422", "500"]
    );
}

#[tokio::test]
async fn what_is_converted_is_refunded_and_its_message_is_over() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.orders.mood(Mood::Refusing(409));
    let rma = boutique.exchanges("A-1").await;
    boutique.everything_is_tried().await;
    let converted = boutique.converts(&rma, "").await;
    assert_eq!((converted.status.as_u16(), &converted.body["exchange"]["state"]), (200, &json!("converted")), "all attempts were answered");
    assert_eq!(boutique.refunds_of(&rma).await, [("REFUND".to_owned(), 5_400)]);
    assert_eq!(states(&boutique).await, ["discarded: 409"], "no work is left for the operator");
    let received = boutique.shop.receives().await;
    let [_, (event, converted)] = received.as_slice() else { panic!("{received:?}") };
    let item = &converted["items"][0];
    assert_eq!((event.as_str(), &item["is_exchange"], &item["refund_type"]), ("rma.exchange_converted", &json!(false), &json!("REFUND")));
    let shown = boutique.shop.merchant.looks_at(&rma).await;
    assert_eq!((&shown["items"][0]["exchange_sku"], &shown["can_cancel"]), (&json!(null), &json!(true)));
    let again = boutique.is_tried_again(&rma).await;
    assert_eq!(again.status, 409, "{}", again.text);
    assert_eq!(world.owed().await, 0);
    let reply = boutique.shop.merchant.publishes(&message([refunded(sold("A-1", 1), [refund_for(&rma, "F-1", 1)])])).await;
    assert_eq!((reply.status.as_u16(), boutique.shop.receives_events().await), (200, vec!["rma.refunded".to_owned()]));
}

#[tokio::test]
async fn a_refusal_is_not_final_after_an_attempt_that_may_have_placed_the_order() {
    let world = World::new().await;
    for (handle, doubtful) in [
        ("hangs", Mood::PlacingThen(Answer::close())),
        ("errs", Mood::Refusing(500)),
        ("forgets", Mood::Refusing(404)),
        ("moves", Mood::PlacingThen(Answer::redirect("https://example.com/"))),
    ] {
        let boutique = world.boutique(handle).await;
        boutique.shop.merchant.has_policy(&Policy { refusals_are_final: true, ..with_gift_cards() }).await;
        boutique.orders.next([doubtful]);
        boutique.orders.mood(Mood::Refusing(409));
        let rma = boutique.exchanges("A-1").await;
        boutique.everything_is_tried().await;
        assert_eq!(boutique.exchange_of(&rma).await.0, "pending", "{handle}");
        assert_eq!(boutique.refunds_of(&rma).await, [("EVEN_EXCHANGE".to_owned(), 0)]);
        assert_eq!(boutique.shop.receives_events().await, ["rma.created"]);
    }
    assert_eq!(world.database.texts(FAILURES).await, ["open: 409"; 4]);
}

#[tokio::test]
async fn a_call_whose_end_nobody_saw_may_have_placed_the_order() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.orders.mood(Mood::Refusing(409));
    let rma = boutique.exchanges("A-1").await;
    world.deliver_all_due().await;
    // The process was killed during the call, so only the attempt written before it remains.
    let cut_off = "update attempt set status = null, outcome = 'unknown' where message_id in (select message_id from exchange_order)";
    sqlx::raw_sql(cut_off).execute(&mut world.database.connect().await).await.unwrap();
    boutique.shop.merchant.has_policy(&Policy { refusals_are_final: true, ..with_gift_cards() }).await;
    boutique.everything_is_tried().await;
    assert_eq!(boutique.exchange_of(&rma).await.0, "pending");
    assert_eq!(states(&boutique).await, ["open: 409"]);
    for body in ["", "{}", r#"{"confirm": false}"#] {
        let refused = boutique.converts(&rma, body).await;
        assert_eq!(refused.status, 409, "{body}");
        let why = refused.body["message"].as_str().unwrap();
        assert!(why.contains("an attempt has no recorded answer") && why.contains(r#"send {"confirm": true}"#), "{why}");
    }
    assert_eq!(boutique.converts(&rma, r#"{"confirm": "yes"}"#).await.status, 422);
    assert_eq!(states(&boutique).await, ["open: 409"], "nothing has changed");
    assert_eq!(boutique.converts(&rma, r#"{"confirm": true}"#).await.body["exchange"]["state"], "converted");
    assert_eq!(states(&boutique).await, ["discarded: 409"]);
}

#[tokio::test]
async fn people_turn_what_was_given_up_into_refunds_and_that_is_the_end_of_the_order() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.orders.mood(Mood::Refusing(503));
    let rma = boutique.exchanges("A-1").await;
    world.deliver_all_due().await;
    assert!(matches!(boutique.is_converted(&rma).await, Err(ConvertExchangeError::StillOwed)), "no conversion while it is owed");
    boutique.everything_is_tried().await;
    let merchant = boutique.shop.merchant.id;
    let message: uuid::Uuid = world.database.texts("select message_id::text from exchange_order").await[0].parse().unwrap();
    let discarded = work_on_failure(&world.app, "test", merchant, message, FailureAction::Discard).await;
    assert!(matches!(discarded, Err(WorkOnFailureError::ExchangePending)), "its return waits for it");
    assert_eq!(boutique.is_tried_again(&rma).await.status, 202);
    assert!(matches!(boutique.is_converted(&rma).await, Err(ConvertExchangeError::StillOwed)), "it is retried");
    boutique.everything_is_tried().await;
    boutique.is_converted(&rma).await.unwrap();
    assert_eq!(boutique.exchange_of(&rma).await.0, "converted");
    assert_eq!(boutique.refunds_of(&rma).await, [("REFUND".to_owned(), 5_400)]);
    assert_eq!(states(&boutique).await, ["discarded: 503"]);
    assert_eq!(boutique.is_tried_again(&rma).await.status, 409, "the shopper would get both the order and the refund");
    assert!(matches!(boutique.is_converted(&rma).await, Err(ConvertExchangeError::Ended(_))));
    let audit = world.database.texts("select actor || ' ' || action from audit where action like 'exchange%'").await;
    assert_eq!(audit, ["test exchange.converted"]);
    assert_eq!(boutique.shop.receives_events().await, ["rma.created", "rma.exchange_converted"]);
}

#[tokio::test]
async fn only_what_is_exchanged_can_be_turned_into_refunds() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.shop.merchant.sells("A-1", 1).await;
    let plain = boutique.shop.merchant.starts_a_return("A-1", 1).await;
    assert!(matches!(boutique.is_converted(&plain).await, Err(ConvertExchangeError::NoExchange)));
    assert!(matches!(boutique.is_converted("R-0000-0000").await, Err(ConvertExchangeError::NoSuchReturn)));
    let placed = boutique.exchanges("A-2").await;
    world.deliver_all_due().await;
    assert!(matches!(boutique.is_converted(&placed).await, Err(ConvertExchangeError::Ended(_))));
}

#[tokio::test]
async fn a_merchant_may_declare_that_409_410_and_422_mean_that_the_order_cannot_be_placed() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.shop.merchant.has_policy(&Policy { refusals_are_final: true, ..with_gift_cards() }).await;
    for status in [409, 410, 422] {
        boutique.orders.next([Mood::Refusing(status)]);
        let refused = boutique.exchanges(&format!("A-{status}")).await;
        world.deliver_all_due().await;
        assert_eq!(boutique.exchange_of(&refused).await.0, "converted", "{status}");
        assert_eq!((world.owed().await, boutique.asked().len()), (0, 1), "at the first attempt");
        assert_eq!(boutique.shop.receives_events().await, ["rma.created", "rma.exchange_converted"]);
    }
    for status in [400, 401, 403, 404, 408, 423, 429, 500] {
        boutique.orders.next([Mood::Refusing(status)]);
        let refused = boutique.exchanges(&format!("B-{status}")).await;
        world.deliver_all_due().await;
        assert_eq!(boutique.exchange_of(&refused).await.0, "pending", "{status} is none of them");
        world.time_passes(Duration::from_secs(2));
        world.deliver_all_due().await;
        assert_eq!(boutique.exchange_of(&refused).await.0, "placed", "{status}");
    }
    // In the same world: an order that may have been placed is not refunded, whatever the merchant answers later.
    boutique.orders.next([Mood::PlacingThen(Answer::status(500)), Mood::Refusing(409), Mood::Willing]);
    let doubtful = boutique.exchanges("C-1").await;
    boutique.everything_is_tried().await;
    assert_eq!(boutique.exchange_of(&doubtful).await, ("placed".to_owned(), Some("X-C-1".to_owned())));
}

#[tokio::test]
async fn a_merchant_that_declares_it_later_is_held_to_its_earlier_answers_too() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.orders.next([Mood::Refusing(409), Mood::Refusing(422)]);
    let rma = boutique.exchanges("A-1").await;
    world.deliver_all_due().await;
    assert_eq!(boutique.exchange_of(&rma).await.0, "pending", "it is off by default");
    boutique.shop.merchant.has_policy(&Policy { refusals_are_final: true, ..with_gift_cards() }).await;
    world.time_passes(Duration::from_secs(2));
    world.deliver_all_due().await;
    assert_eq!(boutique.exchange_of(&rma).await.0, "converted");
}

#[tokio::test]
async fn a_fee_that_is_deducted_is_shared_by_what_becomes_a_refund() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    let offers = vec![Offer { method: Way::MailBack, fee: Cents::new(500).unwrap(), deducted: true }];
    boutique.shop.merchant.has_policy(&Policy { offers, ..with_gift_cards() }).await;
    boutique.orders.mood(Mood::Refusing(422));
    boutique.shop.merchant.sells("A-1", 2).await;
    let mut wanted = exchange("A-1", 1, "SHOE-43");
    wanted["items"].as_array_mut().unwrap().push(json!({ "order_line_item_identifier": "L1" }));
    let rma = boutique.starts(&wanted).await;
    assert_eq!(boutique.refunds_of(&rma).await, [("EVEN_EXCHANGE".to_owned(), 0), ("REFUND".to_owned(), 4_900)]);
    boutique.everything_is_tried().await;
    boutique.is_converted(&rma).await.unwrap();
    assert_eq!(boutique.refunds_of(&rma).await, [("REFUND".to_owned(), 5_150), ("REFUND".to_owned(), 5_150)]);
}

#[tokio::test]
async fn converting_and_trying_again_at_the_same_time_never_gives_a_shopper_both() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    for at in 0..20 {
        boutique.orders.mood(Mood::Refusing(503));
        let rma = boutique.exchanges(&format!("A-{at}")).await;
        boutique.everything_is_tried().await;
        boutique.orders.mood(Mood::Willing);
        let (converted, retried) = tokio::join!(boutique.is_converted(&rma), boutique.is_tried_again(&rma));
        assert_ne!(converted.is_ok(), retried.status == 202, "exactly one of them succeeds");
        world.deliver_all_due().await;
        let (state, _) = boutique.exchange_of(&rma).await;
        assert_eq!(state, if converted.is_ok() { "converted" } else { "placed" });
    }
    let placed = boutique.orders.placed();
    let exchanged = world.database.texts("select count(*)::text from exchange_order where state = 'placed'").await;
    assert_eq!(exchanged, [placed.to_string()], "as many are exchanged as the merchant has placed");
}

#[tokio::test]
async fn an_exchange_whose_endpoint_is_removed_can_be_converted() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.shop.systems.answer(EXCHANGE_ORDERS, Answer::status(503));
    let rma = boutique.exchanges("A-1").await;
    world.deliver_all_due().await;
    let interface = domain::messages::message::Interface::ExchangeOrder;
    backhaul::flow::messages::configure_endpoint::remove_endpoint(&world.app, "test", boutique.shop.merchant.id, interface).await.unwrap();
    boutique.everything_is_tried().await;
    boutique.is_converted(&rma).await.unwrap();
    assert_eq!(states(&boutique).await, ["discarded: endpoint removed"]);
}
