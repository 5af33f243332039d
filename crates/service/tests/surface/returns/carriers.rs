//! Labels are bought automatically for a merchant with a carrier.

use std::time::Duration;

use backhaul::flow::returns::configure_carrier::{remove_carrier, set_carrier};
use domain::money::Cents;
use domain::returns::rma::Method as Way;
use domain::returns::rma::policy::{Offer, Policy};
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::carrier::{account_with, warehouse};
use crate::world::{World, mail_back};

#[tokio::test]
async fn a_return_gets_one_label_by_itself() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let merchant = &carried.shop.merchant;
    let rma = carried.has_a_return("A-1", 2).await;
    assert_eq!(merchant.asks_for_the_label(&rma).await.status, 404, "not yet");
    let received = carried.shop.receives().await;
    assert_eq!(received.iter().map(|(event, _)| event.as_str()).collect::<Vec<_>>(), ["rma.created", "rma.tracking_updated"]);

    let shipment = carried.shipment(&rma);
    assert_eq!((shipment.bought, shipment.refunded, shipment.is_return), (1, 0, true));
    for item in received[1].1["items"].as_array().unwrap() {
        let parcel = (&item["tracking_number"], &item["package_tracking_status"]);
        assert_eq!(parcel, (&json!(shipment.tracking_code), &json!("PRE_TRANSIT")));
    }
    let label = merchant.asks_for_the_label(&rma).await;
    assert_eq!((label.status.as_u16(), label.header("content-type")), (200, "application/pdf"));
    assert!(label.text.starts_with("%PDF-"), "{}", label.text);
    assert_eq!(world.owed().await, 0);
}

#[tokio::test]
async fn the_carrier_learns_who_sends_what_to_whom() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let rma = carried.has_a_return("A-1", 2).await;
    carried.receives_events().await;
    let asked = world.client.get(format!("{}/v2/shipments/{rma}", carried.carrier.url())).basic_auth(carried.carrier.api_key(), Some(""));
    let shipment: Value = asked.send().await.unwrap().json().await.unwrap();
    // For a return, EasyPost wants the addresses of the outbound trip.
    let shopper = json!({
        "name": "Pat Doe", "street1": "1 Main St", "city": "Springfield", "state": "NY", "zip": "10001", "country": "US", "phone": "555-0100",
    });
    assert_eq!((&shipment["to_address"], &shipment["from_address"]), (&shopper, &json!(warehouse())));
    assert_eq!((&shipment["reference"], &shipment["is_return"]), (&json!(rma), &json!(true)));
    assert_eq!(shipment["parcel"]["weight"], 48.0, "two units of 1.5 pounds, in ounces");
    assert_eq!(shipment["selected_rate"]["service"], "Ground", "the cheapest");
}

#[tokio::test]
async fn without_a_carrier_the_label_is_somebody_elses_to_report() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    assert_eq!(shop.receives_events().await, ["rma.created"]);
    assert_eq!((world.owed().await, world.database.count("message").await), (0, 1), "no carrier is called");
    assert_eq!(shop.merchant.carrier_says(&rma, "label_issued").await.body["result"], "moved");
    assert_eq!(shop.receives_events().await, ["rma.tracking_updated"]);
    assert_eq!(shop.merchant.asks_for_the_label(&rma).await.status, 404, "the service did not buy this label");
}

#[tokio::test]
async fn where_nothing_travels_no_label_is_bought() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let merchant = &carried.shop.merchant;
    let offers = vec![Offer { method: Way::CustomerKeep, fee: Cents::default(), deducted: false }];
    merchant.has_policy(&Policy { offers, ..Policy::default() }).await;
    merchant.sells("A-1", 1).await;
    let mut kept = mail_back("A-1", 1);
    kept["return_method"] = "customer-keep".into();
    assert_eq!(merchant.starts(&kept).await.status, 201);
    assert_eq!((carried.receives_events().await, carried.carrier.shipments().len()), (vec!["created".to_owned()], 0));
}

#[tokio::test]
async fn a_label_that_is_still_wanted_waits_for_the_next_carrier() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let rma = carried.has_a_return("A-1", 1).await;
    remove_carrier(&world.app, "test", carried.shop.merchant.id).await.unwrap();
    assert_eq!(carried.receives_events().await, ["created"]);
    assert_eq!(world.database.texts("select reason from attempt where outcome = 'refused'").await.len(), 1);
    set_carrier(&world.app, "test", carried.shop.merchant.id, account_with(&carried.carrier)).await.unwrap();
    world.time_passes(Duration::from_secs(6));
    assert_eq!((carried.receives_events().await, carried.bought_and_given_back(&rma)), (vec!["PRE_TRANSIT".to_owned()], (1, 0)));
}

#[tokio::test]
async fn merchants_see_nothing_of_what_a_carrier_is_asked() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let merchant = &carried.shop.merchant;
    let (rma, _) = carried.has_a_code("A-1").await;
    assert_eq!(merchant.cancels(&rma).await.status, 200);
    world.time_passes(Duration::from_mins(3));
    assert_eq!(carried.receives_events().await, ["canceled"]);
    let words = ["label", "label_code", "label_void", "label.wanted", "label.code_wanted", "label.unwanted"];
    for path in ["/v1/messages", "/v1/events", "/v1/endpoints"] {
        let seen = merchant.gets(path).await.text;
        assert!(words.iter().all(|word| !seen.contains(&format!("\"{word}\""))), "{path}: {seen}");
    }
    for path in words[..3].iter().flat_map(|word| [format!("/v1/messages?interface={word}"), format!("/v1/events?interface={word}")]) {
        assert_eq!(merchant.calls(Method::GET, &path, |request| request).await.status, 400, "{path}");
    }
    let ids = world.database.texts("select message_id::text from message where kind in ('label', 'label_code', 'label_void')").await;
    assert_eq!(ids.len(), 3);
    for id in ids {
        assert_eq!(merchant.calls(Method::GET, &format!("/v1/messages/{id}"), |request| request).await.status, 404);
    }
    for table in ["attempt_hourly", "delivered_hourly"] {
        assert_eq!(world.database.count(&format!("{table} where kind <> 'rma'")).await, 0, "no report counts it");
    }
    assert_eq!(world.failures().await, 0);
}
