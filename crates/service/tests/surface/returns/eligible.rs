//! Eligibility: the returnable units, the methods, and the worth of each unit.

use domain::money::Cents;
use domain::returns::rma::Method as Way;
use domain::returns::rma::policy::{Offer, Policy, Tag, TagRule};
use serde_json::{Value, json};

use crate::world::{World, line, mail_back, message, plain_refund, refunded, sold};

/// A line as `returnable of quantity: held reason, …`.
fn summary(line: &Value) -> String {
    let held = line["held"].as_array().unwrap().iter().map(|held| format!("{} {}", held["quantity"], held["reason"].as_str().unwrap()));
    format!("{} of {}: {}", line["returnable"], line["quantity"], held.collect::<Vec<_>>().join(", "))
}

fn free(method: Way) -> Offer {
    Offer { method, fee: Cents::default(), deducted: false }
}

#[tokio::test]
async fn a_shopper_sees_the_order_as_it_is_stored() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let seen = async || {
        let seen = merchant.asks_what_can_come_back("A-1").await;
        let lines: Vec<String> = seen["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|line| format!("{} {}", line["order_line_item_identifier"], summary(line)))
            .collect();
        (seen["order_identifier"].clone(), lines)
    };
    let mut order = sold("A-1", 2);
    merchant.publishes(&message([order.clone()])).await;
    assert_eq!(seen().await, (json!("A-1"), vec![r#""L1" 2 of 2: "#.to_owned()]));
    order["updated_at"] = "2026-03-01T12:00:00Z".into();
    let mut second = order["items"][0].clone();
    second["identifier"] = "L2".into();
    order["items"].as_array_mut().unwrap().push(second);
    merchant.publishes(&message([order.clone()])).await;
    let both = (json!("A-1"), vec![r#""L1" 2 of 2: "#.to_owned(), r#""L2" 2 of 2: "#.to_owned()]);
    assert_eq!(seen().await, both, "the current snapshot, not the previous one");
    order["updated_at"] = "2026-02-01T00:00:00Z".into();
    order["items"] = json!([line("L1", 1)]);
    merchant.publishes(&message([order])).await;
    assert_eq!(seen().await, both, "a stale snapshot is not stored");
}

#[tokio::test]
async fn only_shipped_units_that_are_not_spoken_for_can_come_back() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut order = sold("A-1", 10);
    order["items"][0]["quantity_shipped"] = 7.into();
    order["items"][0]["quantity_canceled"] = 2.into();
    merchant.publishes(&message([order.clone()])).await;
    let cancelled = merchant.starts_a_return("A-1", 3).await;
    merchant.starts_a_return("A-1", 2).await;
    assert_eq!(summary(&merchant.asks_what_can_come_back("A-1").await["items"][0]), "2 of 10: 2 cancelled, 1 not_shipped, 5 in_return");
    assert_eq!(merchant.cancels(&cancelled).await.status, 200);
    merchant.publishes(&message([refunded(order.clone(), [plain_refund("F1", 5)])])).await;
    let items = &merchant.asks_what_can_come_back("A-1").await["items"];
    let expected = "4 of 10: 2 cancelled, 1 not_shipped, 3 refunded";
    assert_eq!(summary(&items[0]), expected, "two are the cancelled ones, two are in the return, one is outside");
    assert_eq!(items[0]["returnable_until"], "2026-03-21T09:00:00Z");
    assert_eq!(items[0]["held"][2]["message"], "The unit has already been refunded.");
    assert_eq!(merchant.starts(&mail_back("A-1", 5)).await.status, 422);
    assert_eq!(merchant.starts(&mail_back("A-1", 4)).await.status, 201);

    let mut cancelled = sold("A-2", 2);
    cancelled["status"] = "Cancelled".into();
    merchant.publishes(&message([cancelled])).await;
    assert_eq!(summary(&merchant.asks_what_can_come_back("A-2").await["items"][0]), "0 of 2: 2 order_cancelled");
    assert_eq!(merchant.starts(&mail_back("A-2", 1)).await.faults(), ["items[0].quantity invalid"]);
    let unknown = merchant.calls(reqwest::Method::GET, "/v1/orders/A-9/returnable", |request| request).await;
    assert_eq!(unknown.status, 404);
}

#[tokio::test]
async fn tags_of_a_line_or_of_the_order_keep_units_back_with_the_reason() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let tags = [(Tag::new("clearance"), TagRule::FinalSale), (Tag::new("third party"), TagRule::Allowed)];
    let mapped = Policy { tags: tags.into_iter().collect(), ..Policy::default() };
    let mut order = sold("A-1", 1);
    let spelled = ["FINAL_SALE", "gift-card", "Pickup In Store", "third_party", "Clearance", "summer"];
    order["items"] = spelled
        .iter()
        .map(|tag| {
            let mut line = line(tag, 1);
            line["tags"] = json!([tag]);
            line["shipped_date"] = "2026-02-19T09:00:00Z".into();
            line
        })
        .collect();
    merchant.publishes(&message([order])).await;
    let all = |body: &Value| body["items"].as_array().unwrap().iter().map(summary).collect::<Vec<_>>();
    let body = merchant.asks_what_can_come_back("A-1").await;
    let known = ["0 of 1: 1 final_sale", "0 of 1: 1 gift_card", "0 of 1: 1 pickup_in_store"];
    assert_eq!(all(&body), [known.as_slice(), &["0 of 1: 1 third_party", "1 of 1: ", "1 of 1: "]].concat());
    assert_eq!(body["items"][0]["held"][0]["message"], "The item is final sale.");
    merchant.has_policy(&mapped).await;
    let body = merchant.asks_what_can_come_back("A-1").await;
    assert_eq!(all(&body), [known.as_slice(), &["1 of 1: ", "0 of 1: 1 final_sale", "1 of 1: "]].concat(), "as the operator mapped them");

    let mut of_the_order = sold("A-2", 2);
    of_the_order["tags"] = json!(["final-sale"]);
    merchant.publishes(&message([of_the_order])).await;
    assert_eq!(summary(&merchant.asks_what_can_come_back("A-2").await["items"][0]), "0 of 2: 2 final_sale");
    let refused = merchant.starts(&mail_back("A-2", 1)).await;
    assert_eq!(refused.body["errors"][0]["message"], "no more units of this line can be returned (2 final_sale)");
}

#[tokio::test]
async fn tags_may_be_numbers_and_booleans_and_anything_else_is_kept_and_ignored() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let tags = [(Tag::new("2024"), TagRule::FinalSale), (Tag::new("true"), TagRule::GiftCard), (Tag::new("1.5"), TagRule::ThirdParty)];
    merchant.has_policy(&Policy { tags: tags.into_iter().collect(), ..Policy::default() }).await;
    let odd = json!([{ "final sale": [1] }, ["final sale"], null, "", -7]);
    let tags = [json!([odd[0], 2024]), json!([true, odd[1]]), json!([odd[2], 1.5]), odd.clone()];
    let mut order = sold("A-1", 1);
    order["tags"] = odd.clone();
    order["items"] = tags
        .iter()
        .zip(["L1", "L2", "L3", "L4"])
        .map(|(tags, identifier)| {
            let mut line = line(identifier, 1);
            line["tags"] = tags.clone();
            line["shipped_date"] = "2026-02-19T09:00:00Z".into();
            line
        })
        .collect();
    merchant.publishes(&message([order])).await;
    let items = &merchant.asks_what_can_come_back("A-1").await["items"];
    let found: Vec<String> = items.as_array().unwrap().iter().map(summary).collect();
    assert_eq!(found, ["0 of 1: 1 final_sale", "0 of 1: 1 gift_card", "0 of 1: 1 third_party", "1 of 1: "]);
    let stored = merchant.looks_up("A-1").await;
    assert_eq!(stored.body["order"]["tags"], odd);
}

#[tokio::test]
async fn an_empty_text_in_an_optional_field_means_that_it_is_left_out() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let empty = |identifier: &str, status: &str, created: &str| {
        let mut order = sold(identifier, 3);
        order["status"] = status.into();
        order["created_at"] = created.into();
        for field in ["shipped_date", "quantity_shipped", "weight", "tags", "discount_amount_cents"] {
            order["items"][0][field] = "".into();
        }
        order["items"][0]["quantity_canceled"] = json!(1);
        order["shipping_address"] = "".into();
        order
    };
    let orders = [
        empty("shipped", "Shipped", "2026-01-30T12:00:00Z"),
        empty("long ago", "Shipped", "2026-01-30T11:59:59Z"),
        empty("created", "Created", "2026-01-30T12:00:00Z"),
    ];
    assert_eq!(merchant.publishes(&message(orders)).await.results(), ["created"; 3]);
    for (identifier, expected) in [
        ("shipped", "2 of 3: 1 cancelled"),
        ("long ago", "0 of 3: 1 cancelled, 2 window_over"),
        ("created", "0 of 3: 1 cancelled, 2 not_shipped"),
    ] {
        assert_eq!(summary(&merchant.asks_what_can_come_back(identifier).await["items"][0]), expected, "{identifier}");
    }
}

#[tokio::test]
async fn the_window_counts_from_the_shipment_or_else_from_the_order() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let at = |identifier: &str, shipped: Value, created: &str| {
        let mut order = sold(identifier, 1);
        order["items"][0]["shipped_date"] = shipped;
        order["created_at"] = created.into();
        order
    };
    // The test begins at noon on the first of March; thirty days before that is noon on the thirtieth of January.
    let orders = [
        at("shipped in time", json!("2026-01-30T12:00:00Z"), "2025-12-01T00:00:00Z"),
        at("shipped too early", json!("2026-01-30T11:59:59Z"), "2026-02-20T00:00:00Z"),
        at("placed in time", Value::Null, "2026-01-30T12:00:00Z"),
        at("placed too early", Value::Null, "2026-01-30T11:59:59Z"),
    ];
    merchant.publishes(&message(orders.clone())).await;
    for order in &orders {
        let identifier = order["identifier"].as_str().unwrap();
        let line = &merchant.asks_what_can_come_back(identifier).await["items"][0];
        let late = identifier.ends_with("too early");
        assert_eq!(summary(line), if late { "0 of 1: 1 window_over" } else { "1 of 1: " }, "{identifier}");
        assert_eq!(merchant.starts(&mail_back(identifier, 1)).await.status, if late { 422 } else { 201 }, "{identifier}");
    }
    merchant.has_policy(&Policy { window_days: 31, ..Policy::default() }).await;
    let line = &merchant.asks_what_can_come_back("shipped too early").await["items"][0];
    assert_eq!((summary(line).as_str(), &line["returnable_until"]), ("1 of 1: ", &json!("2026-03-02T11:59:59Z")));
}

#[tokio::test]
async fn express_returns_is_offered_when_all_is_known_to_be_light_enough() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let weighing = |identifier: &str, weights: [Value; 2]| {
        let mut order = sold(identifier, 2);
        order["items"] = json!([line("L1", 2), line("L2", 1)]);
        for (at, weight) in weights.into_iter().enumerate() {
            order["items"][at]["weight"] = weight;
            order["items"][at]["shipped_date"] = "2026-02-19T09:00:00Z".into();
        }
        order
    };
    // The default limit is twenty pounds.
    let orders = [("light", [json!(9), json!(2)]), ("heavy", [json!(9), json!(2.001)]), ("unknown", [json!(1), Value::Null])];
    merchant.publishes(&message(orders.map(|(identifier, weights)| weighing(identifier, weights)))).await;
    let by_express = |identifier: &str, lines: &[&str]| {
        let items = lines.iter().map(|line| json!({ "order_line_item_identifier": line, "quantity": if *line == "L1" { 2 } else { 1 } }));
        json!({ "order_identifier": identifier, "return_method": "express-returns", "items": items.collect::<Vec<_>>() })
    };
    for (identifier, ways) in [("light", 2), ("heavy", 1), ("unknown", 1)] {
        let offered = &merchant.asks_what_can_come_back(identifier).await["return_methods"];
        assert_eq!(offered.as_array().unwrap().len(), ways, "{identifier}: {offered}");
    }
    for identifier in ["heavy", "unknown"] {
        assert_eq!(merchant.starts(&by_express(identifier, &["L1", "L2"])).await.faults(), ["return_method invalid"]);
    }
    for (identifier, lines) in [("light", ["L1", "L2"].as_slice()), ("heavy", &["L1"]), ("unknown", &["L1"])] {
        let reply = merchant.starts(&by_express(identifier, lines)).await;
        assert_eq!((reply.status.as_u16(), &reply.body["return_method"]), (201, &json!("express-returns")), "{identifier}");
    }
}

#[tokio::test]
async fn nothing_travels_when_the_shopper_keeps_the_goods() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let policy = Policy { offers: vec![free(Way::CustomerKeep)], managed_receiving: true, ..Policy::default() };
    shop.merchant.has_policy(&policy).await;
    shop.merchant.sells("A-1", 1).await;
    assert_eq!(shop.merchant.starts(&mail_back("A-1", 1)).await.faults(), ["return_method invalid"]);
    let mut wanted = mail_back("A-1", 1);
    wanted["return_method"] = "customer-keep".into();
    let started = shop.merchant.starts(&wanted).await;
    let rma = started.body["rma_identifier"].as_str().unwrap();
    assert!(started.body["expires_at"].is_null(), "nothing has to be sent back");
    for event in ["label_issued", "dropped_off", "in_transit", "delivered", "failed"] {
        let report = json!({ "event": event, "rma_identifier": rma, "tracking_number": "T-1", "occurred_at": "2026-03-01T12:00:00Z" });
        assert_eq!(shop.merchant.carrier_reports(&report).await.status, 409, "{event}");
    }
    shop.merchant.publishes(&message([refunded(sold("A-1", 1), [plain_refund("F1", 1)])])).await;
    let received = shop.receives().await;
    assert_eq!(received.iter().map(|(event, _)| event.as_str()).collect::<Vec<_>>(), ["rma.created", "rma.refunded"]);
    for (_, body) in received {
        let item = &body["items"][0];
        assert!(["tracking_number", "package_tracking_status", "receiving_status"].iter().all(|name| item[name].is_null()), "{item}");
        assert_eq!(body["return_method"], "customer-keep");
    }
}

#[tokio::test]
async fn the_units_of_a_line_sum_to_the_line_to_the_cent() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let mut order = sold("A-1", 7);
    for (name, cents) in [("product_amount_cents", 9_999), ("discount_amount_cents", 1_001), ("tax_amount_cents", 803)] {
        order["items"][0][name] = cents.into();
    }
    shop.merchant.publishes(&message([order])).await;
    for units in [2, 1, 4] {
        shop.merchant.starts_a_return("A-1", units).await;
    }
    let received = shop.receives().await;
    let items: Vec<&Value> = received.iter().flat_map(|(_, body)| body["items"].as_array().unwrap()).collect();
    let sum = |name: &str| items.iter().map(|item| item["refund_financials"][name].as_i64().unwrap()).sum::<i64>();
    assert_eq!(items.len(), 7);
    assert_eq!(sum("estimated_refund_amount_cents"), 9_999 - 1_001 + 803);
    assert_eq!((sum("shopper_refund_amount_cents"), sum("service_refund_amount_cents")), (9_999 - 1_001 + 803, 0));
}

#[tokio::test]
async fn a_fee_is_told_and_taken_off_only_when_it_is_deducted() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let fee = |method, cents, deducted| Offer { method, fee: Cents::new(cents).unwrap(), deducted };
    let offers = vec![fee(Way::MailBack, 700, true), fee(Way::ExpressReturns, 500, false)];
    shop.merchant.has_policy(&Policy { offers, ..Policy::default() }).await;
    shop.merchant.sells("A-1", 6).await;
    let offered = &shop.merchant.asks_what_can_come_back("A-1").await["return_methods"];
    let expected = json!([
        { "return_method": "mail-back", "return_shipping_cost_cents": 700, "deducted": true },
        { "return_method": "express-returns", "return_shipping_cost_cents": 500, "deducted": false },
    ]);
    assert_eq!(offered, &expected);
    shop.merchant.starts_a_return("A-1", 3).await;
    let mut by_express = mail_back("A-1", 3);
    by_express["return_method"] = "express-returns".into();
    shop.merchant.starts(&by_express).await;
    let shares = |body: &Value| {
        let shopper = |item: &Value| item["refund_financials"]["shopper_refund_amount_cents"].as_i64().unwrap();
        body["items"].as_array().unwrap().iter().map(shopper).collect::<Vec<_>>()
    };
    let received = shop.receives().await;
    let costs = received.iter().map(|(_, body)| (body["return_shipping_cost_cents"].as_i64().unwrap(), shares(body)));
    let expected = [(700, vec![5_400 - 234, 5_400 - 233, 5_400 - 233]), (500, vec![5_400; 3])];
    let costs: Vec<_> = costs.collect();
    assert!(expected.iter().all(|cost| costs.contains(cost)) && costs.len() == 2, "{costs:?}");
}
