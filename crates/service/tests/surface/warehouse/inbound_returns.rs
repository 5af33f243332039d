//! Returned units at the warehouse: with managed receiving, receipts move the return.

use domain::returns::rma::policy::Policy;
use serde_json::{Value, json};

use crate::world::{Merchant, Shop, World, Yard, asn, scan};

/// A merchant with endpoints for RMA messages and receipts, with managed receiving or without.
async fn place(world: &World, managed_receiving: bool) -> (Shop<'_>, Yard<'_>) {
    let shop = world.shop("acme").await;
    shop.merchant.has_policy(&Policy { managed_receiving, ..Policy::default() }).await;
    let merchant = Merchant {
        world,
        id: shop.merchant.id,
        client_id: shop.merchant.client_id.clone(),
        client_secret: shop.merchant.client_secret.clone(),
        token: shop.merchant.token.clone(),
    };
    let yard = world.yard_of(merchant).await;
    (shop, yard)
}

/// An ASN of one carton for the return.
fn returned(number: &str, rma: &str, lines: &[Value]) -> Value {
    let mut announced = asn(number, lines);
    announced["cartons"][0]["reference"] = json!({ "type": "RMA", "identifier": rma });
    announced
}

fn line(identifier: &str, reference_line: Option<&str>, quantity: u32) -> Value {
    json!({ "line_identifier": identifier, "sku": "SHOE-42", "reference_line_identifier": reference_line, "quantity": quantity })
}

fn on_line(number: &str, unit: &str, line: &str) -> Value {
    let mut scanned = scan(number, unit);
    scanned["line_identifier"] = line.into();
    scanned
}

/// The messages that arrived, as `event status: receiving of each unit`.
async fn receives_summaries(shop: &Shop<'_>) -> Vec<String> {
    let summary = |(event, body): (String, Value)| {
        let units = body["items"].as_array().unwrap().iter().map(|item| item["receiving_status"].as_str().unwrap_or("null"));
        format!("{event} {}: {}", body["status"].as_str().unwrap(), units.collect::<Vec<_>>().join(" "))
    };
    shop.receives().await.into_iter().map(summary).collect()
}

#[tokio::test]
async fn a_return_moves_with_its_receipts_and_is_closed_with_its_asn() {
    let world = World::new().await;
    let (shop, yard) = place(&world, true).await;
    shop.merchant.sells("O-1", 3).await;
    let rma = shop.merchant.starts_a_return("O-1", 3).await;
    assert_eq!(receives_summaries(&shop).await, ["rma.created CREATED: PENDING PENDING PENDING"]);
    assert_eq!(yard.merchant.posts_asns(&[returned("A-1", &rma, &[line("1", Some("L1"), 3)])]).await.status, 201);
    assert_eq!(yard.merchant.scans(&[on_line("A-1", "LP-1", "1")]).await, ["received 1"]);
    assert_eq!(receives_summaries(&shop).await, ["rma.received CREATED: RECEIVED PENDING PENDING"]);
    assert_eq!(yard.merchant.scans(&[on_line("A-1", "LP-1", "1")]).await, ["already_received 1"]);
    assert!(receives_summaries(&shop).await.is_empty(), "a repeat changes nothing");
    assert_eq!(yard.merchant.closes_asn("A-1").await.status, 200);
    assert_eq!(receives_summaries(&shop).await, ["rma.receiving_closed CREATED: RECEIVED NOT_RECEIVED NOT_RECEIVED"]);
    // They arrive late, and share one message about the return.
    assert_eq!(yard.merchant.scans(&[on_line("A-1", "LP-2", "1"), on_line("A-1", "LP-3", "1")]).await.len(), 2);
    assert_eq!(receives_summaries(&shop).await, ["rma.received CREATED: RECEIVED RECEIVED RECEIVED"]);
    assert_eq!(yard.receives_events().await, ["LP-1 1", "LP-2 1", "LP-3 1"]);
}

#[tokio::test]
async fn a_rejected_unit_is_told_and_moves_no_return() {
    let world = World::new().await;
    let (shop, yard) = place(&world, true).await;
    shop.merchant.sells("O-1", 1).await;
    let rma = shop.merchant.starts_a_return("O-1", 1).await;
    yard.merchant.posts_asns(&[returned("A-1", &rma, &[line("1", Some("L1"), 1)])]).await;
    shop.receives().await;
    let mut rejected = on_line("A-1", "LP-1", "1");
    rejected["reject_reason"] = "COUNTERFEIT".into();
    assert_eq!(yard.merchant.scans(&[rejected]).await, ["received 1"]);
    assert!(receives_summaries(&shop).await.is_empty());
    assert_eq!(yard.gets().await[0].json()["reject_reason"], "COUNTERFEIT");
}

#[tokio::test]
async fn a_return_that_is_not_received_here_or_is_called_off_leaves_the_receipt_alone() {
    let world = World::new().await;
    let (shop, yard) = place(&world, false).await;
    shop.merchant.sells("O-1", 2).await;
    let unmanaged = shop.merchant.starts_a_return("O-1", 1).await;
    let cancelled = shop.merchant.starts_a_return("O-1", 1).await;
    assert_eq!(shop.merchant.cancels(&cancelled).await.status, 200);
    shop.receives().await;
    let asns = [("A-1", unmanaged.as_str()), ("A-2", cancelled.as_str()), ("A-3", "R-2222-2222")];
    for (number, rma) in asns {
        assert_eq!(yard.merchant.posts_asns(&[returned(number, rma, &[line("1", Some("L1"), 1)])]).await.status, 201);
        assert_eq!(yard.merchant.scans(&[on_line(number, number, "1")]).await, ["received 1"]);
        assert_eq!(yard.merchant.closes_asn(number).await.status, 200);
    }
    assert!(receives_summaries(&shop).await.is_empty());
    assert_eq!(yard.receives_events().await, ["A-1 1", "A-2 1", "A-3 1"]);
}

#[tokio::test]
async fn a_return_in_two_asns_waits_for_both() {
    let world = World::new().await;
    let (shop, yard) = place(&world, true).await;
    shop.merchant.sells("O-1", 2).await;
    let rma = shop.merchant.starts_a_return("O-1", 2).await;
    for number in ["A-1", "A-2"] {
        // Without a line reference, the SKU identifies the unit.
        assert_eq!(yard.merchant.posts_asns(&[returned(number, &rma, &[line("1", None, 1)])]).await.status, 201);
    }
    shop.receives().await;
    assert_eq!(yard.merchant.closes_asn("A-1").await.status, 200);
    assert!(receives_summaries(&shop).await.is_empty(), "the other ASN is still expected");
    let sku = shop.merchant.looks_at(&rma).await["items"][0]["sku"].as_str().unwrap().to_owned();
    let mut unit = on_line("A-2", "LP-1", "1");
    unit["sku"] = sku.into();
    assert_eq!(yard.merchant.scans(&[unit]).await, ["received 1"]);
    assert_eq!(yard.merchant.closes_asn("A-2").await.status, 200);
    let expected = ["rma.received CREATED: RECEIVED PENDING", "rma.receiving_closed CREATED: RECEIVED NOT_RECEIVED"];
    assert_eq!(receives_summaries(&shop).await, expected);
}
