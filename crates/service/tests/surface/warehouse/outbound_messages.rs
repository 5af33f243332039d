//! The exact JSON of messages about shipments, key by key.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::world::World;
use crate::world::warehouse::{AsnMessage, carton, freight, lines, to_vendor, transfer, unit};

/// A message with one key per line.
fn readable(message: &AsnMessage) -> String {
    message.text.replace(",\"", ",\n\"").replace("{\"", "{\n\"").replace("},{", "},\n{")
}

/// A unit with every field set.
fn full_unit() -> Value {
    let mut full = unit(1);
    let known = json!({
        "client_unit_identifier": "CU-1", "inbound_received_asn": "IN-1", "upc": "0123456789012", "quantity": 1,
        "vendor_identifier": "V-9", "serial_number": "S-1", "condition": "TT", "eligibility_flags": ["rtv", "no-box"], "merchant": "Acme",
    });
    full.as_object_mut().unwrap().extend(known.as_object().unwrap().clone());
    full
}

/// A carton with every field set, containing that unit and a plain one.
fn full_carton() -> Value {
    json!({
        "identifier": "C-1",
        "reference": { "type": "RMA", "identifier": "R-1", "alternate_identifier": "ALT-1" },
        "sorting_template_name": "Outlet A",
        "details": [full_unit(), unit(2)],
    })
}

/// The messages of a shipment through its life, with full and with minimal data.
async fn messages(wanted: &Value, verbs: &[&str]) -> String {
    let world = World::new().await;
    let dock = world.dock("acme").await;
    let reply = dock.merchant.ships(wanted).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    let plain = json!({ "details": [unit(3)] });
    assert_eq!(dock.merchant.packs("A-1", [full_carton(), plain]).await.status, 200);
    for verb in verbs {
        dock.merchant.does(verb, "A-1").await;
    }
    dock.receives().await.iter().map(readable).collect::<Vec<_>>().join("\n\n")
}

#[tokio::test]
async fn a_stock_transfer() {
    insta::assert_snapshot!(messages(&transfer("A-1"), &["ship"]).await);
}

#[tokio::test]
async fn freight_through_its_life() {
    insta::assert_snapshot!(messages(&freight("A-1"), &["announce", "ship", "deliver"]).await);
}

#[tokio::test]
async fn freight_that_is_cancelled() {
    insta::assert_snapshot!(messages(&freight("A-1"), &["announce", "cancel"]).await);
}

#[tokio::test]
async fn a_shipment_to_a_vendor() {
    insta::assert_snapshot!(messages(&to_vendor("A-1"), &["ship"]).await);
}

#[tokio::test]
async fn a_shipment_to_a_store() {
    let mut wanted = freight("A-1");
    wanted["to_warehouse"] = Value::Null;
    let address = json!({ "name": "Main St", "company": "Acme", "street": "1 Main St", "street2": "Rear", "city": "Elko", "state": "NV", "zip": "89801" });
    wanted["to_store"] = json!({ "identifier": "S-7", "address": address });
    insta::assert_snapshot!(messages(&wanted, &["ship"]).await);
}

#[tokio::test]
async fn a_shipment_in_two_parts() {
    let world = World::new().await;
    let dock = world.dock("acme").await;
    dock.merchant.makes("A-1").await;
    dock.merchant.adds("A-1", 1..502).await;
    dock.merchant.does("ship", "A-1").await;
    let received = dock.receives().await;
    assert_eq!(received.iter().map(|message| lines(&message.body).len()).collect::<Vec<_>>(), [500, 1]);
    insta::assert_snapshot!(readable(received.last().unwrap()));
}

#[tokio::test]
async fn every_key_is_always_there() {
    let world = World::new().await;
    let dock = world.dock("acme").await;
    for (at, make) in [transfer as fn(&str) -> Value, freight, to_vendor].into_iter().enumerate() {
        for full in [false, true] {
            let number = format!("A-{at}-{full}");
            let mut wanted = make(&number);
            let base = u32::try_from(at).unwrap() * 10 + u32::from(full) * 5;
            let mut packed = carton("C-1", [100 + base]);
            if full {
                packed = full_carton();
                packed["details"][0]["unit_identifier"] = format!("LP-{}", 200 + base).into();
                packed["details"][1] = unit(300 + base);
            } else {
                for name in ["carrier", "carrier_payment_type", "tracking_numbers", "bol_number"] {
                    wanted.as_object_mut().unwrap().remove(name);
                }
            }
            assert_eq!(dock.merchant.ships(&wanted).await.status, 201);
            assert_eq!(dock.merchant.packs(&number, [packed]).await.status, 200);
            dock.merchant.does("announce", &number).await;
            dock.merchant.does("ship", &number).await;
            dock.merchant.does("deliver", &number).await;
        }
    }
    let received = dock.receives().await;
    assert_eq!(received.len(), 18);
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    let sorted = |words: &str| words.split_whitespace().map(ToOwned::to_owned).collect::<BTreeSet<String>>();
    let message = "from to asn_number channel shipment_identifier tracking_number carrier carrier_payment_type ship_date status details_type \
        cartons bol_number timestamp";
    let detail = "line_identifier program_identifier unit_identifier client_unit_identifier inbound_received_asn sku upc quantity \
        vendor_identifier serial_number condition eligibility_flags merchant";
    for asn in &received {
        let body = &asn.body;
        assert_eq!(asn.version, "1");
        assert_eq!(keys(body), sorted(message));
        assert_eq!(keys(&body["from"]), sorted("identifier type"));
        assert_eq!(keys(&body["to"]), sorted("identifier type address"));
        assert_eq!(keys(&body["to"]["address"]), sorted("name company street street2 city state zip"));
        assert_eq!((&body["details_type"], &body["from"]["type"]), (&"unit".into(), &"warehouse".into()));
        for carton in body["cartons"].as_array().unwrap() {
            assert_eq!(keys(carton), sorted("details identifier reference sorting_template_name"));
            assert!(carton["reference"].is_null() || keys(&carton["reference"]) == sorted("type identifier alternate_identifier"));
            for unit in carton["details"].as_array().unwrap() {
                assert_eq!(keys(unit), sorted(detail));
                assert_eq!(unit["quantity"], 1);
            }
        }
        for time in ["ship_date", "timestamp"] {
            assert!(body[time].as_str().unwrap().ends_with('Z'), "{time} is in UTC");
        }
    }
}
