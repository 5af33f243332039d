//! Receiving at the warehouse, for merchants with managed receiving.

use backhaul::flow::returns::receive_return::{ReceiveReturnError, close_receiving, receive_units};
use domain::returns::rma::Refused;
use domain::returns::rma::policy::Policy;
use serde_json::Value;

use crate::world::{Shop, World, message, plain_refund, refunded, sold};

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
    shop
}

#[tokio::test]
async fn a_unit_is_waited_for_then_received_or_not_and_may_come_late() {
    let world = World::new().await;
    let shop = receiving_shop(&world).await;
    shop.merchant.sells("A-1", 3).await;
    let rma = shop.merchant.starts_a_return("A-1", 3).await;
    assert_eq!(shop.receives_summaries().await, ["rma.created CREATED: PENDING PENDING PENDING"]);
    let receive = |units: &'static [usize]| receive_units(&world.app, shop.merchant.id, &rma, units);
    receive(&[0]).await.unwrap();
    assert_eq!(shop.receives_summaries().await, ["rma.received CREATED: RECEIVED PENDING PENDING"]);
    receive(&[0]).await.unwrap();
    assert!(shop.receives_summaries().await.is_empty(), "a repeat sends no message");
    close_receiving(&world.app, shop.merchant.id, &rma).await.unwrap();
    assert_eq!(shop.receives_summaries().await, ["rma.receiving_closed CREATED: RECEIVED NOT_RECEIVED NOT_RECEIVED"]);
    close_receiving(&world.app, shop.merchant.id, &rma).await.unwrap();
    assert!(shop.receives_summaries().await.is_empty(), "it is closed once");
    receive(&[2]).await.unwrap();
    assert_eq!(shop.receives_summaries().await, ["rma.received CREATED: RECEIVED NOT_RECEIVED RECEIVED"]);
    assert!(matches!(receive(&[3]).await, Err(ReceiveReturnError::Refused(Refused::NoSuchUnit(3)))));
    assert!(matches!(receive_units(&world.app, shop.merchant.id, "R-2222-2222", &[0]).await, Err(ReceiveReturnError::NoSuchReturn)));
}

#[tokio::test]
async fn closing_with_a_part_refunded_is_a_partial_refund_until_the_rest_is() {
    let world = World::new().await;
    let shop = receiving_shop(&world).await;
    shop.merchant.sells("A-1", 3).await;
    let rma = shop.merchant.starts_a_return("A-1", 3).await;
    receive_units(&world.app, shop.merchant.id, &rma, &[0, 1]).await.unwrap();
    let mut refunds = vec![plain_refund("F1", 1)];
    shop.merchant.publishes(&message([refunded(sold("A-1", 3), refunds.clone())])).await;
    close_receiving(&world.app, shop.merchant.id, &rma).await.unwrap();
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
    shop.merchant.sells("A-1", 2).await;
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    assert_eq!(shop.receives_summaries().await, ["rma.created CREATED: null"]);
    let received = receive_units(&world.app, shop.merchant.id, &rma, &[0]).await;
    assert!(matches!(received, Err(ReceiveReturnError::Refused(Refused::NotReceiving))));
    let closed = close_receiving(&world.app, shop.merchant.id, &rma).await;
    assert!(matches!(closed, Err(ReceiveReturnError::Refused(Refused::NotReceiving))));
    // The setting applies to returns that are started from then on.
    shop.merchant.has_policy(&Policy { managed_receiving: true, ..Policy::default() }).await;
    assert!(receive_units(&world.app, shop.merchant.id, &rma, &[0]).await.is_err());
    shop.merchant.starts_a_return("A-1", 1).await;
    assert_eq!(shop.receives_summaries().await, ["rma.created CREATED: PENDING"]);
}

#[tokio::test]
async fn nothing_is_received_for_a_return_that_is_called_off() {
    let world = World::new().await;
    let shop = receiving_shop(&world).await;
    shop.merchant.sells("A-1", 1).await;
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    assert_eq!(shop.merchant.cancels(&rma).await.status, 200);
    shop.receives().await;
    let received = receive_units(&world.app, shop.merchant.id, &rma, &[0]).await;
    assert!(matches!(received, Err(ReceiveReturnError::Refused(Refused::Cancelled))));
    assert!(shop.receives_summaries().await.is_empty());
}
