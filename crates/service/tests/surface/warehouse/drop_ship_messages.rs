//! The exact JSON of messages about drop-ship orders, key by key.

use std::collections::BTreeSet;

use sandbox::merchant::Received;
use serde_json::{Value, json};

use crate::world::{DropShipper, World, cancelled_items, drop_ship, drop_ship_in_full, shipment};

/// The message with one key per line, and with its generated ids numbered.
fn lines(received: &Received) -> String {
    let mut text = String::from_utf8(received.body().to_vec()).unwrap();
    let mut ids = Vec::new();
    let body = text.clone();
    for (at, _) in body.match_indices("\"id\":\"") {
        let id = &body[at + 6..at + 42];
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    for (at, id) in ids.iter().enumerate() {
        text = text.replace(id, &format!("<id {}>", at + 1));
    }
    text.replace(",\"", ",\n\"").replace("{\"", "{\n\"").replace("},{", "},\n{")
}

impl DropShipper<'_> {
    /// The only message that arrived.
    async fn message(&self) -> Received {
        let mut received = self.receives().await;
        assert_eq!(received.len(), 1);
        received.remove(0)
    }
}

/// The keys of an object, in the contract's spelling.
fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn words(words: &str) -> BTreeSet<&str> {
    words.split(' ').collect()
}

const SHIPMENT: &str = "id client_identifier channel carrier shipping_method tracking_number billed_weight shipping_cost_cents \
    packing_slip_identifier shipment_items created_at updated_at";
const SHIPMENT_ITEM: &str = "id client_identifier quantity created_at updated_at";
const ORDER: &str = "id client_identifier billing_address shipping_address brand shipping_method status price_cents tax_cents \
    processing_fee_cents shipping_cost_cents shipping_tax_cents comments expected_delivery_date signature_required \
    packing_slip_identifier reject_reason order_items created_at updated_at";
const ADDRESS: &str = "id name company telephone_number street street2 city state zip_code country created_at updated_at";
const ITEM: &str = "id client_identifier sku brand condition quantity price_cents tax_cents shipping_cost_cents shipping_tax_cents \
    status comments";
const PART: &str = "id client_identifier status order_items";
const PART_ITEM: &str = "id client_identifier status quantity cancelled_quantity";

#[tokio::test]
async fn every_key_is_there_however_little_was_said() {
    let world = World::new().await;
    let shop = world.drop_shipper("acme").await;
    for order in [drop_ship("A-1", &[2, 1]), drop_ship_in_full("A-2")] {
        let name = order["client_identifier"].as_str().unwrap();
        assert_eq!(shop.merchant.gives(&order).await.status, 201);
        shop.merchant.warehouse_reports(name, "cancel_items", &cancelled_items("C1", &[("L2", 1)])).await;
        let part = shop.message().await.json();
        assert_eq!((keys(&part), keys(&part["order"])), (words("order"), words(PART)));
        assert_eq!(keys(&part["order"]["order_items"][0]), words(PART_ITEM));
        shop.merchant.warehouse_reports(name, "ship", &shipment("S1", &[("L1", 2)])).await;
        let confirmation = shop.message().await.json();
        assert_eq!((keys(&confirmation), keys(&confirmation["shipment"])), (words("shipment"), words(SHIPMENT)));
        assert_eq!(keys(&confirmation["shipment"]["shipment_items"][0]), words(SHIPMENT_ITEM));
    }
    for order in [drop_ship("A-3", &[2, 1]), drop_ship_in_full("A-4")] {
        let name = order["client_identifier"].as_str().unwrap();
        assert_eq!(shop.merchant.gives(&order).await.status, 201);
        shop.merchant.warehouse_reports(name, "cancel", &json!({})).await;
        let cancellation = shop.message().await.json();
        let order = &cancellation["order"];
        assert_eq!((keys(&cancellation), keys(order)), (words("order"), words(ORDER)));
        assert_eq!((keys(&order["shipping_address"]), keys(&order["order_items"][0])), (words(ADDRESS), words(ITEM)));
        assert!(order["billing_address"].is_null() || keys(&order["billing_address"]) == words(ADDRESS));
    }
}

#[tokio::test]
async fn a_message_is_posted_to_its_own_path_in_version_1_with_the_order_as_its_subject() {
    let world = World::new().await;
    let shop = world.drop_shipper("acme").await;
    shop.merchant.has_shipped("A-1", &[2]).await;
    shop.merchant.warehouse_reports("A-1", "cancel_items", &cancelled_items("C1", &[("L1", 1)])).await;
    shop.merchant.warehouse_reports("A-1", "ship", &shipment("S1", &[("L1", 1)])).await;
    shop.merchant.has_shipped("A-2", &[1]).await;
    shop.merchant.warehouse_reports("A-2", "cancel", &json!({})).await;
    let received = shop.receives().await;
    let paths: BTreeSet<&str> = received.iter().map(Received::path).collect();
    assert_eq!(paths, words("/drop_shipment_confirmation /drop_shipment_cancellation /drop_shipment_partial_cancellation"));
    for received in &received {
        assert_eq!((received.method().as_str(), received.header("x-service-api-version")), ("POST", Some("1")));
    }
    let mut connection = world.database.connect().await;
    let subjects: Vec<(String, i64)> =
        sqlx::query_as("select subject, sequence from message order by subject, sequence").fetch_all(&mut connection).await.unwrap();
    assert_eq!(subjects, [("A-1".to_owned(), 1), ("A-1".to_owned(), 2), ("A-2".to_owned(), 1)]);
}

#[tokio::test]
async fn a_confirmation() {
    let world = World::new().await;
    let shop = world.drop_shipper("acme").await;
    shop.merchant.gives(&drop_ship_in_full("A-1")).await;
    let mut report = shipment("S1", &[("L1", 1), ("L2", 1)]);
    let more = json!({ "carrier": "UPS", "shipping_method": "NEXT_DAY", "tracking_number": "1Z999", "billed_weight": 2.5,
        "shipping_cost_cents": 1_250, "packing_slip_identifier": "PS-1-1" });
    report.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    shop.merchant.warehouse_reports("A-1", "ship", &report).await;
    insta::assert_snapshot!(lines(&shop.message().await));
}

#[tokio::test]
async fn a_cancellation() {
    let world = World::new().await;
    let shop = world.drop_shipper("acme").await;
    shop.merchant.gives(&drop_ship_in_full("A-1")).await;
    shop.merchant.warehouse_reports("A-1", "cancel", &json!({ "reject_reason": "inventory not found" })).await;
    insta::assert_snapshot!(lines(&shop.message().await));
}

#[tokio::test]
async fn a_rejection_of_an_order_of_which_little_was_said() {
    let world = World::new().await;
    let shop = world.drop_shipper("acme").await;
    shop.merchant.has_shipped("A-1", &[1]).await;
    shop.merchant.warehouse_reports("A-1", "reject", &json!({ "reject_reason": "damaged", "comments": "All of it." })).await;
    insta::assert_snapshot!(lines(&shop.message().await));
}

#[tokio::test]
async fn a_partial_cancellation() {
    let world = World::new().await;
    let shop = world.drop_shipper("acme").await;
    shop.merchant.gives(&drop_ship_in_full("A-1")).await;
    shop.merchant.warehouse_reports("A-1", "cancel_items", &cancelled_items("C1", &[("L1", 1), ("L2", 1)])).await;
    insta::assert_snapshot!(lines(&shop.message().await));
}
