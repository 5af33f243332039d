//! The simulated warehouse, at work for a merchant.

use sandbox::warehouse::{Tally, Trouble, Warehouse};
use serde_json::json;

use crate::world::{World, drop_ship};

#[tokio::test]
async fn the_warehouse_plays_what_the_orders_say_until_nothing_is_left() {
    let world = World::new().await;
    let shop = world.drop_shipper("acme").await;
    let plays = ["", "SIM-PARTIAL", "SIM-SHORT", "SIM-CANCEL", "SIM-REJECT"];
    let orders = plays.iter().enumerate().map(|(at, word)| {
        // A name is one step of a path, whatever is in it.
        let mut order = drop_ship(&format!("A/{at} é"), &[2, 1]);
        order["comments"] = (*word).into();
        order
    });
    assert_eq!(shop.merchant.gives(&json!({ "drop_ship_orders": orders.collect::<Vec<_>>() })).await.status, 201);
    let warehouse = Warehouse::new(&world.base, &shop.merchant.client_id, &shop.merchant.client_secret).unwrap();
    let done = warehouse.work_off(5).await.unwrap();
    assert_eq!(done, Tally { shipments: 4, items_cancelled: 1, cancelled: 1, rejected: 1, ..Tally::default() });
    assert!(warehouse.work().await.unwrap().is_idle());
    let mut events: Vec<String> = shop.receives().await.iter().map(|one| one.header("x-service-event").unwrap().to_owned()).collect();
    events.sort();
    let confirmed = "drop_shipment.confirmed";
    let others = ["drop_shipment.partially_cancelled", "drop_shipment.rejected"];
    assert_eq!(events, [&["drop_shipment.cancelled", confirmed, confirmed, confirmed, confirmed][..], &others].concat());
}

#[tokio::test]
async fn a_warehouse_with_a_wrong_secret_hears_so_and_one_whose_token_is_over_gets_another() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let wrong = Warehouse::new(&world.base, &merchant.client_id, "wrong").unwrap();
    assert!(matches!(wrong.work().await, Err(Trouble::Refused { status: 401, .. })));
    let warehouse = Warehouse::new(&world.base, &merchant.client_id, &merchant.client_secret).unwrap();
    assert!(warehouse.work().await.unwrap().is_idle());
    merchant.has_shipped("A-1", &[1]).await;
    world.time_passes(std::time::Duration::from_secs(90_001));
    assert_eq!(warehouse.work().await.unwrap().shipments, 1);
}
