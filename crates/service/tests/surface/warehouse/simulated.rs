//! The simulated warehouse, working for a merchant.

use sandbox::warehouse::{Pallet, Tally, Trouble, Warehouse};
use serde_json::json;

use crate::world::{World, asn, drop_ship, units_of};

#[tokio::test]
async fn the_warehouse_plays_what_the_orders_say_until_nothing_is_left() {
    let world = World::new().await;
    let shop = world.drop_shipper("acme").await;
    let plays = ["", "SIM-PARTIAL", "SIM-SHORT", "SIM-CANCEL", "SIM-REJECT"];
    let orders = plays.iter().enumerate().map(|(at, word)| {
        // An identifier is one segment of a path, whatever it contains.
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
async fn the_warehouse_receives_with_the_mistakes_that_the_shipments_name() {
    let world = World::new().await;
    let yard = world.yard("acme").await;
    let plays = ["", "SIM-SHORT", "SIM-OVER", "SIM-UNEXPECTED"];
    let asns = plays.iter().enumerate().map(|(at, word)| {
        let mut asn = asn(&format!("A-{at}"), &[units_of("SHOE", 2)]);
        asn["shipment_identifier"] = format!("PO-1 {word}").into();
        asn
    });
    assert_eq!(yard.merchant.posts_asns(&asns.collect::<Vec<_>>()).await.status, 201);
    let warehouse = Warehouse::new(&world.base, &yard.merchant.client_id, &yard.merchant.client_secret).unwrap().receives_at("WH-1");
    assert_eq!(warehouse.work_off(5).await.unwrap(), Tally { received: 7, exceptions: 2, asns_closed: 4, ..Tally::default() });
    assert_eq!(yard.gets().await.len(), 7);
    let exceptions = yard.merchant.exceptions("").await;
    let kinds: Vec<&str> = exceptions.iter().map(|exception| exception.split(' ').next().unwrap()).collect();
    assert_eq!(kinds, ["over_received", "short", "unexpected_unit"]);
}

#[tokio::test]
async fn the_warehouse_sends_its_pallets_and_calls_off_what_it_was_told_to() {
    let world = World::new().await;
    let dock = world.dock("acme").await;
    let pallet = |(number, units): (&str, u32)| Pallet {
        number: number.to_owned(),
        from: "WH-1".to_owned(),
        vendor: 1,
        sku: "SHOE".to_owned(),
        units,
        ship_date: "2026-03-02T12:00:00Z".parse().unwrap(),
    };
    let pallets = [("P-1", 501), ("P-2-SIM-UNANNOUNCED", 2), ("P-3-SIM-CANCEL", 2)].map(pallet);
    let warehouse = Warehouse::new(&world.base, &dock.merchant.client_id, &dock.merchant.client_secret).unwrap().sends(pallets.to_vec());
    let done = warehouse.work_off(5).await.unwrap();
    let all = Tally { pallets_announced: 2, pallets_shipped: 2, pallets_delivered: 2, pallets_cancelled: 1, ..Tally::default() };
    assert_eq!(done, all);
    assert!(warehouse.work().await.unwrap().is_idle());
    let mut received = dock.receives_events().await;
    received.sort();
    assert_eq!(
        received,
        [
            "P-1_1 delivered 3",
            "P-1_1 pending 1",
            "P-1_1 shipped 2",
            "P-1_2 delivered 3",
            "P-1_2 pending 1",
            "P-1_2 shipped 2",
            "P-2-SIM-UNANNOUNCED delivered 2",
            "P-2-SIM-UNANNOUNCED shipped 1",
            "P-3-SIM-CANCEL canceled 2",
            "P-3-SIM-CANCEL pending 1",
        ]
    );
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
