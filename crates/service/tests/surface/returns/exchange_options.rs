//! Exchange options for shoppers: the service asks the merchant while the shopper waits.

use std::time::Duration;

use backhaul::flow::messages::configure_endpoint::{EndpointChange, pause_endpoint, remove_endpoint, resume_endpoint};
use domain::messages::message::Interface;
use domain::returns::rma::policy::Policy;
use sandbox::merchant::{Answer, OnShelf};
use serde_json::json;

use crate::world::{World, exchange};

#[tokio::test]
async fn the_merchant_is_asked_for_the_variant_identifier_of_the_line() {
    let world = World::new().await;
    let shop = world.catalogue("acme").await;
    assert_eq!(shop.offers_for("A-1").await.skus(), ["SHOE-41", "SHOE-43"]);
    let [asked] = &shop.asked()[..] else { panic!("it is asked once") };
    assert_eq!((asked.method().as_str(), asked.path(), asked.query()), ("GET", "/sku/V-SHOE/variants", None));
    assert_eq!((asked.header("accept"), asked.header("x-service-api-version")), (Some("application/json"), Some("1")));
    assert!(asked.body().is_empty() && asked.header("webhook-signature").is_none(), "nothing is sent or signed");
}

#[tokio::test]
async fn a_shopper_sees_all_that_the_merchant_says_of_a_variant() {
    let world = World::new().await;
    let shop = world.catalogue("acme").await;
    let full = json!({
        "sku": "SHOE-43",
        "title": "Running shoe",
        "attributes": [{ "name": "size", "value": "43" }, { "name": "colour", "value": "blue" }],
        "unit_price_amount_cents": 5_000,
        "quantity_in_stock": 3,
        "available": true,
        "image_url": "https://shop.example.com/43.png",
        "product_url": "https://shop.example.com/43",
    });
    let bare = json!({ "sku": "SHOE-44", "unit_price_amount_cents": 5_000, "quantity_in_stock": 1 });
    let mut known_to_nobody = full.clone();
    known_to_nobody["warehouse"] = "B".into();
    shop.systems.answer("/sku", Answer::ok().json(&json!([known_to_nobody, bare])));
    let mut bare_shown = bare.clone();
    for (field, value) in [
        ("title", json!(null)),
        ("attributes", json!([])),
        ("available", json!(true)),
        ("image_url", json!(null)),
        ("product_url", json!(null)),
    ] {
        bare_shown[field] = value;
    }
    let expected = json!({
        "order_identifier": "A-1",
        "order_line_item_identifier": "L1",
        "variants": [full, bare_shown],
        "not_offered": null,
    });
    assert_eq!(shop.offers_for("A-1").await.body, expected);
}

#[tokio::test]
async fn a_bare_list_and_an_object_that_holds_it_are_read_alike() {
    let world = World::new().await;
    let [bare, wrapped] = [world.catalogue("bare").await, world.catalogue("wrapped").await];
    wrapped.systems.wraps_variants(true);
    let [bare, wrapped] = [bare.offers_for("A-1").await, wrapped.offers_for("A-1").await];
    assert_eq!(bare.skus().len(), 2);
    assert_eq!(bare.body, wrapped.body);
}

#[tokio::test]
async fn what_is_out_of_stock_is_listed_as_not_available_and_cannot_be_chosen() {
    let world = World::new().await;
    let shop = world.catalogue("acme").await;
    let sized = |size: &str| OnShelf::new(&format!("SHOE-{size}"), size, 5_000);
    shop.systems.has_variants("V-SHOE", [sized("41").stock(0), sized("43").stock(1), sized("44").stock(-1)]);
    let listed = shop.offers_for("A-1").await;
    assert_eq!(listed.skus(), ["SHOE-41", "SHOE-43", "SHOE-44"]);
    let available: Vec<bool> =
        listed.body["variants"].as_array().unwrap().iter().map(|each| each["available"].as_bool().unwrap()).collect();
    assert_eq!(available, [false, true, false]);
    for (sku, status) in [("SHOE-41", 422), ("SHOE-44", 422), ("SHOE-43", 201)] {
        let reply = shop.merchant.starts(&exchange("A-1", 1, sku)).await;
        assert_eq!(reply.status, status, "{sku}: {}", reply.text);
    }
}

#[tokio::test]
async fn the_variant_that_the_shopper_has_is_not_offered() {
    let world = World::new().await;
    let shop = world.catalogue("acme").await;
    let sized = |size: &str| OnShelf::new(&format!("SHOE-{size}"), size, 5_000);
    shop.systems.has_variants("V-SHOE", [sized("41"), sized("42"), sized("43")]);
    assert_eq!(shop.offers_for("A-1").await.skus(), ["SHOE-41", "SHOE-43"]);
    assert_eq!(shop.merchant.starts(&exchange("A-1", 1, "SHOE-42")).await.status, 422);
}

#[tokio::test]
async fn a_variant_that_cannot_be_read_is_skipped_and_counted_and_the_others_are_offered() {
    let world = World::new().await;
    let shop = world.catalogue("acme").await;
    let fine = json!({ "sku": "SHOE-43", "unit_price_amount_cents": 5_000, "quantity_in_stock": 3 });
    let priceless = json!({ "sku": "SHOE-41", "quantity_in_stock": 3 });
    shop.systems.answer("/sku", Answer::ok().json(&json!([priceless, fine, null, { "sku": 7 }])));
    assert_eq!(shop.offers_for("A-1").await.skus(), ["SHOE-43"]);
    assert_eq!(world.metric("backhaul_variants_skipped_total").await, 3);
    assert_eq!(shop.offers_for("A-1").await.skus(), ["SHOE-43"]);
    assert_eq!(world.metric("backhaul_variants_skipped_total").await, 3, "a cached answer is not counted again");
}

#[tokio::test]
async fn an_answer_may_have_a_thousand_variants_and_4_mib() {
    // A busy machine may take longer than a shopper waits.
    let world = World::with(&[("BACKHAUL__OUTBOUND__VARIANTS_TIMEOUT_MS", "60000")]).await;
    let shop = world.catalogue("acme").await;
    let variant = |size: usize| {
        let title = "x".repeat(4_000);
        json!({ "sku": format!("S-{size}"), "title": title, "unit_price_amount_cents": 5_000, "quantity_in_stock": 1 })
    };
    let of = |count: usize| json!((0..count).map(variant).collect::<Vec<_>>()).to_string();
    let (most, beyond) = (of(1_000), of(1_001));
    let padded = |bytes: usize| format!("{most}{}", " ".repeat(bytes - most.len()));
    assert!(most.len() > 4_000_000 && beyond.len() < 4 * 1024 * 1024);
    for (what, body, offered) in [
        ("1,000 variants", most.clone(), Some(1_000)),
        ("4 MiB", padded(4 * 1024 * 1024), Some(1_000)),
        ("1,001 variants", beyond, None),
        ("more than 4 MiB", padded(4 * 1024 * 1024 + 1), None),
    ] {
        // Saving the endpoint clears its cache and its earlier failures.
        shop.is_set(EndpointChange::default()).await;
        shop.systems.answer("/sku", Answer::ok().body(body));
        let reply = shop.offers_for("A-1").await;
        match offered {
            Some(count) => assert_eq!(reply.skus().len(), count, "{what}"),
            None => assert_eq!(reply.status, 502, "{what}"),
        }
    }
}

#[tokio::test]
async fn what_costs_something_else_is_not_offered() {
    let world = World::new().await;
    let shop = world.catalogue("acme").await;
    let priced = |sku: &str, cents| OnShelf::new(sku, "43", cents);
    shop.systems.has_variants("V-SHOE", [priced("cheaper", 4_999), priced("even", 5_000), priced("dearer", 5_001)]);
    assert_eq!(shop.offers_for("A-1").await.skus(), ["even"]);
}

#[tokio::test]
async fn an_identifier_is_one_step_of_the_path_whatever_is_in_it() {
    let world = World::new().await;
    let shop = world.catalogue("acme").await;
    for (order, identifier, path) in [
        ("B-1", "shoes/running 100%", "/sku/shoes%2Frunning%20100%25/variants"),
        ("B-2", "../../admin", "/sku/..%2F..%2Fadmin/variants"),
        ("B-3", "größe?x#y", "/sku/gr%C3%B6%C3%9Fe%3Fx%23y/variants"),
    ] {
        shop.sells_with(order, Some(identifier)).await;
        shop.systems.has_variants(identifier, [OnShelf::new(order, "43", 5_000)]);
        assert_eq!(shop.offers_for(order).await.skus(), [order], "{identifier}");
        assert_eq!(shop.asked().last().unwrap().path(), path);
    }
    let before = shop.asked().len();
    for (order, identifier) in [("B-4", "."), ("B-5", "..")] {
        shop.sells_with(order, Some(identifier)).await;
        let reply = shop.offers_for(order).await;
        assert_eq!(
            (reply.skus().len(), &reply.body["not_offered"]),
            (0, &json!("no_variant_identifier")),
            "such an identifier would lead to another URL"
        );
    }
    assert_eq!(shop.asked().len(), before);
}

#[tokio::test]
async fn the_merchant_is_asked_only_for_a_line_with_variants_and_a_reason_for_an_exchange() {
    let world = World::new().await;
    let shop = world.catalogue("acme").await;
    let reasons = ["TOO_SMALL", "TOO_BIG", "TORN"].map(ToOwned::to_owned).to_vec();
    let policy = Policy { reasons, exchange_reasons: vec!["TOO_BIG".to_owned()], ..Policy::default() };
    shop.merchant.has_policy(&policy).await;
    shop.sells_with("A-2", None).await;
    for (order, reason, why) in [
        ("A-1", "TORN", "reason_does_not_trigger"),
        ("A-1", "TOO_SMALL", "reason_does_not_trigger"),
        ("A-1", "NOT_GIVEN", "reason_does_not_trigger"),
        ("A-1", "no%20reason%20of%20theirs", "reason_does_not_trigger"),
        ("A-2", "TOO_BIG", "no_variant_identifier"),
    ] {
        let reply = shop.offers(&format!("/v1/orders/{order}/lines/L1/exchange_options?reason={reason}")).await;
        let expected = json!({
            "order_identifier": order, "order_line_item_identifier": "L1", "variants": [], "not_offered": why,
        });
        assert_eq!((reply.status.as_u16(), &reply.body), (200, &expected), "{order} {reason}");
    }
    assert_eq!(shop.asked().len(), 0);
    let reply = shop.offers("/v1/orders/A-1/lines/L1/exchange_options?reason=TOO_BIG").await;
    assert_eq!((reply.skus().len(), &reply.body["not_offered"]), (2, &json!(null)));
    assert_eq!(shop.asked().len(), 1);
}

#[tokio::test]
async fn a_merchant_without_an_endpoint_for_variants_offers_no_exchange() {
    let world = World::new().await;
    let merchant = world.merchant("none").await;
    merchant.sells("A-1", 1).await;
    let path = "/v1/orders/A-1/lines/L1/exchange_options?reason=TOO_SMALL";
    let reply = merchant.calls(reqwest::Method::GET, path, |request| request).await;
    assert_eq!((reply.status.as_u16(), &reply.body["not_offered"]), (200, &json!("no_endpoint")));

    let (shop, interface) = (world.catalogue("acme").await, Interface::ExchangeVariants);
    assert_eq!(shop.offers_for("A-1").await.skus().len(), 2);
    pause_endpoint(&world.app, "test", shop.merchant.id, interface).await.unwrap();
    assert_eq!(shop.offers_for("A-1").await.body["not_offered"], "no_endpoint", "not even a cached answer is shown");
    resume_endpoint(&world.app, "test", shop.merchant.id, interface).await.unwrap();
    assert_eq!(shop.offers_for("A-1").await.skus().len(), 2);
    remove_endpoint(&world.app, "test", shop.merchant.id, interface).await.unwrap();
    assert_eq!(shop.offers_for("A-1").await.body["not_offered"], "no_endpoint");
}

#[tokio::test]
async fn an_order_or_a_line_that_is_unknown_is_not_found() {
    let world = World::new().await;
    let shop = world.catalogue("acme").await;
    for path in ["A-2/lines/L1", "A-1/lines/L2", "A-1/lines/%00", "%00/lines/L1"] {
        assert_eq!(shop.offers(&format!("/v1/orders/{path}/exchange_options?reason=TOO_SMALL")).await.status, 404, "{path}");
    }
    let reply = shop.offers("/v1/orders/A-1/lines/L1/exchange_options").await;
    assert_eq!((reply.status.as_u16(), reply.body["message"].as_str().unwrap().contains("reason")), (400, true));
    assert_eq!(shop.asked().len(), 0);
}

#[tokio::test]
async fn an_answer_is_relied_on_for_a_minute() {
    let world = World::new().await;
    let [shop, other] = [world.catalogue("acme").await, world.catalogue("other").await];
    assert_eq!(shop.offers_for("A-1").await.skus().len(), 2);
    shop.systems.has_variants("V-SHOE", [OnShelf::new("SHOE-45", "45", 5_000)]);
    world.time_passes(Duration::from_millis(59_999));
    assert_eq!(shop.offers_for("A-1").await.skus(), ["SHOE-41", "SHOE-43"]);
    assert_eq!(shop.asked().len(), 1);
    world.time_passes(Duration::from_millis(1));
    assert_eq!(shop.offers_for("A-1").await.skus(), ["SHOE-45"]);
    assert_eq!(shop.asked().len(), 2);
    assert_eq!(other.offers_for("A-1").await.skus(), ["SHOE-41", "SHOE-43"], "another merchant has its own variants");
    shop.sells_with("A-2", Some("V-BOOT")).await;
    shop.systems.has_variants("V-BOOT", [OnShelf::new("BOOT-41", "41", 5_000)]);
    assert_eq!(shop.offers_for("A-2").await.skus(), ["BOOT-41"], "another product has its own variants");
}

#[tokio::test]
async fn every_call_for_variants_counts_in_the_reports() {
    let world = World::new().await;
    let shop = world.catalogue("acme").await;
    shop.systems.answer_next("/sku", [Answer::status(500), Answer::status(500), Answer::ok(), Answer::close()]);
    for status in [502, 502, 502, 502, 200, 200] {
        assert_eq!(shop.offers_for("A-1").await.status, status);
    }
    // The last was not requested, because the previous answer is still cached.
    assert_eq!(shop.reports().await, ["2 200", "2 500", "1 unreachable"]);
    assert_eq!(
        world.metric(&world.of_its_cell(r#"backhaul_delivery_attempts_total{interface="exchange_variants",outcome="500"}"#)).await,
        2
    );
    assert_eq!(world.metric(r#"backhaul_delivery_seconds_count{interface="exchange_variants"}"#).await, 5);
    assert_eq!(world.database.count("message").await + world.database.count("attempt").await, 0, "nothing was sent");
}
