//! Concurrent reports on the same drop-ship order: no unit leaves twice, and no message is sent twice.

use futures::future::join_all;
use serde_json::json;

use crate::world::{World, cancelled_items, drop_ship, shipment};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_50_who_ship_or_cancel_the_last_unit_one_does() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.has_shipped("A-1", &[1]).await;
    let (merchant, reason) = (&merchant, json!({ "reject_reason": "damaged" }));
    let report = |at: usize| {
        let reason = reason.clone();
        async move {
            match at % 2 {
                0 => merchant.warehouse_reports("A-1", "ship", &shipment(&format!("S{at}"), &[("L1", 1)])).await,
                _ if at % 10 == 1 => merchant.warehouse_reports("A-1", "reject", &reason).await,
                _ => merchant.warehouse_reports("A-1", "cancel_items", &cancelled_items(&format!("C{at}"), &[("L1", 1)])).await,
            }
        }
    };
    let replies = join_all((0..50).map(report)).await;
    let count = |status: u16| replies.iter().filter(|reply| reply.status == status).count();
    // A rejection of an order that is already rejected succeeds and changes nothing.
    let rejected = merchant.looks_at_drop_ship("A-1").await["order"]["status"] == "rejected";
    assert_eq!((count(200), count(409)), if rejected { (5, 45) } else { (1, 49) });
    assert_eq!(world.database.count("message").await, 1);
    let units = merchant.looks_at_drop_ship("A-1").await["units"][0].clone();
    assert_eq!(units["shipped_quantity"].as_u64().unwrap() + units["cancelled_quantity"].as_u64().unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shipment_that_is_reported_50_times_at_once_leaves_once() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.has_shipped("A-1", &[50]).await;
    let report = shipment("S1", &[("L1", 1)]);
    let replies = join_all((0..50).map(|_| merchant.warehouse_reports("A-1", "ship", &report))).await;
    assert!(replies.iter().all(|reply| reply.status == 200));
    assert_eq!((world.database.count("drop_shipment").await, world.database.count("message").await), (1, 1));
    assert_eq!(merchant.looks_at_drop_ship("A-1").await["units"][0]["shipped_quantity"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_with_the_same_orders_in_any_order_are_taken_once() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut orders: Vec<_> = (0..20).map(|at| drop_ship(&format!("A-{at}"), &[1])).collect();
    let forwards = json!({ "drop_ship_orders": orders });
    orders.reverse();
    let backwards = json!({ "drop_ship_orders": orders });
    let replies = join_all((0..20).map(|at| merchant.gives(if at % 2 == 0 { &forwards } else { &backwards }))).await;
    let count = |status: u16| replies.iter().filter(|reply| reply.status == status).count();
    assert_eq!((count(201), count(200)), (1, 19));
    assert_eq!((world.database.count("drop_ship_order").await, world.database.count("drop_ship_item").await), (20, 20));
}
