//! Refunds that name the wrong return, or the right one late, and orders that change during a return.

use serde_json::json;

use crate::world::{World, message, plain_refund, refund_for, sold};

const NAMED: &str = "returns_portal_order.orders[0].refunds[0].rma_identifier";

#[tokio::test]
async fn a_return_that_is_not_the_orders_is_warned_about_and_treated_as_none() {
    let world = World::new().await;
    let (shop, other) = (world.shop("acme").await, world.merchant("bolt").await);
    for order in ["A-1", "A-2"] {
        shop.merchant.sells(order, 8).await;
    }
    other.sells("A-1", 1).await;
    let cancelled = shop.merchant.starts_a_return("A-1", 1).await;
    assert_eq!(shop.merchant.cancels(&cancelled).await.status, 200);
    let rma = shop.merchant.starts_a_return("A-1", 5).await;
    let of_another_order = shop.merchant.starts_a_return("A-2", 1).await;
    let of_another_merchant = other.starts_a_return("A-1", 1).await;
    shop.receives().await;
    let mut refunds = Vec::new();
    for (at, name) in ["R-2222-2222", "RMA 17", &of_another_order, &of_another_merchant, &cancelled].into_iter().enumerate() {
        refunds.insert(0, refund_for(name, &format!("F{at}"), 1));
        assert_eq!(shop.refunds(8, &refunds).await, [NAMED], "{name}");
        let last = if at == 4 { "rma.refunded" } else { "rma.refund_recorded" };
        assert_eq!(shop.receives_events().await, [last], "{name}");
        assert_eq!(shop.refunds(8, &refunds).await, Vec::<String>::new(), "a repeat causes no warning");
        assert_eq!(shop.receives_events().await, Vec::<String>::new());
    }
    assert_eq!(shop.stands(&rma).await, "REFUNDED: F0 F1 F2 F3 F4");
    assert_eq!((shop.stands(&of_another_order).await, shop.stands(&cancelled).await), ("CREATED: -".to_owned(), "CANCELED: -".to_owned()));
    assert_eq!(other.looks_at(&of_another_merchant).await["status"], "CREATED");
}

#[tokio::test]
async fn a_return_that_is_named_late_is_settled_by_what_was_refunded_outside() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 3).await;
    // The refund comes before the return; the shopper returns the rest.
    shop.refunds(3, &[plain_refund("F1", 1)]).await;
    let rma = shop.merchant.starts_a_return("A-1", 2).await;
    shop.receives().await;
    assert_eq!(shop.refunds(3, &[refund_for(&rma, "F1", 1)]).await, Vec::<String>::new());
    assert_eq!((shop.stands(&rma).await.as_str(), shop.receives_events().await), ("CREATED: F1 -", vec!["rma.refund_recorded".to_owned()]));
    assert_eq!(shop.refunds(3, &[refund_for(&rma, "F1", 1)]).await, Vec::<String>::new());
    assert_eq!(shop.receives_events().await, Vec::<String>::new(), "once");
}

#[tokio::test]
async fn a_return_that_is_named_after_its_refund_has_settled_it_is_no_news() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 2).await;
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    shop.refunds(2, &[plain_refund("F1", 1)]).await;
    assert_eq!(shop.receives_events().await, ["rma.created", "rma.refunded"]);
    assert_eq!(shop.refunds(2, &[refund_for(&rma, "F1", 1)]).await, Vec::<String>::new());
    assert_eq!((shop.stands(&rma).await.as_str(), shop.receives_events().await), ("REFUNDED: F1", vec![]));
}

#[tokio::test]
async fn an_order_that_is_cancelled_or_reduced_under_a_return_is_warned_about_and_the_return_stays() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let mut returns = Vec::new();
    for order in ["A-1", "A-2", "A-3", "A-4"] {
        shop.merchant.sells(order, 3).await;
        returns.push(shop.merchant.starts_a_return(order, 2).await);
    }
    shop.receives().await;
    let later = |identifier: &str| {
        let mut order = sold(identifier, 3);
        order["updated_at"] = "2026-03-01T12:00:00Z".into();
        order
    };
    let mut cancelled = later("A-1");
    cancelled["status"] = "Cancelled".into();
    let mut reduced = later("A-2");
    reduced["items"][0]["quantity_shipped"] = 1.into();
    reduced["items"][0]["product_amount_cents"] = 5_000.into();
    for name in ["product_amount_cents", "total_amount_cents"] {
        reduced[name] = (reduced[name].as_i64().unwrap() - 10_000).into();
    }
    let mut enough = later("A-3");
    enough["raw_status"] = "REVIEWED".into();
    let mut gone = later("A-4");
    gone["items"][0]["identifier"] = "L9".into();
    let reply = shop.merchant.publishes(&message([cancelled, reduced, enough, gone])).await;
    assert_eq!(reply.results(), ["updated"; 4]);
    let at = |end: &str| format!("returns_portal_order.orders{end}");
    assert_eq!(reply.warnings(), [at("[0].status"), at("[1].items[0].quantity_shipped"), at("[3].items")]);
    assert_eq!(
        reply.body["warnings"][0]["message"],
        json!("the order is cancelled although units of it are being returned; the return is not affected")
    );
    for rma in &returns {
        assert_eq!(shop.stands(rma).await, "CREATED: - -");
        shop.merchant.carrier_says(rma, "label_issued").await;
    }
    assert_eq!(shop.receives_events().await, ["rma.tracking_updated"; 4]);
}
