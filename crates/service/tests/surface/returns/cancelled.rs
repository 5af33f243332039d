//! Cancelling a return, and requesting its message again.

use std::time::Duration;

use domain::returns::rma::policy::Policy;
use serde_json::{Value, json};

use crate::world::{World, mail_back, message, plain_refund, refund_for, refunded, reported, sold};

#[tokio::test]
async fn a_return_is_called_off_once_and_its_units_are_free_again() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 2).await;
    let rma = shop.merchant.starts_a_return("A-1", 2).await;
    shop.merchant.carrier_says(&rma, "label_issued").await;
    assert_eq!(shop.merchant.starts(&mail_back("A-1", 1)).await.status, 422);
    assert_eq!(shop.merchant.looks_at(&rma).await["can_cancel"], true);
    let reply = shop.merchant.cancels(&rma).await;
    let fields = [&reply.body["status"], &reply.body["cancel_reason"], &reply.body["can_cancel"], &reply.body["expires_at"]];
    assert_eq!((reply.status.as_u16(), fields), (200, [&json!("CANCELED"), &json!("canceled_by_merchant"), &json!(false), &Value::Null]));
    let again = shop.merchant.cancels(&rma).await;
    assert_eq!((again.status.as_u16(), again.text), (200, reply.text), "a repeat changes nothing");
    let received = shop.receives().await;
    let messages: Vec<_> = received.iter().map(|(event, body)| (event.as_str(), body["status"].as_str().unwrap())).collect();
    assert_eq!(messages, [("rma.created", "CREATED"), ("rma.tracking_updated", "CREATED"), ("rma.canceled", "CANCELED")]);
    let anew = shop.merchant.starts_a_return("A-1", 2).await;
    assert_ne!(anew, rma);

    // A cancelled return stays cancelled, whatever is reported on it.
    for event in ["label_issued", "in_transit", "delivered"] {
        assert_eq!(shop.merchant.carrier_says(&rma, event).await.body["result"], "unchanged", "{event}");
    }
    assert_eq!(shop.receives_events().await, ["rma.created"]);
    assert_eq!(shop.merchant.looks_at(&rma).await["status"], "CANCELED");
}

#[tokio::test]
async fn a_return_that_has_gone_on_is_not_called_off_and_says_why() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.has_policy(&Policy { managed_receiving: true, ..Policy::default() }).await;
    shop.merchant.has_a_warehouse().await;
    let refused = [
        ("dropped_off", "the carrier has accepted it. Refund it instead."),
        ("in_transit", "the carrier has scanned it. Refund it instead."),
        ("received", "a unit has been received. Refund it instead."),
        ("refunded in part", "a unit has been refunded."),
        ("refunded", "it has been refunded."),
    ];
    for (at, (what, why)) in refused.into_iter().enumerate() {
        let order = format!("A-{at}");
        shop.merchant.sells(&order, 2).await;
        let rma = shop.merchant.starts_a_return(&order, 2).await;
        shop.merchant.carrier_says(&rma, "label_issued").await;
        match what {
            "received" => shop.merchant.receives_for(&rma, &["LP-1"]).await,
            "refunded in part" => {
                let refund = plain_refund(&format!("F-{at}"), 1);
                shop.merchant.publishes(&message([refunded(sold(&order, 2), [refund])])).await;
            }
            "refunded" => {
                let refund = refund_for(&rma, &format!("F-{at}"), 2);
                shop.merchant.publishes(&message([refunded(sold(&order, 2), [refund])])).await;
            }
            event => drop(shop.merchant.carrier_says(&rma, event).await),
        }
        shop.receives().await;
        let before = shop.merchant.looks_at(&rma).await;
        let reply = shop.merchant.cancels(&rma).await;
        assert_eq!(reply.body["message"], format!("The return {rma} cannot be cancelled: {why}"), "{what}");
        assert_eq!((reply.status.as_u16(), &before["can_cancel"]), (409, &json!(false)), "{what}");
        assert_eq!((shop.merchant.looks_at(&rma).await, shop.receives_events().await), (before, vec![]), "{what}");
    }
}

#[tokio::test]
async fn what_was_left_out_of_a_drop_off_does_not_free_the_rest() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 2).await;
    let rma = shop.merchant.starts_a_return("A-1", 2).await;
    shop.merchant.carrier_says(&rma, "label_issued").await;
    let mut part = reported(&rma, "dropped_off");
    part["items"] = json!([{ "order_line_item_identifier": "L1", "quantity": 1 }]);
    assert_eq!(shop.merchant.carrier_reports(&part).await.status, 200);
    assert_eq!(shop.merchant.cancels(&rma).await.status, 409);
}

#[tokio::test]
async fn the_current_state_is_sent_again_as_a_new_message() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    shop.merchant.carrier_says(&rma, "label_issued").await;
    world.deliver_all_due().await;
    let before = shop.merchant.looks_at(&rma).await;
    world.time_passes(Duration::from_hours(1));
    assert_eq!(shop.merchant.asks_again_for(&rma).await.status, 202);
    let mut after = shop.merchant.looks_at(&rma).await;
    assert_eq!((&before["sequence"], &after["sequence"]), (&json!(2), &json!(3)));
    after["sequence"] = before["sequence"].clone();
    assert_eq!(after, before, "nothing else has changed");
    world.deliver_all_due().await;
    let received = shop.systems.received();
    let heads: Vec<_> = received.iter().map(|call| (call.header("x-service-event").unwrap(), call.sequence().unwrap())).collect();
    assert_eq!(heads, [("rma.created", 1), ("rma.tracking_updated", 2), ("rma.resent", 3)]);
    assert_eq!(received[2].body(), received[1].body(), "to the byte");
    assert_ne!(received[2].message_id(), received[1].message_id());

    // A settled return can be sent again, too.
    shop.merchant.publishes(&message([refunded(sold("A-1", 1), [refund_for(&rma, "F1", 1)])])).await;
    shop.receives().await;
    assert_eq!(shop.merchant.asks_again_for(&rma).await.status, 202);
    let (event, body) = shop.receives().await.remove(0);
    assert_eq!((event.as_str(), &body["status"]), ("rma.resent", &json!("REFUNDED")));
}
