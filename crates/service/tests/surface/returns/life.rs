//! The life of a return.

use serde_json::{Value, json};

use crate::world::{World, message, plain_refund, sold};

/// A message as in the contract's table, without the fields that every message has.
fn summary((event, body): &(String, Value)) -> String {
    let item = &body["items"][0];
    let null = |value: &Value| value.as_str().unwrap_or("null").to_owned();
    format!(
        "{event}: status {}, tracking_number {}, package_tracking_status {}, receiving_status {}",
        null(&body["status"]),
        if item["tracking_number"].is_null() { "null" } else { "populated" },
        null(&item["package_tracking_status"]),
        null(&item["receiving_status"]),
    )
}

/// The contract's table "RMA progress in a mail-back return", row by row, with the messages that the merchant's systems receive.
#[tokio::test]
async fn a_mail_back_return_goes_as_the_contracts_table_says() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 2).await;

    // (none) | the shopper confirms the return
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    let created = shop.receives().await;
    assert_eq!(
        created.iter().map(summary).collect::<Vec<_>>(),
        ["rma.created: status CREATED, tracking_number null, package_tracking_status null, receiving_status null"]
    );

    // CREATED, no tracking | the carrier supplies tracking number and label
    shop.merchant.carrier_says(&rma, "label_issued").await;
    let labelled = shop.receives().await;
    assert_eq!(
        labelled.iter().map(summary).collect::<Vec<_>>(),
        ["rma.tracking_updated: status CREATED, tracking_number populated, package_tracking_status PRE_TRANSIT, receiving_status null"]
    );

    // PRE_TRANSIT | the carrier picks up the package
    shop.merchant.carrier_says(&rma, "in_transit").await;
    let scanned = shop.receives().await;
    assert_eq!(
        scanned.iter().map(summary).collect::<Vec<_>>(),
        ["rma.tracking_updated: status CREATED, tracking_number populated, package_tracking_status TRANSIT, receiving_status null"]
    );

    // CREATED | an order with a refunds entry for the RMA
    let mut refunded = sold("A-1", 2);
    refunded["updated_at"] = "2026-03-01T12:00:00Z".into();
    let mut refund = plain_refund("F1", 1);
    refund["rma_identifier"] = json!(rma);
    refunded["refunds"] = json!([refund]);
    let reply = shop.merchant.publishes(&message([refunded.clone()])).await;
    assert_eq!((reply.results(), reply.warnings()), (vec!["updated"], vec![]));
    let closed = shop.receives().await;
    assert_eq!(
        closed.iter().map(summary).collect::<Vec<_>>(),
        ["rma.refunded: status REFUNDED, tracking_number populated, package_tracking_status TRANSIT, receiving_status null"]
    );
    assert_eq!(shop.merchant.publishes(&message([refunded])).await.results(), ["unchanged"]);
    assert!(shop.receives().await.is_empty(), "a repeat sends no message");
    let shown = shop.merchant.looks_at(&rma).await;
    assert_eq!((&shown["status"], &shown["items"][0]["refund_identifier"]), (&json!("REFUNDED"), &json!("F1")));

    // The exact JSON at each row.
    let mut bodies: Vec<Value> = [created, labelled, scanned, closed].into_iter().flatten().map(|(_, body)| body).collect();
    for body in &mut bodies {
        let identifier = body["rma_identifier"].as_str().unwrap().to_owned();
        assert_eq!(identifier, rma);
        body["rma_identifier"] = "R-XXXX-XXXX".into();
        if !body["items"][0]["tracking_number"].is_null() {
            body["items"][0]["tracking_number"] = "T-R-XXXX-XXXX".into();
        }
    }
    insta::assert_json_snapshot!(bodies);
}

/// Units refunded outside of any return stay so: the refund does not pay for another return's units.
#[tokio::test]
async fn a_refund_that_names_an_unknown_return_late_settles_none() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let mut order = sold("A-1", 2);
    order["refunds"] = json!([plain_refund("F1", 1)]);
    assert_eq!(shop.merchant.publishes(&message([order.clone()])).await.results(), ["created"]);
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    assert_eq!(shop.receives().await.len(), 1);

    order["updated_at"] = "2026-03-01T12:00:00Z".into();
    order["refunds"][0]["rma_identifier"] = "R-2222-2222".into();
    let reply = shop.merchant.publishes(&message([order])).await;
    assert_eq!((reply.results(), reply.warnings().len()), (vec!["updated"], 1));
    assert!(shop.receives().await.is_empty());
    assert_eq!(shop.merchant.looks_at(&rma).await["status"], "CREATED");
}
