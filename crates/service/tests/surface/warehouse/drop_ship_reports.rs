//! A warehouse's reports on drop-ship orders: their valid order, and the messages to the merchant.

use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{World, cancelled_items, drop_ship, shipment};

/// A drop-ship order as `status [items' statuses]`.
fn stands(shown: &Value) -> String {
    let items = shown["order"]["order_items"].as_array().unwrap().iter();
    let items: Vec<&str> = items.map(|item| item["status"].as_str().unwrap()).collect();
    format!("{} [{}]", shown["order"]["status"].as_str().unwrap(), items.join(", "))
}

#[tokio::test]
async fn an_order_is_shipped_in_parts_and_each_shipment_is_confirmed_once() {
    let world = World::new().await;
    let shop = world.drop_shipper("acme").await;
    shop.merchant.has_shipped("A-1", &[2, 1]).await;
    assert_eq!(stands(&shop.merchant.looks_at_drop_ship("A-1").await), "accepted [accepted, accepted]");
    let first = shop.merchant.warehouse_reports("A-1", "ship", &shipment("S1", &[("L1", 1)])).await;
    assert_eq!(stands(&first.body), "partially_shipped [partially_shipped, accepted]");
    let second = shop.merchant.warehouse_reports("A-1", "ship", &shipment("S2", &[("L1", 1), ("L2", 1)])).await;
    assert_eq!(stands(&second.body), "shipped [shipped, shipped]");
    for again in [shipment("S1", &[("L1", 1)]), shipment("S2", &[("L1", 1), ("L2", 1)])] {
        let again = shop.merchant.warehouse_reports("A-1", "ship", &again).await;
        assert_eq!((again.status.as_u16(), again.body), (200, second.body.clone()));
    }
    let confirmed = "/drop_shipment_confirmation drop_shipment.confirmed";
    assert_eq!(shop.receives_events().await, [format!("{confirmed} 1"), format!("{confirmed} 2")]);
    assert_eq!(second.body["shipments"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn an_order_is_cancelled_or_rejected_as_a_whole_and_that_is_told_once() {
    let world = World::new().await;
    let shop = world.drop_shipper("acme").await;
    for (what, name, stood) in [("cancel", "A-1", "cancelled [cancelled, cancelled]"), ("reject", "A-2", "rejected [rejected, rejected]")] {
        shop.merchant.has_shipped(name, &[2, 1]).await;
        let reply = shop.merchant.warehouse_reports(name, what, &json!({ "reject_reason": "inventory not found" })).await;
        assert_eq!((reply.status.as_u16(), stands(&reply.body)), (200, stood.to_owned()), "{}", reply.text);
        // The first reason stays.
        let again = shop.merchant.warehouse_reports(name, what, &json!({ "reject_reason": "damaged" })).await;
        assert_eq!((again.status.as_u16(), &again.body), (200, &reply.body));
        let event = &shop.receives_events().await;
        let happened = if what == "cancel" { "cancelled" } else { "rejected" };
        assert_eq!(event, &[format!("/drop_shipment_cancellation drop_shipment.{happened} 1")]);
    }
    shop.merchant.has_shipped("A-4", &[1]).await;
    let cancel = |kind: Option<&'static str>| {
        shop.merchant.calls(Method::POST, "/v1/drop_ship_orders/A-4/cancel", move |request| match kind {
            Some(kind) => request.header("Content-Type", kind),
            None => request,
        })
    };
    for kind in [None, Some("application/json"), Some("text/plain")] {
        let reply = cancel(kind).await;
        assert_eq!(reply.status, 200, "a body without anything in it can be left out, {kind:?}: {}", reply.text);
    }
    shop.merchant.has_shipped("A-3", &[1]).await;
    assert_eq!(shop.merchant.warehouse_reports("A-3", "reject", &json!({})).await.faults(), ["reject_reason missing_field"]);
}

#[tokio::test]
async fn units_are_cancelled_in_parts_and_the_last_of_them_decides_what_is_told() {
    let world = World::new().await;
    let shop = world.drop_shipper("acme").await;
    let part = "/drop_shipment_partial_cancellation drop_shipment.partially_cancelled";
    shop.merchant.has_shipped("A-1", &[2, 1]).await;
    let first = shop.merchant.warehouse_reports("A-1", "cancel_items", &cancelled_items("C1", &[("L2", 1)])).await;
    assert_eq!(stands(&first.body), "accepted [accepted, cancelled]");
    let again = shop.merchant.warehouse_reports("A-1", "cancel_items", &cancelled_items("C1", &[("L2", 1)])).await;
    assert_eq!((again.status.as_u16(), again.body), (200, first.body));
    let mut last = cancelled_items("C2", &[("L1", 2)]);
    last["reject_reason"] = "damaged".into();
    let last = shop.merchant.warehouse_reports("A-1", "cancel_items", &last).await;
    assert_eq!(
        (stands(&last.body), &last.body["order"]["reject_reason"]),
        ("cancelled [cancelled, cancelled]".to_owned(), &json!("damaged"))
    );
    assert_eq!(shop.receives_events().await, [format!("{part} 1"), "/drop_shipment_cancellation drop_shipment.cancelled 2".to_owned()]);

    // Shipped units are not cancelled: the rest is, and the order becomes shipped.
    shop.merchant.has_shipped("A-2", &[2, 1]).await;
    shop.merchant.warehouse_reports("A-2", "ship", &shipment("S1", &[("L1", 2)])).await;
    let rest = shop.merchant.warehouse_reports("A-2", "cancel_items", &cancelled_items("C1", &[("L2", 1)])).await;
    assert_eq!(stands(&rest.body), "shipped [shipped, cancelled]");
    assert_eq!(shop.receives_events().await, ["/drop_shipment_confirmation drop_shipment.confirmed 1".to_owned(), format!("{part} 2")]);
}

#[tokio::test]
async fn what_cannot_be_is_refused_and_changes_and_tells_nothing() {
    let world = World::new().await;
    let shop = world.drop_shipper("acme").await;
    let merchant = &shop.merchant;
    merchant.has_shipped("A-1", &[2, 1]).await;
    merchant.warehouse_reports("A-1", "ship", &shipment("S1", &[("L1", 1)])).await;
    let before = merchant.looks_at_drop_ship("A-1").await;
    let reason = json!({ "reject_reason": "damaged" });
    for (what, report) in [
        ("cancel", &reason),
        ("reject", &reason),
        // The identifier was used for another shipment.
        ("ship", &shipment("S1", &[("L2", 1)])),
    ] {
        assert_eq!(merchant.warehouse_reports("A-1", what, report).await.status, 409, "{what}");
    }
    let too_many = merchant.warehouse_reports("A-1", "ship", &shipment("S2", &[("L2", 1), ("L1", 2), ("L2", 1)])).await;
    assert_eq!(too_many.faults(), ["shipment_items[1].quantity invalid", "shipment_items[2].quantity invalid"]);
    let unknown = merchant.warehouse_reports("A-1", "cancel_items", &cancelled_items("C1", &[("L1", 1), ("L9", 1)])).await;
    assert_eq!(unknown.faults(), ["order_items[1].client_identifier invalid"]);
    let none = merchant.warehouse_reports("A-1", "ship", &json!({ "shipment_identifier": "S2", "shipment_items": [] })).await;
    assert_eq!(none.faults(), ["shipment_items invalid"]);
    assert_eq!(merchant.looks_at_drop_ship("A-1").await, before);

    merchant.has_shipped("A-2", &[2]).await;
    merchant.warehouse_reports("A-2", "cancel_items", &cancelled_items("C1", &[("L1", 1)])).await;
    assert_eq!(merchant.warehouse_reports("A-2", "reject", &reason).await.status, 409);
    merchant.warehouse_reports("A-2", "cancel", &reason).await;
    for (what, report) in
        [("ship", shipment("S1", &[("L1", 1)])), ("cancel_items", cancelled_items("C2", &[("L1", 1)])), ("reject", reason)]
    {
        assert_eq!(merchant.warehouse_reports("A-2", what, &report).await.status, 409, "{what}");
    }
    assert_eq!(merchant.warehouse_reports("A-9", "ship", &json!({})).await.status, 404);
    assert_eq!(world.database.count("message").await, 3);
    assert_eq!(merchant.gives(&drop_ship("A-2", &[2])).await.status, 200, "a finished order is still known");
}
