//! Many concurrent callers on returns: nothing is lost, nothing is done twice, and messages are in order.

use std::time::Duration;

use futures::future::join_all;
use sandbox::merchant::Answer;
use serde_json::json;

use crate::world::receiver::PATH;
use crate::world::{World, mail_back, message, refund_for, refunded, reported, sold};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scan_that_races_with_its_label_is_never_lost() {
    const RETURNS: u32 = 30;
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", RETURNS).await;
    let mut started = Vec::new();
    for _ in 0..RETURNS {
        started.push(shop.merchant.starts_a_return("A-1", 1).await);
    }
    shop.receives().await;
    join_all(started.iter().enumerate().map(|(at, rma)| {
        let merchant = &shop.merchant;
        let label = json!({
            "event": "label_issued", "rma_identifier": rma, "tracking_number": format!("T-{rma}"), "occurred_at": "2026-03-01T12:00:00Z",
        });
        let mut scan = reported(rma, "in_transit");
        if at % 3 > 0 {
            scan = json!({ "event": "in_transit", "tracking_number": format!("T-{rma}"), "occurred_at": "2026-03-01T12:00:00Z" });
        }
        async move {
            let labelling = async { assert_eq!(merchant.carrier_reports(&label).await.status, 200) };
            let scanning = async { assert!(merchant.carrier_reports(&scan).await.status.is_success()) };
            if at % 2 == 0 { tokio::join!(labelling, scanning) } else { tokio::join!(scanning, labelling) }
        }
    }))
    .await;
    let received = shop.receives().await;
    for rma in &started {
        let of_it = received.iter().filter(|(_, body)| body["rma_identifier"] == json!(rma));
        let statuses: Vec<_> = of_it.map(|(_, body)| body["items"][0]["package_tracking_status"].as_str().unwrap()).collect();
        assert_eq!(statuses, ["PRE_TRANSIT", "TRANSIT"], "{rma}");
    }
    assert_eq!(world.database.count("carrier_event").await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_unit_is_in_one_return_however_many_ask_for_it() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 5).await;
    let wanted = mail_back("A-1", 2);
    let replies = join_all((0..20).map(|_| shop.merchant.starts(&wanted))).await;
    let count = |status: u16| replies.iter().filter(|reply| reply.status == status).count();
    assert_eq!((count(201), count(422)), (2, 18));
    assert_eq!(world.database.count("unit_claim").await, 4);
    assert_eq!(shop.receives_events().await, ["rma.created"; 2]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refund_and_a_cancellation_at_once_leave_one_end() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    for round in 0..10 {
        let order = format!("A-{round}");
        shop.merchant.sells(&order, 1).await;
        let rma = shop.merchant.starts_a_return(&order, 1).await;
        let refund = message([refunded(sold(&order, 1), [refund_for(&rma, &format!("F-{round}"), 1)])]);
        let (refunding, cancelling) = tokio::join!(shop.merchant.publishes(&refund), shop.merchant.cancels(&rma));
        let (status, refused) = (shop.merchant.looks_at(&rma).await["status"].clone(), cancelling.status == 409);
        assert_eq!(status, if refused { "REFUNDED" } else { "CANCELED" });
        assert_eq!(refunding.warnings().len(), usize::from(!refused), "a refund for a cancelled return gets a warning");
        assert_eq!(shop.receives_events().await, ["rma.created", if refused { "rma.refunded" } else { "rma.canceled" }]);
    }
}

#[tokio::test]
async fn changes_within_a_second_arrive_in_order_and_each_as_it_was() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    shop.systems.answer_next(PATH, [Answer::status(500)]);
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    world.deliver_all_due().await;
    world.time_passes(Duration::from_millis(200));
    shop.merchant.carrier_says(&rma, "label_issued").await;
    world.time_passes(Duration::from_millis(200));
    shop.merchant.carrier_says(&rma, "in_transit").await;
    world.time_passes(Duration::from_millis(200));
    shop.merchant.publishes(&message([refunded(sold("A-1", 1), [refund_for(&rma, "F1", 1)])])).await;
    world.deliver_all_due().await;
    assert_eq!(shop.systems.count(), 1, "no message overtakes a failed one");
    world.time_passes(Duration::from_millis(5_500));
    world.deliver_all_due().await;
    let received = shop.systems.received();
    let messages = received.iter().map(|call| {
        let body = call.json();
        let parcel = body["items"][0]["package_tracking_status"].as_str().unwrap_or("null");
        let status = body["status"].as_str().unwrap();
        format!("{} {} {status} {parcel} {}", call.sequence().unwrap(), call.attempt().unwrap(), body["updated_at"].as_str().unwrap())
    });
    let expected = [
        "1 1 CREATED null 2026-03-01T12:00:00Z",
        "1 2 CREATED null 2026-03-01T12:00:00Z",
        "2 1 CREATED PRE_TRANSIT 2026-03-01T12:00:00.200Z",
        "3 1 CREATED TRANSIT 2026-03-01T12:00:00.400Z",
        "4 1 REFUNDED TRANSIT 2026-03-01T12:00:00.600Z",
    ];
    assert_eq!(messages.collect::<Vec<_>>(), expected);
    assert_eq!(received[0].body(), received[1].body());
}
