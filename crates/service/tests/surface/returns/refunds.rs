//! Refunds find their return, whichever way they arrive.

use std::time::Duration;

use serde_json::{Value, json};

use crate::world::{Shop, World, message, plain_refund, refund_for, refunded, sold};

impl Shop<'_> {
    /// A return as `status: refund of each unit`.
    pub async fn stands(&self, rma: &str) -> String {
        let body = self.merchant.looks_at(rma).await;
        let units = body["items"].as_array().unwrap().iter().map(|item| item["refund_identifier"].as_str().unwrap_or("-"));
        format!("{}: {}", body["status"].as_str().unwrap(), units.collect::<Vec<_>>().join(" "))
    }

    /// Publishes the order `A-1` of `quantity` units with these refunds, and returns the warnings.
    pub async fn refunds(&self, quantity: u32, refunds: &[Value]) -> Vec<String> {
        let reply = self.merchant.publishes(&message([refunded(sold("A-1", quantity), refunds.to_vec())])).await;
        reply.warnings().into_iter().map(ToOwned::to_owned).collect()
    }
}

#[tokio::test]
async fn a_refund_that_names_its_return_settles_that_one() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 4).await;
    let (first, second) = (shop.merchant.starts_a_return("A-1", 2).await, shop.merchant.starts_a_return("A-1", 2).await);
    shop.receives().await;
    // The identifier as people type it.
    let named = refund_for(&second.to_lowercase().replace('-', ""), "F1", 2);
    assert_eq!(shop.refunds(4, &[named]).await, Vec::<String>::new());
    assert_eq!((shop.stands(&first).await, shop.stands(&second).await), ("CREATED: - -".to_owned(), "REFUNDED: F1 F1".to_owned()));
    assert_eq!(shop.receives_events().await, ["rma.refunded"]);
}

#[tokio::test]
async fn a_refund_that_names_none_settles_the_oldest_return_that_has_its_units() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 9).await;
    let mut started = Vec::new();
    for units in [1, 3, 3] {
        started.push(shop.merchant.starts_a_return("A-1", units).await);
        world.time_passes(Duration::from_millis(1));
    }
    shop.receives().await;
    let mut refunds = Vec::new();
    let steps: [(u32, [&str; 3], &[&str]); 4] = [
        (3, ["CREATED: -", "REFUNDED: F0 F0 F0", "CREATED: - - -"], &["rma.refunded"]),
        (1, ["REFUNDED: F1", "REFUNDED: F0 F0 F0", "CREATED: - - -"], &["rma.refunded"]),
        (2, ["REFUNDED: F1", "REFUNDED: F0 F0 F0", "CREATED: F2 F2 -"], &["rma.refund_recorded"]),
        (3, ["REFUNDED: F1", "REFUNDED: F0 F0 F0", "REFUNDED: F2 F2 F3"], &["rma.refunded"]),
    ];
    for (at, (units, stand, events)) in steps.into_iter().enumerate() {
        refunds.push(plain_refund(&format!("F{at}"), units));
        assert_eq!(shop.refunds(9, &refunds).await, Vec::<String>::new());
        for (rma, stands) in started.iter().zip(stand) {
            assert_eq!(shop.stands(rma).await, stands, "after F{at}");
        }
        assert_eq!(shop.receives_events().await, events, "after F{at}");
    }
    let left = shop.merchant.asks_what_can_come_back("A-1").await;
    assert_eq!(left["items"][0]["returnable"], 0, "two of the last were refunded outside of any return");
}

#[tokio::test]
async fn a_refund_of_a_part_is_told_and_the_rest_settles_the_return_once() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 3).await;
    let rma = shop.merchant.starts_a_return("A-1", 3).await;
    shop.receives().await;
    let refunds = [refund_for(&rma, "F1", 1), refund_for(&rma, "F2", 1), refund_for(&rma, "F3", 1)];
    for (count, event, status) in
        [(1, "rma.refund_recorded", "CREATED"), (2, "rma.refund_recorded", "CREATED"), (3, "rma.refunded", "REFUNDED")]
    {
        for repeat in [false, true] {
            assert_eq!(shop.refunds(3, &refunds[..count]).await, Vec::<String>::new());
            let received = shop.receives().await;
            let messages: Vec<_> = received.iter().map(|(event, body)| (event.as_str(), body["status"].as_str().unwrap())).collect();
            assert_eq!(messages, if repeat { vec![] } else { vec![(event, status)] });
        }
    }
    assert_eq!(shop.stands(&rma).await, "REFUNDED: F1 F2 F3");
}

#[tokio::test]
async fn two_refunds_in_one_message_are_told_one_by_one() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 4).await;
    let rma = shop.merchant.starts_a_return("A-1", 2).await;
    shop.receives().await;
    assert_eq!(shop.refunds(4, &[refund_for(&rma, "F2", 1), refund_for(&rma, "F1", 1)]).await, Vec::<String>::new());
    assert_eq!(
        (shop.stands(&rma).await.as_str(), shop.receives_events().await),
        ("REFUNDED: F1 F2", vec!["rma.refund_recorded".to_owned(), "rma.refunded".to_owned(),])
    );
}

#[tokio::test]
async fn units_that_were_refunded_outside_of_any_return_cannot_come_back() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 3).await;
    assert_eq!(shop.refunds(3, &[plain_refund("F1", 2)]).await, Vec::<String>::new());
    let line = &shop.merchant.asks_what_can_come_back("A-1").await["items"][0];
    assert_eq!((&line["returnable"], &line["held"][0]["reason"]), (&json!(1), &json!("refunded")));
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    assert_eq!((shop.stands(&rma).await.as_str(), shop.receives_events().await), ("CREATED: -", vec!["rma.created".to_owned()]));
    assert_eq!(shop.refunds(3, &[plain_refund("F1", 2), plain_refund("F2", 1)]).await, Vec::<String>::new());
    assert_eq!(shop.stands(&rma).await, "REFUNDED: F2");
}

#[tokio::test]
async fn whoever_refunds_before_the_scan_still_hears_where_the_goods_are() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    shop.refunds(1, &[refund_for(&rma, "F1", 1)]).await;
    for event in ["label_issued", "in_transit", "delivered"] {
        shop.merchant.carrier_says(&rma, event).await;
    }
    let received = shop.receives().await;
    let messages = received.iter().map(|(event, body)| {
        let parcel = body["items"][0]["package_tracking_status"].as_str().unwrap_or("null");
        format!("{event} {} {parcel}", body["status"].as_str().unwrap())
    });
    let expected = [
        "rma.created CREATED null",
        "rma.refunded REFUNDED null",
        "rma.tracking_updated REFUNDED PRE_TRANSIT",
        "rma.tracking_updated REFUNDED TRANSIT",
        "rma.tracking_updated REFUNDED DELIVERED",
    ];
    assert_eq!(messages.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn a_stale_snapshot_still_brings_its_refunds_and_settles() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    shop.receives().await;
    let mut stale = refunded(sold("A-1", 1), [plain_refund("F1", 1)]);
    stale["updated_at"] = "2026-01-05T11:00:00Z".into();
    let reply = shop.merchant.publishes(&message([stale.clone()])).await;
    assert_eq!((reply.results(), shop.stands(&rma).await.as_str()), (vec!["stale"], "REFUNDED: F1"));
    assert_eq!(shop.merchant.publishes(&message([stale])).await.results(), ["stale"]);
    assert_eq!(shop.receives_events().await, ["rma.refunded"]);
}

#[tokio::test]
async fn a_message_that_is_only_checked_settles_and_tells_nothing() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    shop.receives().await;
    let checked = |name: &str| message([refunded(sold("A-1", 1), [refund_for(name, "F1", 1)])]);
    assert_eq!(shop.merchant.checks(&checked(&rma)).await.warnings(), Vec::<&str>::new());
    let unknown = shop.merchant.checks(&checked("R-2222-2222")).await;
    assert_eq!(unknown.warnings(), ["returns_portal_order.orders[0].refunds[0].rma_identifier"]);
    assert_eq!((shop.stands(&rma).await.as_str(), shop.receives_events().await), ("CREATED: -", vec![]));
    assert_eq!(world.owed().await, 0);
}

#[tokio::test]
async fn an_import_settles_returns_too() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    for order in ["A-1", "A-2"] {
        shop.merchant.sells(order, 2).await;
    }
    let (named, plain) = (shop.merchant.starts_a_return("A-1", 1).await, shop.merchant.starts_a_return("A-2", 2).await);
    shop.receives().await;
    let orders = [
        refunded(sold("A-1", 2), [refund_for(&named, "F1", 1)]),
        refunded(sold("A-2", 2), [plain_refund("F2", 1)]),
        // The same line again, and another order with a refund of the same identifier.
        refunded(sold("A-2", 2), [plain_refund("F2", 1)]),
        refunded(sold("A-3", 1), [plain_refund("F1", 1)]),
    ];
    let reply = shop.merchant.imports(&orders).await;
    assert_eq!((reply.status.as_u16(), &reply.body["refused"]), (200, &json!(0)), "{}", reply.text);
    assert_eq!((shop.stands(&named).await, shop.stands(&plain).await), ("REFUNDED: F1".to_owned(), "CREATED: F2 -".to_owned()));
    let mut events = shop.receives_events().await;
    events.sort_unstable();
    assert_eq!(events, ["rma.refund_recorded", "rma.refunded"]);
}
