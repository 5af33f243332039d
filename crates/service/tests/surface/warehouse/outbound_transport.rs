//! The transport of shipments: carrier, payment, tracking numbers and bill of lading become known little by little.

use serde_json::{Value, json};

use crate::world::World;
use crate::world::warehouse::{AsnMessage, Dock, freight, to_vendor, transfer};

const FIELDS: [&str; 4] = ["tracking_number", "carrier", "carrier_payment_type", "bol_number"];

/// The request without anything about its transport.
fn without_transport(mut wanted: Value) -> Value {
    for name in ["carrier", "carrier_payment_type", "tracking_numbers", "bol_number"] {
        wanted.as_object_mut().unwrap().remove(name);
    }
    wanted
}

/// The transport in a message.
fn told(message: &AsnMessage) -> Value {
    FIELDS.iter().map(|name| message.body[*name].clone()).collect()
}

/// A shipment of one unit, of which no transport is known.
async fn make(dock: &Dock<'_>, number: &str, wanted: &Value, unit: u32) {
    let reply = dock.merchant.ships(&without_transport(wanted.clone())).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    dock.merchant.adds(number, unit..unit + 1).await;
}

#[tokio::test]
async fn the_transport_is_given_at_creation_while_pending_or_with_shipping() {
    let world = World::new().await;
    let dock = world.dock("acme").await;
    let all = json!({ "carrier": "Example Freight", "carrier_payment_type": "prepaid", "tracking_numbers": ["PRO-1", "PRO-2"], "bol_number": "BOL-7" });
    for (nth, when) in (1..).zip(["creation", "pending", "shipping"]) {
        let number = format!("A-{nth}");
        let mut wanted = without_transport(freight(&number));
        if when == "creation" {
            wanted.as_object_mut().unwrap().extend(all.as_object().unwrap().clone());
        }
        assert_eq!(dock.merchant.ships(&wanted).await.status, 201);
        dock.merchant.adds(&number, nth..nth + 1).await;
        if when == "pending" {
            let reply = dock.merchant.changes(&number, &all).await;
            assert_eq!((reply.status.as_u16(), &reply.body["bol_number"]), (200, &json!("BOL-7")), "{}", reply.text);
            assert!(dock.receives_events().await.is_empty(), "the merchant does not know of it yet");
        }
        let said = if when == "shipping" { all.clone() } else { json!({}) };
        let reply = dock.merchant.ships_with(&number, &said).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        let messages = dock.receives().await;
        assert_eq!((messages.len(), messages[0].event.as_str()), (1, "outbound_asn.shipped"), "{when}");
        assert_eq!(told(&messages[0]), json!(["PRO-1", "Example Freight", "prepaid", "BOL-7"]), "{when}");
    }
}

#[tokio::test]
async fn the_first_number_that_was_scanned_is_told_however_many_follow() {
    let world = World::new().await;
    let dock = world.dock("acme").await;
    make(&dock, "A-1", &freight("A-1"), 1).await;
    dock.merchant.does("announce", "A-1").await;
    assert_eq!(told(&dock.receives().await[0])[0], Value::Null);
    let long = "9".repeat(5_000);
    assert_eq!(dock.merchant.changes("A-1", &json!({ "tracking_numbers": [long] })).await.status, 200);
    let messages = dock.receives().await;
    assert_eq!((messages.len(), messages[0].event.as_str(), messages[0].sequence.as_str()), (1, "outbound_asn.transport_changed", "2"));
    assert_eq!(told(&messages[0])[0], json!(long));
    assert_eq!(dock.merchant.changes("A-1", &json!({ "tracking_numbers": [long] })).await.status, 200, "the same again");
    assert!(dock.receives_events().await.is_empty());
    // Numbers scanned while it is loaded come after it.
    let shipped = dock.merchant.ships_with("A-1", &json!({ "tracking_numbers": ["PRO-2", long, "PRO-3"] })).await;
    assert_eq!(shipped.body["tracking_numbers"], json!([long, "PRO-2", "PRO-3"]));
    assert_eq!(told(&dock.receives().await[0])[0], json!(long));
    // A repeat says no more than is known; anything else comes too late.
    for said in [json!({}), json!({ "tracking_numbers": ["PRO-3"] })] {
        assert_eq!(dock.merchant.ships_with("A-1", &said).await.body, shipped.body);
    }
    for reply in [
        dock.merchant.ships_with("A-1", &json!({ "tracking_numbers": ["PRO-4"] })).await,
        dock.merchant.changes("A-1", &json!({ "carrier": "Other Freight" })).await,
    ] {
        let message = "The shipment is shipped and cannot be given another carrier, tracking number or bill of lading.";
        assert_eq!((reply.status.as_u16(), &reply.body["message"]), (409, &json!(message)));
    }
    assert!(dock.receives_events().await.is_empty());
}

#[tokio::test]
async fn a_change_is_one_message_whatever_it_changes() {
    let world = World::new().await;
    let dock = world.dock("acme").await;
    make(&dock, "A-1", &freight("A-1"), 1).await;
    dock.merchant.does("announce", "A-1").await;
    dock.receives().await;
    let both = json!({ "ship_date": "2026-03-09T08:00:00Z", "carrier": "Example Freight", "tracking_numbers": ["PRO-1"] });
    assert_eq!(dock.merchant.changes("A-1", &both).await.status, 200);
    assert_eq!(dock.merchant.changes("A-1", &json!({ "tracking_numbers": ["PRO-9"] })).await.status, 200, "a wrong number is replaced");
    let messages = dock.receives().await;
    let events: Vec<&str> = messages.iter().map(|message| message.event.as_str()).collect();
    assert_eq!(events, ["outbound_asn.ship_date_changed", "outbound_asn.transport_changed"]);
    assert_eq!(
        (&messages[0].body["ship_date"], told(&messages[0])),
        (&json!("2026-03-09T08:00:00Z"), json!(["PRO-1", "Example Freight", null, null]))
    );
    assert_eq!(told(&messages[1]), json!(["PRO-9", "Example Freight", null, null]));
    for (wrong, fault) in [
        (json!({}), "ship_date missing_field"),
        (json!({ "carrier_payment_type": "cash" }), "carrier_payment_type invalid"),
        (json!({ "tracking_numbers": "PRO-1" }), "tracking_numbers invalid_type"),
    ] {
        assert_eq!(dock.merchant.changes("A-1", &wrong).await.faults(), [fault]);
    }
    assert_eq!(dock.merchant.ships_with("A-1", &json!({ "ship_date": "soon" })).await.faults(), ["ship_date invalid"]);
    assert_eq!(dock.merchant.ships_with("A-9", &json!({ "ship_date": "soon" })).await.status, 404);
    assert!(dock.receives_events().await.is_empty());
}

#[tokio::test]
async fn a_stock_transfer_never_tells_a_carrier() {
    let world = World::new().await;
    let dock = world.dock("acme").await;
    make(&dock, "A-1", &transfer("A-1"), 1).await;
    let said = json!({ "carrier": "Example Freight", "carrier_payment_type": "collect", "tracking_numbers": ["PRO-1"] });
    dock.merchant.does("announce", "A-1").await;
    assert_eq!(dock.merchant.changes("A-1", &said).await.status, 200);
    assert_eq!(dock.merchant.ships_with("A-1", &said).await.status, 200);
    for message in dock.receives().await {
        assert_eq!(told(&message), json!([null, null, null, null]), "{}", message.event);
    }
}

#[tokio::test]
async fn a_store_may_be_the_sender() {
    let world = World::new().await;
    let dock = world.dock("acme").await;
    for (nth, kind) in (1..).zip([freight as fn(&str) -> Value, transfer, to_vendor]) {
        let number = format!("A-{nth}");
        let mut wanted = kind(&number);
        (wanted["from_warehouse"], wanted["from_store"]) = (Value::Null, "S-12".into());
        let reply = dock.merchant.ships(&wanted).await;
        assert_eq!((reply.status.as_u16(), &reply.body["from_type"]), (201, &json!("store")), "{}", reply.text);
        dock.merchant.adds(&number, nth..nth + 1).await;
        dock.merchant.does("ship", &number).await;
        assert_eq!(dock.receives().await[0].body["from"], json!({ "identifier": "S-12", "type": "store" }));
    }
    let mut both = freight("A-9");
    both["from_store"] = "S-12".into();
    assert_eq!(dock.merchant.ships(&both).await.faults(), ["from_store invalid"]);
}
