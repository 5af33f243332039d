//! A shopper chooses an exchange: the merchant places an order for it, and the return names that order.

use backhaul::flow::messages::configure_endpoint::remove_endpoint;
use domain::messages::message::Interface;
use reqwest::Method;
use sandbox::merchant::{Answer, Mood};
use serde_json::{Value, json};

use crate::world::{World, and_socks, exchange, exchange_summary, for_a_gift_card, mail_back, message, refund_for, refunded, sold};

/// Every fault as `field: message`.
fn faults(body: &Value) -> Vec<String> {
    let faults = body["errors"].as_array().unwrap_or_else(|| panic!("{body}"));
    faults.iter().map(|fault| format!("{}: {}", fault["field"].as_str().unwrap(), fault["message"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn an_exchange_order_is_placed_and_its_identifier_is_on_the_return() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    let rma = boutique.exchanges("A-1").await;
    assert_eq!(boutique.exchange_of(&rma).await, ("pending".to_owned(), None));
    let listed = async || boutique.shop.merchant.calls(Method::GET, "/v1/returns", |request| request).await.body["items"][0].clone();
    let pending = listed().await;
    assert_eq!((&pending["exchange"], &pending["status"]), (&json!("pending"), &json!("CREATED")));
    let received = boutique.shop.receives().await;
    let [(_, created), (event, placed)] = received.as_slice() else { panic!("{received:?}") };
    assert_eq!(event, "rma.exchange_placed");
    for (body, identifier) in [(created, json!(null)), (placed, json!("X-A-1"))] {
        let item = &body["items"][0];
        assert_eq!((&item["exchange_order_identifier"], &item["is_exchange"]), (&identifier, &json!(true)));
        assert_eq!((&item["refund_type"], &body["status"]), (&json!("EVEN_EXCHANGE"), &json!("CREATED")));
        let money = json!({
            "estimated_refund_amount_cents": 5_400, "service_refund_amount_cents": 5_400, "shopper_refund_amount_cents": 0,
        });
        assert_eq!(item["refund_financials"], money);
    }
    assert_eq!(listed().await["exchange"], "placed");
    let shown = boutique.shop.merchant.looks_at(&rma).await;
    let exchange = &shown["exchange"];
    assert_eq!((&exchange["state"], &exchange["exchange_order_identifier"]), (&json!("placed"), &json!("X-A-1")));
    let amounts = ["product_amount_cents", "tax_amount_cents", "total_amount_cents"].map(|name| exchange[name].as_i64());
    assert_eq!(amounts, [Some(5_000), Some(400), Some(5_400)], "the merchant's amounts are stored");
    assert_eq!((&shown["items"][0]["exchange_sku"], &shown["can_cancel"]), (&json!("SHOE-43"), &json!(false)));
    assert_eq!(exchange_summary(&boutique.orders), ["A-1 became X-A-1 after 1"]);
}

#[tokio::test]
async fn an_exchange_order_says_what_it_is_in_its_headers() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.exchanges("A-1").await;
    world.deliver_all_due().await;
    let [asked] = &boutique.asked()[..] else { panic!("it is asked once") };
    let headers = ["x-service-api-version", "x-service-event", "x-service-sequence", "x-service-attempt"].map(|name| asked.header(name));
    assert_eq!(headers, [Some("2"), Some("exchange_order.requested"), Some("1"), Some("1")]);
    assert_eq!((asked.method().as_str(), asked.path()), ("POST", "/exchange_orders"));
    assert_eq!(asked.json()["payment"]["transaction_id"].as_str(), asked.message_id());
}

#[tokio::test]
async fn what_goes_for_a_gift_card_is_an_uneven_exchange() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.shop.merchant.sells("A-1", 2).await;
    let rma = boutique.starts(&for_a_gift_card("A-1", 1)).await;
    let received = boutique.shop.receives().await;
    let (event, placed) = received.last().unwrap();
    let item = &placed["items"][0];
    assert_eq!(
        (event.as_str(), &item["refund_type"], &item["is_exchange"]),
        ("rma.exchange_placed", &json!("UNEVEN_EXCHANGE"), &json!(true))
    );
    assert_eq!(item["refund_financials"]["service_refund_amount_cents"], 5_400);
    let exchange = &boutique.shop.merchant.looks_at(&rma).await["exchange"];
    assert_eq!((&exchange["gift_card_amount_cents"], &exchange["bonus_credit_amount_cents"]), (&json!(5_400), &json!(500)));
}

#[tokio::test]
async fn an_order_is_exchanged_once_and_no_second_exchange_is_offered() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    let merchant = &boutique.shop.merchant;
    merchant.sells("A-1", 3).await;
    let offered = merchant.asks_what_can_come_back("A-1").await;
    assert_eq!((&offered["exchange_reasons"], &offered["items"][0]["exchangeable"]), (&json!(["TOO_SMALL", "TOO_LARGE"]), &json!(true)));
    assert_eq!(offered["gift_card"], json!({ "bonus_credit_amount_cents": 500 }));
    boutique.starts(&exchange("A-1", 1, "SHOE-43")).await;
    world.deliver_all_due().await;
    let once =
        "is not available: the order has already been exchanged, and an order can be exchanged only once. Leave it out to get a refund";
    for wanted in [exchange("A-1", 1, "SHOE-43"), for_a_gift_card("A-1", 1)] {
        let reply = merchant.starts(&wanted).await;
        assert_eq!((reply.status.as_u16(), faults(&reply.body)), (422, vec![format!("items[0].exchange_sku: {once}")]));
    }
    let offered = merchant.asks_what_can_come_back("A-1").await;
    assert_eq!((&offered["exchange_reasons"], &offered["gift_card"]), (&json!([]), &json!(null)));
    let options = merchant.calls(Method::GET, "/v1/orders/A-1/lines/L1/exchange_options?reason=TOO_SMALL", |request| request).await;
    assert_eq!(options.body["not_offered"], "already_exchanged");
    merchant.starts_a_return("A-1", 1).await;
    assert_eq!(exchange_summary(&boutique.orders), ["A-1 became X-A-1 after 1"]);
}

#[tokio::test]
async fn without_somebody_who_places_orders_nothing_can_be_exchanged() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    let merchant = &boutique.shop.merchant;
    remove_endpoint(&world.app, "test", merchant.id, Interface::ExchangeOrder).await.unwrap();
    merchant.sells("A-1", 1).await;
    let reply = merchant.starts(&for_a_gift_card("A-1", 1)).await;
    let none = "items[0].exchange_sku: is not available: the merchant takes no exchange orders. Leave it out to get a refund";
    assert_eq!((reply.status.as_u16(), faults(&reply.body)), (422, vec![none.to_owned()]));
    assert_eq!(merchant.asks_what_can_come_back("A-1").await["gift_card"], json!(null));
    merchant.starts_a_return("A-1", 1).await;
}

#[tokio::test]
async fn what_cannot_be_had_is_refused_with_what_can() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    let merchant = &boutique.shop.merchant;
    merchant.publishes(&message([and_socks(sold("A-1", 1), 1)])).await;
    let both = json!({ "order_line_item_identifier": "L1", "return_reason": "TOO_SMALL", "exchange_sku": "SHOE-43", "gift_card": true });
    let socks = json!({ "order_line_item_identifier": "L2", "return_reason": "TOO_SMALL", "exchange_sku": "SOCK-2" });
    let unfit = json!({ "order_line_item_identifier": "L1", "return_reason": "DAMAGED", "exchange_sku": "SHOE-43" });
    for (item, fault) in [
        (both, "items[0].gift_card: must not be true together with exchange_sku; choose a variant or a gift card"),
        (socks, "items[0].exchange_sku: is not available: the line has no variants to exchange it for"),
        (unfit, "items[0].return_reason: must be one of TOO_SMALL, TOO_LARGE for an exchange"),
        (exchange("A-1", 1, "SHOE-99")["items"][0].clone(), "items[0].exchange_sku: must be one of SHOE-41, SHOE-43"),
    ] {
        let reply = merchant.starts(&json!({ "order_identifier": "A-1", "return_method": "mail-back", "items": [item] })).await;
        assert_eq!((reply.status.as_u16(), faults(&reply.body)), (422, vec![fault.to_owned()]));
    }
    assert_eq!(world.database.count("rma").await, 0);
}

#[tokio::test]
async fn a_shopper_whose_variants_are_not_known_can_still_have_the_money_or_a_gift_card() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    let merchant = &boutique.shop.merchant;
    merchant.sells("A-1", 2).await;
    boutique.shop.systems.answer("/sku", Answer::status(500));
    let reply = merchant.starts(&exchange("A-1", 1, "SHOE-43")).await;
    assert_eq!(reply.status, 502, "{}", reply.text);
    boutique.starts(&mail_back("A-1", 1)).await;
    boutique.starts(&for_a_gift_card("A-1", 1)).await;
}

#[tokio::test]
async fn the_same_confirmation_again_is_answered_alike_and_asks_nobody() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    let merchant = &boutique.shop.merchant;
    merchant.sells("A-1", 1).await;
    let wanted = exchange("A-1", 1, "SHOE-43");
    let confirm =
        async || merchant.calls(Method::POST, "/v1/returns", |request| request.header("Idempotency-Key", "k1").json(&wanted)).await;
    let first = confirm().await;
    boutique.shop.systems.answer("/sku", Answer::status(500));
    world.time_passes(std::time::Duration::from_mins(2));
    let again = confirm().await;
    assert_eq!((first.status.as_u16(), again.status.as_u16(), first.body == again.body), (201, 200, true));
    world.deliver_all_due().await;
    assert_eq!(exchange_summary(&boutique.orders), ["A-1 became X-A-1 after 1"]);
}

#[tokio::test]
async fn a_return_of_an_exchange_order_names_the_order_that_it_was_made_for() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    let merchant = &boutique.shop.merchant;
    boutique.exchanges("A-1").await;
    boutique.shop.receives().await;
    merchant.sells("X-A-1", 1).await;
    boutique.starts(&exchange("X-A-1", 1, "SHOE-41")).await;
    let received = boutique.shop.receives().await;
    let (_, placed) = received.last().unwrap();
    let names = ["order_identifier", "original_order_identifier", "exchange_order_identifier"].map(|name| placed["items"][0][name].clone());
    assert_eq!(names, [json!("X-A-1"), json!("A-1"), json!("X-X-A-1")]);
}

#[tokio::test]
async fn a_return_is_refunded_when_its_refund_and_its_exchange_are_both_there_whichever_comes_first() {
    for (order, placed_first) in [("A-1", true), ("A-2", false)] {
        // A world of its own, so that nothing is delivered before the test looks.
        let world = World::new().await;
        let boutique = world.boutique("acme").await;
        let merchant = &boutique.shop.merchant;
        merchant.publishes(&message([and_socks(sold(order, 1), 1)])).await;
        let mut wanted = exchange(order, 1, "SHOE-43");
        wanted["items"].as_array_mut().unwrap().push(json!({ "order_line_item_identifier": "L2" }));
        let rma = boutique.starts(&wanted).await;
        let mut refund = refund_for(&rma, &format!("F-{order}"), 1);
        refund["refund_line_items"][0]["order_item_identifier"] = "L2".into();
        let settled = message([refunded(and_socks(sold(order, 1), 1), [refund])]);
        if placed_first {
            assert_eq!(boutique.shop.receives_events().await, ["rma.created", "rma.exchange_placed"]);
            merchant.publishes(&settled).await;
            assert_eq!(boutique.shop.receives_events().await, ["rma.refunded"]);
        } else {
            merchant.publishes(&settled).await;
            assert_eq!(boutique.shop.receives_events().await, ["rma.created", "rma.refund_recorded", "rma.refunded"]);
        }
        assert_eq!(merchant.looks_at(&rma).await["status"], "REFUNDED");
    }
}

#[tokio::test]
async fn a_refund_of_an_exchanged_unit_is_the_merchant_settling_with_the_service() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    let merchant = &boutique.shop.merchant;
    merchant.sells("A-1", 2).await;
    let mut wanted = exchange("A-1", 1, "SHOE-43");
    wanted["items"].as_array_mut().unwrap().push(json!({ "order_line_item_identifier": "L1" }));
    let rma = boutique.starts(&wanted).await;
    world.deliver_all_due().await;
    merchant.publishes(&message([refunded(sold("A-1", 2), [refund_for(&rma, "F-1", 1)])])).await;
    let types = || [("EVEN_EXCHANGE".to_owned(), 0), ("REFUND".to_owned(), 5_400)];
    assert_eq!(boutique.refunds_of(&rma).await, types());
    assert_eq!(merchant.looks_at(&rma).await["status"], "REFUNDED", "the shopper's refund comes before the service's");
    boutique.shop.receives().await;
    let mut both = refunded(sold("A-1", 2), [refund_for(&rma, "F-1", 1), refund_for(&rma, "F-2", 1)]);
    both["updated_at"] = "2026-03-01T13:00:00Z".into();
    let reply = merchant.publishes(&message([both])).await;
    assert_eq!((reply.status.as_u16(), &reply.body["warnings"]), (200, &json!([])), "naming a settled return is correct here");
    assert_eq!(boutique.shop.receives_events().await, ["rma.refund_recorded"]);
    assert_eq!(boutique.refunds_of(&rma).await, types(), "the shopper's amount stays 0");
    let held = merchant.asks_what_can_come_back("A-1").await["items"][0]["held"].clone();
    assert_eq!(held[0]["quantity"], 2, "both units are refunded, and none counts twice: {held}");
}

#[tokio::test]
async fn a_merchant_that_answers_twice_differently_is_held_to_its_first_answer() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.orders.mood(Mood::Fickle);
    let rma = boutique.exchanges("A-1").await;
    world.deliver_all_due().await;
    assert_eq!(boutique.is_tried_again(&rma).await.status, 202);
    assert_eq!(boutique.shop.receives_events().await, ["rma.created", "rma.exchange_placed"], "the second time nothing happens");
    assert_eq!(boutique.asked().len(), 0, "cleared by the line above");
    assert_eq!(boutique.exchange_of(&rma).await, ("placed".to_owned(), Some("X-A-1-1".to_owned())));
    assert_eq!(exchange_summary(&boutique.orders), ["A-1 became X-A-1 after 2"]);
}

#[tokio::test]
async fn a_return_whose_exchange_is_owed_or_placed_cannot_be_cancelled() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    let rma = boutique.exchanges("A-1").await;
    for held in ["an exchange is being placed", "an exchange has been placed"] {
        let reply = boutique.shop.merchant.calls(Method::POST, &format!("/v1/returns/{rma}/cancel"), |request| request).await;
        let shown = boutique.shop.merchant.looks_at(&rma).await;
        assert_eq!((reply.status.as_u16(), &shown["expires_at"], &shown["status"]), (409, &json!(null), &json!("CREATED")));
        assert!(reply.body["message"].as_str().unwrap().contains(held), "{}", reply.text);
        world.deliver_all_due().await;
    }
}

#[tokio::test]
async fn what_was_a_gift_takes_no_gift_card_and_may_be_exchanged() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    let mut gift = sold("A-1", 1);
    gift["tags"] = json!(["gift"]);
    boutique.shop.merchant.publishes(&message([gift])).await;
    let by_giftee = |mut wanted: Value| {
        wanted["giftee_email"] = "kim@example.com".into();
        wanted
    };
    let reply = boutique.shop.merchant.starts(&by_giftee(for_a_gift_card("A-1", 1))).await;
    let anyway = "items[0].gift_card: is not needed: a gift is always refunded to a gift card. Leave it out";
    assert_eq!((reply.status.as_u16(), faults(&reply.body)), (422, vec![anyway.to_owned()]));
    boutique.starts(&by_giftee(exchange("A-1", 1, "SHOE-43"))).await;
}
