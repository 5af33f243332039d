//! Receiving at the warehouse, for merchants with managed receiving. No return here has an ASN.

use domain::returns::rma::policy::Policy;
use serde_json::{Value, json};

use crate::world::{Shop, World, message, plain_refund, refunded, scan_for, sold};

/// A message as `event status: receiving of each unit`.
fn summary((event, body): &(String, Value)) -> String {
    let units = body["items"].as_array().unwrap().iter().map(|item| item["receiving_status"].as_str().unwrap_or("null"));
    format!("{event} {}: {}", body["status"].as_str().unwrap(), units.collect::<Vec<_>>().join(" "))
}

impl Shop<'_> {
    async fn receives_summaries(&self) -> Vec<String> {
        self.receives().await.iter().map(summary).collect()
    }
}

async fn receiving_shop(world: &World) -> Shop<'_> {
    let shop = world.shop("acme").await;
    shop.merchant.has_policy(&Policy { managed_receiving: true, ..Policy::default() }).await;
    shop.merchant.has_a_warehouse().await;
    shop
}

#[tokio::test]
async fn a_unit_is_waited_for_then_received_or_not_and_may_come_late() {
    let world = World::new().await;
    let shop = receiving_shop(&world).await;
    shop.merchant.sells("A-1", 3).await;
    let rma = shop.merchant.starts_a_return("A-1", 3).await;
    assert_eq!(shop.receives_summaries().await, ["rma.created CREATED: PENDING PENDING PENDING"]);
    shop.merchant.receives_for(&rma, &["LP-1"]).await;
    assert_eq!(shop.receives_summaries().await, ["rma.received CREATED: RECEIVED PENDING PENDING"]);
    assert_eq!(shop.merchant.scans(&[scan_for(&rma, "LP-1")]).await, ["already_received L1"]);
    assert!(shop.receives_summaries().await.is_empty(), "a repeat sends no message");
    assert_eq!(shop.merchant.closes_return(&rma).await.status, 200);
    assert_eq!(shop.receives_summaries().await, ["rma.receiving_closed CREATED: RECEIVED NOT_RECEIVED NOT_RECEIVED"]);
    assert_eq!(shop.merchant.closes_return(&rma).await.status, 200);
    assert!(shop.receives_summaries().await.is_empty(), "it is closed once");
    shop.merchant.receives_for(&rma, &["LP-2"]).await;
    assert_eq!(shop.receives_summaries().await, ["rma.received CREATED: RECEIVED RECEIVED NOT_RECEIVED"]);
    // Units that arrive together share a message.
    assert_eq!(shop.merchant.scans(&[scan_for(&rma, "LP-3"), scan_for(&rma, "LP-4")]).await, ["received L1", "exception over_received"]);
    assert_eq!(shop.receives_summaries().await, ["rma.received CREATED: RECEIVED RECEIVED RECEIVED"]);
}

#[tokio::test]
async fn closing_with_a_part_refunded_is_a_partial_refund_until_the_rest_is() {
    let world = World::new().await;
    let shop = receiving_shop(&world).await;
    shop.merchant.sells("A-1", 3).await;
    let rma = shop.merchant.starts_a_return("A-1", 3).await;
    shop.merchant.receives_for(&rma, &["LP-1", "LP-2"]).await;
    let mut refunds = vec![plain_refund("F1", 1)];
    shop.merchant.publishes(&message([refunded(sold("A-1", 3), refunds.clone())])).await;
    assert_eq!(shop.merchant.closes_return(&rma).await.status, 200);
    for identifier in ["F2", "F3"] {
        refunds.push(plain_refund(identifier, 1));
        shop.merchant.publishes(&message([refunded(sold("A-1", 3), refunds.clone())])).await;
    }
    let expected = [
        "rma.created CREATED: PENDING PENDING PENDING",
        "rma.received CREATED: RECEIVED RECEIVED PENDING",
        "rma.refund_recorded CREATED: RECEIVED RECEIVED PENDING",
        "rma.partially_refunded PARTIAL_REFUND: RECEIVED RECEIVED NOT_RECEIVED",
        "rma.refund_recorded PARTIAL_REFUND: RECEIVED RECEIVED NOT_RECEIVED",
        "rma.refunded REFUNDED: RECEIVED RECEIVED NOT_RECEIVED",
    ];
    assert_eq!(shop.receives_summaries().await, expected);
}

#[tokio::test]
async fn without_the_switch_nothing_is_received() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.has_a_warehouse().await;
    shop.merchant.sells("A-1", 2).await;
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    shop.merchant.carrier_says(&rma, "label_issued").await;
    let summaries = shop.receives_summaries().await;
    assert_eq!(summaries, ["rma.created CREATED: null", "rma.tracking_updated CREATED: null"]);
    // The setting applies to returns that are started from then on.
    for managed_receiving in [false, true] {
        shop.merchant.has_policy(&Policy { managed_receiving, ..Policy::default() }).await;
        let mut by_number = scan_for(&rma, "LP-2");
        (by_number["rma_identifier"], by_number["tracking_number"]) = (Value::Null, format!("T-{rma}").into());
        let reply = shop.merchant.posts_receipts(&[scan_for(&rma, "LP-1"), by_number]).await;
        assert_eq!(reply.faults(), ["units[0].rma_identifier invalid", "units[1].tracking_number invalid"]);
        assert!(reply.text.contains("without managed receiving; receive the unit against an ASN"), "{}", reply.text);
        let reply = shop.merchant.closes_return(&rma).await;
        assert_eq!((reply.status.as_u16(), reply.text.contains("no units are received for this return")), (409, true), "{}", reply.text);
        assert_eq!(shop.merchant.expects("").await["items"], json!([]));
    }
    assert!(shop.receives_summaries().await.is_empty());
    assert!(shop.merchant.exceptions("").await.is_empty());
    let managed = shop.merchant.starts_a_return("A-1", 1).await;
    shop.merchant.receives_for(&managed, &["LP-1"]).await;
    assert_eq!(shop.receives_summaries().await, ["rma.created CREATED: PENDING", "rma.received CREATED: RECEIVED"]);
}

#[tokio::test]
async fn nothing_is_received_for_a_return_that_is_called_off() {
    let world = World::new().await;
    let shop = receiving_shop(&world).await;
    shop.merchant.sells("A-1", 1).await;
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    assert_eq!(shop.merchant.cancels(&rma).await.status, 200);
    shop.receives().await;
    assert_eq!(shop.merchant.scans(&[scan_for(&rma, "LP-1")]).await, ["exception canceled_return"]);
    assert_eq!(shop.merchant.closes_return(&rma).await.status, 409);
    assert!(shop.receives_summaries().await.is_empty());
    assert_eq!(shop.merchant.exceptions("").await, [format!("canceled_return {rma} LP-1 1 open")]);
}
