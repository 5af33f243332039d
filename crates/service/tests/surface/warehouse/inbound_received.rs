//! Receiving: an announced unit is received once, and its merchant gets one message.

use domain::messages::message::Interface;
use sandbox::merchant::Answer;
use serde_json::{Value, json};

use crate::world::{World, asn, scan, the_unit, units_of};

fn of_sku(number: &str, unit: &str, sku: &str) -> Value {
    let mut scanned = scan(number, unit);
    scanned["sku"] = sku.into();
    scanned
}

#[tokio::test]
async fn a_unit_is_received_once_and_told_once() {
    let world = World::new().await;
    let yard = world.yard("acme").await;
    yard.merchant.announces("A-1", &[the_unit("U-1"), units_of("SOCK", 2)]).await;
    let units = [scan("A-1", "U-1"), of_sku("A-1", "LP-1", "SOCK")];
    assert_eq!(yard.merchant.scans(&units).await, ["received 1", "received 2"]);
    assert_eq!(yard.receives_events().await, ["LP-1 2", "U-1 1"]);
    assert_eq!(yard.merchant.scans(&units).await, ["already_received 1", "already_received 2"]);
    // A received unit stays received, whatever else is reported of it.
    let mut elsewhere = scan("A-9", "U-1");
    elsewhere["line_identifier"] = "7".into();
    let reply = yard.merchant.posts_receipts(&[elsewhere]).await;
    assert_eq!((&reply.body["units"][0]["asn_number"], &reply.body["units"][0]["line_identifier"]), (&json!("A-1"), &json!("1")));
    assert!(yard.receives_events().await.is_empty(), "a repeat sends no message");
    let shown = yard.merchant.looks_at_asn("A-1").await;
    assert_eq!((&shown["state"], &shown["announced"], &shown["received"]), (&json!("receiving"), &json!(3), &json!(2)));
    assert_eq!(shown["cartons"][0]["details"][1]["received"], 1);
    assert!(yard.merchant.exceptions("").await.is_empty());
}

#[tokio::test]
async fn a_unit_that_is_twice_in_a_message_is_received_once() {
    let world = World::new().await;
    let yard = world.yard("acme").await;
    yard.merchant.announces("A-1", &[units_of("SOCK", 5)]).await;
    yard.merchant.announces("A-2", &[units_of("SOCK", 5)]).await;
    let units =
        [of_sku("A-1", "LP-1", "SOCK"), of_sku("A-2", "LP-1", "SOCK"), of_sku("A-1", "LP-1", "SOCK"), of_sku("A-2", "LP-2", "SOCK")];
    assert_eq!(yard.merchant.scans(&units).await, ["received 1", "conflict 1", "already_received 1", "received 1"]);
    assert_eq!(yard.receives_events().await, ["LP-1 1", "LP-2 1"]);
}

#[tokio::test]
async fn a_unit_is_found_by_line_by_any_of_its_names_or_by_sku_and_carton() {
    let world = World::new().await;
    let yard = world.yard("acme").await;
    let mut announced = asn("A-1", &[the_unit("U-1"), json!({ "client_unit_identifier": "C-2" }), units_of("SOCK", 1)]);
    announced["cartons"][0]["identifier"] = "BOX-1".into();
    announced["cartons"].as_array_mut().unwrap().push(json!({
        "identifier": "BOX-2", "details": [{ "line_identifier": "4", "sku": "SOCK", "quantity": 1 }, { "line_identifier": "5", "sku": "HAT" }],
    }));
    assert_eq!(yard.merchant.posts_asns(&[announced]).await.status, 201);
    let mut by_client = scan("A-1", "LP-2");
    by_client["client_unit_identifier"] = "C-2".into();
    let mut by_carton = of_sku("A-1", "LP-3", "SOCK");
    by_carton["carton_identifier"] = "BOX-2".into();
    let mut by_line = scan("A-1", "LP-4");
    by_line["line_identifier"] = "5".into();
    let units = [by_client, by_carton, by_line, of_sku("A-1", "LP-5", "SOCK"), scan("A-1", "U-1")];
    let expected = ["received 2", "received 4", "received 5", "received 3", "received 1"];
    assert_eq!(yard.merchant.scans(&units).await, expected);
    // The message has the announced identifier of a unit, or else the client's, or else the license plate.
    assert_eq!(yard.receives_events().await, ["C-2 2", "LP-3 4", "LP-4 5", "LP-5 3", "U-1 1"]);
}

#[tokio::test]
async fn lines_of_a_sku_are_filled_in_the_order_in_which_they_were_announced() {
    let world = World::new().await;
    let yard = world.yard("acme").await;
    let lines = ["9", "10", "1"].map(|name| json!({ "line_identifier": name, "sku": "SOCK", "quantity": 1 }));
    yard.merchant.announces("A-1", &lines).await;
    let units = ["LP-1", "LP-2", "LP-3"].map(|unit| of_sku("A-1", unit, "SOCK"));
    assert_eq!(yard.merchant.scans(&units).await, ["received 9", "received 10", "received 1"]);
}

#[tokio::test]
async fn a_receipt_for_an_unknown_warehouse_is_refused_whole() {
    let world = World::new().await;
    let yard = world.yard("acme").await;
    yard.merchant.announces("A-1", &[units_of("SOCK", 5)]).await;
    let mut elsewhere = of_sku("A-1", "LP-2", "SOCK");
    elsewhere["warehouse_identifier"] = "WH-9".into();
    let reply = yard.merchant.posts_receipts(&[of_sku("A-1", "LP-1", "SOCK"), elsewhere]).await;
    assert_eq!(reply.faults(), ["units[1].warehouse_identifier invalid"]);
    let mut wrong = scan("A-1", "LP-1");
    wrong["condition"] = "NEW".into();
    assert_eq!(yard.merchant.posts_receipts(&[wrong]).await.faults(), ["units[0].condition invalid"]);
    let many: Vec<Value> = (0..=500).map(|unit| scan("A-1", &unit.to_string())).collect();
    assert_eq!(yard.merchant.posts_receipts(&many).await.faults(), ["units invalid"]);
    assert!(yard.receives_events().await.is_empty());
}

#[tokio::test]
async fn receipts_go_to_the_merchants_address_and_any_2xx_is_success() {
    let world = World::new().await;
    let yard = world.yard("acme").await;
    assert_eq!(Interface::InventoryReceipt.path(), "/inventory_receipt");
    yard.merchant.announces("A-1", &[units_of("SOCK", 2)]).await;
    yard.systems.answer_next("/inventory_receipt", [Answer::status(202), Answer::status(299)]);
    assert_eq!(yard.merchant.scans(&[of_sku("A-1", "LP-1", "SOCK"), of_sku("A-1", "LP-2", "SOCK")]).await.len(), 2);
    let received = yard.gets().await;
    assert_eq!(received.len(), 2);
    for receipt in &received {
        assert_eq!(receipt.header("x-service-event"), Some("inventory_receipt.received"));
        assert_eq!(receipt.header("x-service-api-version"), Some("1"));
        assert_eq!(receipt.header("x-service-sequence"), Some("1"));
    }
    assert_eq!((world.owed().await, world.failures().await), (0, 0));
}

#[tokio::test]
async fn five_hundred_units_of_ten_thousand_lines_are_received_at_once() {
    let world = World::new().await;
    let yard = world.yard("acme").await;
    let mut announced = asn("A-1", &[units_of("SOCK", 1)]);
    let line = |number: usize| json!({ "line_identifier": number.to_string(), "unit_identifier": format!("U-{number}"), "sku": "SHOE" });
    announced["cartons"] =
        (0..10).map(|carton| json!({ "details": (0..1_000).map(|at| line(carton * 1_000 + at)).collect::<Vec<_>>() })).collect();
    assert_eq!(yard.merchant.posts_asns(&[announced]).await.status, 201);
    let units: Vec<Value> = (0..500).map(|unit| scan("A-1", &format!("U-{}", unit * 20))).collect();
    let taken = yard.merchant.scans(&units).await;
    assert!(taken.iter().enumerate().all(|(at, taken)| *taken == format!("received {}", at * 20)));
    assert_eq!(world.owed().await, 500);
}
