//! A refund is recorded once, however often it is sent.

use serde_json::{Value, json};

use crate::world::{Merchant, World, line, message, order, plain_refund, refund};

fn refunded(identifier: &str, updated_at: &str, refunds: &[Value]) -> Value {
    let mut order = order(identifier);
    order["updated_at"] = updated_at.into();
    order["refunds"] = refunds.into();
    order
}

async fn recorded(merchant: &Merchant<'_>, order: &str) -> Vec<(String, i64)> {
    let reply = merchant.looks_up(order).await;
    let refunds = reply.body["refunds"].as_array().unwrap().iter();
    refunds
        .map(|refund| (refund["identifier"].as_str().unwrap().to_owned(), refund["total_refund_amount_cents"].as_i64().unwrap()))
        .collect()
}

#[tokio::test]
async fn a_refund_is_recorded_with_everything_it_says() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.publishes(&message([refunded("1", "2026-02-01T10:00:00Z", &[refund("F1", 1)])])).await.results();
    let reply = merchant.looks_up("1").await;
    assert_eq!(
        reply.body["refunds"],
        json!([{
            "identifier": "F1",
            "total_refund_amount_cents": 5_400,
            "created_at": "2026-02-01T10:00:00Z",
            "note": "by card",
            "rma_identifier": "R-AAAA-BBBB",
            "refund_line_items": [{ "identifier": "F1-1", "quantity": 1, "order_item_identifier": "L1" }],
            "received_at": "2026-03-01T12:00:00Z",
        }])
    );
}

#[tokio::test]
async fn a_repeated_refund_has_one_effect() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    for day in 1..=3 {
        let updated_at = format!("2026-02-0{day}T10:00:00Z");
        merchant.publishes(&message([refunded("1", &updated_at, &[refund("F1", 1)])])).await.results();
    }
    assert_eq!(recorded(&merchant, "1").await, [("F1".to_owned(), 5_400)]);
    assert_eq!(world.metric("backhaul_refunds_recorded_total").await, 1);
}

#[tokio::test]
async fn a_refund_missing_from_a_later_snapshot_stays() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.publishes(&message([refunded("1", "2026-02-01T10:00:00Z", &[refund("F1", 1)])])).await.results();
    merchant.publishes(&message([refunded("1", "2026-02-02T10:00:00Z", &[])])).await.results();
    assert_eq!(recorded(&merchant, "1").await, [("F1".to_owned(), 5_400)]);
}

#[tokio::test]
async fn a_stale_snapshot_still_brings_refunds_not_seen_before() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.publishes(&message([refunded("1", "2026-02-02T10:00:00Z", &[refund("F2", 1)])])).await.results();
    let reply = merchant.publishes(&message([refunded("1", "2026-02-01T10:00:00Z", &[refund("F1", 1)])])).await;
    assert_eq!(reply.results(), ["stale"]);
    assert_eq!(recorded(&merchant, "1").await, [("F1".to_owned(), 5_400), ("F2".to_owned(), 5_400)]);
    assert_eq!(merchant.looks_up("1").await.body["order"]["updated_at"], "2026-02-02T10:00:00Z");
}

#[tokio::test]
async fn the_order_of_the_lines_is_no_difference() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let lines = [
        json!({ "identifier": "a", "quantity": 1, "order_item_identifier": "L1" }),
        json!({ "identifier": "b", "quantity": 1, "order_item_identifier": "L1" }),
    ];
    let mut refund = refund("F1", 2);
    refund["refund_line_items"] = json!([lines[0], lines[1]]);
    merchant.publishes(&message([refunded("1", "2026-02-01T10:00:00Z", std::slice::from_ref(&refund))])).await.results();
    refund["refund_line_items"] = json!([lines[1], lines[0]]);
    assert_eq!(merchant.publishes(&message([refunded("1", "2026-02-02T10:00:00Z", &[refund])])).await.results(), ["updated"]);
}

#[tokio::test]
async fn a_note_a_time_and_a_late_return_are_taken_over_and_another_return_is_warned_about() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let first = plain_refund("F1", 1);
    merchant.publishes(&message([refunded("1", "2026-02-01T10:00:00Z", &[first])])).await.results();

    let mut late = refund("F1", 1);
    late["note"] = "by voucher".into();
    late["created_at"] = "2026-02-01T11:00:00.000+01:00".into();
    let reply = merchant.publishes(&message([refunded("1", "2026-02-02T10:00:00Z", &[late])])).await;
    let at = "returns_portal_order.orders[0].refunds[0]";
    assert_eq!(reply.warnings(), [format!("{at}.rma_identifier")], "there is no such return, and the time is only written differently");
    let refund_out = merchant.looks_up("1").await.body["refunds"][0].clone();
    assert_eq!((&refund_out["note"], &refund_out["rma_identifier"]), (&json!("by voucher"), &json!("R-AAAA-BBBB")));

    let mut other = refund("F1", 1);
    other["rma_identifier"] = "R-ZZZZ-ZZZZ".into();
    other["created_at"] = "2026-02-05T10:00:00Z".into();
    let reply = merchant.publishes(&message([refunded("1", "2026-02-03T10:00:00Z", &[other])])).await;
    assert_eq!(reply.warnings(), [format!("{at}.rma_identifier")]);
    let refund_out = merchant.looks_up("1").await.body["refunds"][0].clone();
    assert_eq!((&refund_out["created_at"], &refund_out["rma_identifier"]), (&json!("2026-02-05T10:00:00Z"), &json!("R-AAAA-BBBB")));
}

#[tokio::test]
async fn merchants_may_use_the_same_refund_identifiers() {
    let world = World::new().await;
    let (acme, zeta) = (world.merchant("acme").await, world.merchant("zeta").await);
    for (merchant, identifier) in [(&acme, "1"), (&zeta, "2")] {
        let reply = merchant.publishes(&message([refunded(identifier, "2026-02-01T10:00:00Z", &[refund("F1", 1)])])).await;
        assert_eq!(reply.results(), ["created"]);
        assert_eq!(recorded(merchant, identifier).await, [("F1".to_owned(), 5_400)]);
    }
}

#[tokio::test]
async fn a_refund_may_cover_no_units_at_all() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut goodwill = refund("F1", 1);
    goodwill["refund_line_items"] = json!([]);
    goodwill["total_refund_amount_cents"] = json!(500);
    goodwill.as_object_mut().unwrap().retain(|name, _| name != "note" && name != "rma_identifier");
    assert_eq!(merchant.publishes(&message([refunded("1", "2026-02-01T10:00:00Z", &[goodwill])])).await.results(), ["created"]);
    assert_eq!(recorded(&merchant, "1").await, [("F1".to_owned(), 500)]);
}

#[tokio::test]
async fn a_refund_may_carry_any_date() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    for (identifier, date, warned) in
        [("1", "2031-01-01T00:00:00Z", false), ("2", "2026-02-01", false), ("3", "1999-12-31T00:00:00Z", true)]
    {
        let mut dated = plain_refund(&format!("F{identifier}"), 1);
        dated["created_at"] = date.into();
        let reply = merchant.publishes(&message([refunded(identifier, "2026-02-01T10:00:00Z", &[dated])])).await;
        assert_eq!(reply.results(), ["created"]);
        assert_eq!(!reply.warnings().is_empty(), warned, "{date}");
    }
}

#[tokio::test]
async fn a_full_refund_leaves_the_order_shipped_and_adds_up() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut full = plain_refund("F1", 2);
    full["total_refund_amount_cents"] = json!(10_800);
    let mut sent = refunded("1", "2026-02-01T10:00:00Z", &[full]);
    sent["items"] = json!([line("L1", 2)]);
    let reply = merchant.publishes(&message([sent])).await;
    assert!(reply.warnings().is_empty(), "{}", reply.text);
    assert_eq!(merchant.looks_up("1").await.body["order"]["status"], "Shipped");
}
