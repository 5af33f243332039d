//! Refunds that merchants correct, repeat or state in ways that do not add up: they are taken with a warning, and nothing is
//! returnable or refunded twice.

use domain::returns::rma::policy::{Policy, RefundCloses};
use serde_json::{Value, json};

use crate::world::{Shop, World, line, message, plain_refund, refund_for, refunded, sold};

const REFUND: &str = "returns_portal_order.orders[0].refunds[0]";

/// Refunds of `A-1` with two lines, `L1` and `L2`, of two units each.
fn two_lines(refunds: &[Value]) -> Value {
    let mut order = refunded(sold("A-1", 2), refunds.to_vec());
    order["items"].as_array_mut().unwrap().push(line("L2", 2));
    order["items"][1]["shipped_date"] = "2026-02-19T09:00:00Z".into();
    for (field, more) in [("total_amount_cents", 10_800), ("product_amount_cents", 10_000), ("tax_amount_cents", 800)] {
        order[field] = (order[field].as_i64().unwrap() + more).into();
    }
    order
}

/// A refund line.
fn units(identifier: &str, order_line: &str, quantity: u32) -> Value {
    json!({ "identifier": identifier, "order_item_identifier": order_line, "quantity": quantity })
}

fn with_lines(mut refund: Value, lines: &[Value]) -> Value {
    refund["refund_line_items"] = lines.into();
    refund
}

impl Shop<'_> {
    /// Publishes an order and returns the fields and texts of the warnings.
    async fn publishes(&self, order: Value) -> Vec<(String, String)> {
        let reply = self.merchant.publishes(&message([order])).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        let text = |warning: &Value, name: &str| warning[name].as_str().unwrap().to_owned();
        let warnings = reply.body["warnings"].as_array().unwrap().iter();
        warnings.map(|warning| (text(warning, "field"), text(warning, "message"))).collect()
    }

    async fn returnable(&self, line: usize) -> u64 {
        self.merchant.asks_what_can_come_back("A-1").await["items"][line]["returnable"].as_u64().unwrap()
    }
}

fn fields(warnings: &[(String, String)]) -> Vec<&str> {
    warnings.iter().map(|(field, _)| field.as_str()).collect()
}

#[tokio::test]
async fn a_refund_that_names_the_return_without_lines_settles_it_with_a_warning() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 3).await;
    let (rma, other) = (shop.merchant.starts_a_return("A-1", 2).await, shop.merchant.starts_a_return("A-1", 1).await);
    shop.receives().await;
    let by_amount = with_lines(refund_for(&rma, "F1", 2), &[]);
    let warnings = shop.publishes(refunded(sold("A-1", 3), [by_amount.clone()])).await;
    assert_eq!(fields(&warnings), [format!("{REFUND}.refund_line_items")]);
    assert_eq!(warnings[0].1, "is empty; the refund settles all units of its RMA that are to be refunded");
    assert_eq!((shop.stands(&rma).await.as_str(), shop.stands(&other).await.as_str()), ("REFUNDED: F1 F1", "CREATED: -"));
    assert_eq!(shop.receives_events().await, ["rma.refunded"]);
    assert_eq!(shop.publishes(refunded(sold("A-1", 3), [by_amount])).await, [], "once");
    assert_eq!(shop.receives_events().await, Vec::<String>::new());
    assert_eq!(shop.returnable(0).await, 0, "two are refunded in a return, and one is in a return");
}

#[tokio::test]
async fn lines_that_are_not_in_the_named_return_count_outside_and_leave_it_open() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.publishes(two_lines(&[])).await;
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    shop.receives().await;
    let foreign = with_lines(refund_for(&rma, "F1", 1), &[units("F1-2", "L2", 1)]);
    let warnings = shop.publishes(two_lines(&[foreign])).await;
    assert_eq!(fields(&warnings), [format!("{REFUND}.refund_line_items")]);
    assert_eq!(warnings[0].1, "has units that are not in the RMA; they count as refunded outside of any RMA");
    assert_eq!((shop.stands(&rma).await.as_str(), shop.receives_events().await), ("CREATED: -", vec![]));
    assert_eq!((shop.returnable(0).await, shop.returnable(1).await), (1, 1));
}

#[tokio::test]
async fn a_refund_that_names_one_return_never_settles_another() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 3).await;
    let (named, other) = (shop.merchant.starts_a_return("A-1", 1).await, shop.merchant.starts_a_return("A-1", 1).await);
    shop.receives().await;
    let warnings = shop.publishes(refunded(sold("A-1", 3), [refund_for(&named, "F1", 2)])).await;
    assert_eq!(fields(&warnings), [format!("{REFUND}.refund_line_items")]);
    assert_eq!((shop.stands(&named).await.as_str(), shop.stands(&other).await.as_str()), ("REFUNDED: F1", "CREATED: -"));
    assert_eq!(shop.receives_events().await, ["rma.refunded"]);
    assert_eq!(shop.returnable(0).await, 0, "one is settled, one is in a return, and one was refunded outside");
}

#[tokio::test]
async fn a_unit_that_is_refunded_in_two_parts_is_settled_once_and_uses_up_no_other() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 2).await;
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    let halves = [refund_for(&rma, "F2", 1), refund_for(&rma, "F1", 1)];
    assert_eq!(shop.publishes(refunded(sold("A-1", 2), [halves[1].clone()])).await, []);
    let warnings = shop.publishes(refunded(sold("A-1", 2), halves)).await;
    assert_eq!(warnings, [(format!("{REFUND}.refund_line_items"), "has units of the RMA that were refunded before".to_owned())]);
    assert_eq!((shop.stands(&rma).await.as_str(), shop.returnable(0).await), ("REFUNDED: F1", 1));
}

#[tokio::test]
async fn of_several_new_refunds_those_that_name_a_return_come_first_and_then_the_oldest() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 4).await;
    let rma = shop.merchant.starts_a_return("A-1", 2).await;
    let other = shop.merchant.starts_a_return("A-1", 1).await;
    let dated = |mut refund: Value, date: &str| {
        refund["created_at"] = date.into();
        refund
    };
    let refunds = [
        dated(plain_refund("F1", 1), "2026-02-03T10:00:00Z"),
        dated(plain_refund("F2", 1), "2026-02-02T10:00:00Z"),
        dated(refund_for(&rma, "F3", 2), "2026-02-04T10:00:00Z"),
    ];
    assert_eq!(shop.publishes(refunded(sold("A-1", 4), refunds)).await, []);
    assert_eq!((shop.stands(&rma).await.as_str(), shop.stands(&other).await.as_str()), ("REFUNDED: F3 F3", "REFUNDED: F2"));
    assert_eq!(shop.returnable(0).await, 0, "F1 is outside of any return");
}

#[tokio::test]
async fn a_corrected_total_note_and_time_are_taken_over() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.publishes(refunded(sold("A-1", 2), [plain_refund("F1", 1)])).await;
    let mut corrected = plain_refund("F1", 1);
    corrected["total_refund_amount_cents"] = 5_000.into();
    corrected["note"] = "by voucher".into();
    corrected["created_at"] = "2026-02-02T10:00:00Z".into();
    let warnings = shop.publishes(refunded(sold("A-1", 2), [corrected.clone()])).await;
    assert_eq!(fields(&warnings), [format!("{REFUND}.total_refund_amount_cents")]);
    let shown = shop.merchant.looks_up("A-1").await.body["refunds"].clone();
    assert_eq!(shown.as_array().unwrap().len(), 1);
    for name in ["total_refund_amount_cents", "note", "created_at"] {
        assert_eq!(shown[0][name], corrected[name], "{name}");
    }
    assert_eq!(shop.publishes(refunded(sold("A-1", 2), [corrected])).await, [], "the correction is the record now");
}

#[tokio::test]
async fn a_stale_snapshot_corrects_nothing() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.publishes(refunded(sold("A-1", 2), [plain_refund("F1", 1)])).await;
    let mut stale = refunded(sold("A-1", 2), [plain_refund("F1", 2)]);
    stale["updated_at"] = "2026-02-20T12:00:00Z".into();
    assert_eq!(shop.publishes(stale).await, []);
    assert_eq!(shop.merchant.looks_up("A-1").await.body["refunds"][0]["refund_line_items"][0]["quantity"], 1);
    assert_eq!(shop.returnable(0).await, 1);
}

#[tokio::test]
async fn units_added_to_a_refund_take_effect_now_and_removed_ones_stay_counted() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 3).await;
    let rma = shop.merchant.starts_a_return("A-1", 2).await;
    shop.receives().await;
    let stages: [(u32, &str, &str, &[&str]); 4] = [
        (1, "", "CREATED: F1 -", &["rma.refund_recorded"]),
        (2, ".refund_line_items[0].quantity", "REFUNDED: F1 F1", &["rma.refunded"]),
        (1, ".refund_line_items", "REFUNDED: F1 F1", &[]),
        (2, "", "REFUNDED: F1 F1", &[]),
    ];
    for (units, warned, stands, events) in stages {
        let mut refund = refund_for(&rma, "F1", units);
        refund["total_refund_amount_cents"] = 5_400.into();
        let warnings = shop.publishes(refunded(sold("A-1", 3), [refund])).await;
        let expected = if warned.is_empty() { vec![] } else { vec![format!("{REFUND}{warned}")] };
        assert_eq!(fields(&warnings), expected, "{units} units");
        assert_eq!(
            (shop.stands(&rma).await.as_str(), shop.receives_events().await),
            (stands, events.iter().map(ToString::to_string).collect())
        );
    }
    assert_eq!(shop.returnable(0).await, 1);
}

#[tokio::test]
async fn a_refunded_line_that_was_removed_later_is_taken_with_a_warning() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let refund = with_lines(plain_refund("F1", 1), &[units("F1-2", "L2", 1)]);
    shop.publishes(two_lines(std::slice::from_ref(&refund))).await;
    let mut without = refunded(sold("A-1", 2), [refund, plain_refund("F2", 1)]);
    without["raw_status"] = "REVIEWED".into();
    let warnings = shop.publishes(without).await;
    assert_eq!(fields(&warnings), [format!("{REFUND}.refund_line_items[0].order_item_identifier")]);
    assert_eq!(shop.returnable(0).await, 1, "and the other refund of the message counts");
}

#[tokio::test]
async fn a_price_adjustment_and_the_return_of_the_same_unit_are_taken_with_a_warning() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let adjusted = plain_refund("F1", 1);
    shop.publishes(refunded(sold("A-1", 1), [adjusted.clone()])).await;
    let warnings = shop.publishes(refunded(sold("A-1", 1), [adjusted.clone(), plain_refund("F2", 1)])).await;
    let at = "returns_portal_order.orders[0].refunds[1]";
    assert_eq!(fields(&warnings), [format!("{at}.total_refund_amount_cents"), format!("{at}.refund_line_items[0].quantity")]);
    assert_eq!(shop.returnable(0).await, 0, "units count up to what was sold");
    let total = |refund: &Value| refund["total_refund_amount_cents"].as_i64().unwrap();
    let shown = shop.merchant.looks_up("A-1").await.body["refunds"].clone();
    assert_eq!(shown.as_array().unwrap().iter().map(total).sum::<i64>(), 10_800, "and cents count in full");
    // A later snapshot that lists only the newest refund shows the same, from the record.
    let mut later = refunded(sold("A-1", 1), [plain_refund("F3", 1)]);
    later["updated_at"] = "2026-03-02T12:00:00Z".into();
    assert_eq!(fields(&shop.publishes(later).await), [format!("{REFUND}.refund_line_items[0].quantity")]);
}

#[tokio::test]
async fn one_doubtful_refund_does_not_hold_up_the_other_orders_of_its_message() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.publishes(refunded(sold("A-1", 1), [plain_refund("F1", 1)])).await;
    let mut corrected = plain_refund("F1", 1);
    corrected["total_refund_amount_cents"] = 1.into();
    let reply = shop.merchant.publishes(&message([sold("A-2", 1), refunded(sold("A-1", 1), [corrected]), sold("A-3", 1)])).await;
    assert_eq!(reply.results(), ["created", "updated", "created"]);
}

#[tokio::test]
async fn a_refund_line_that_comes_back_under_another_refund_counts_once() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let first = with_lines(plain_refund("F1", 1), &[units("shared", "L1", 1)]);
    shop.publishes(two_lines(std::slice::from_ref(&first))).await;
    let second = with_lines(plain_refund("F2", 1), &[units("shared", "L1", 1), units("shared", "L2", 1)]);
    let warnings = shop.publishes(two_lines(&[second, first])).await;
    let at = |line: usize| format!("{REFUND}.refund_line_items[{line}].identifier");
    assert_eq!(fields(&warnings), [at(0), at(1)]);
    assert_eq!(warnings[0].1, "was received before for the same line of the order; it counts once");
    assert_eq!((shop.returnable(0).await, shop.returnable(1).await), (1, 1));
}

#[tokio::test]
async fn identifiers_that_another_order_has_too_are_warned_about_and_count() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.publishes(refunded(sold("A-0", 2), [plain_refund("F1", 1)])).await;
    let warnings = shop.publishes(refunded(sold("A-1", 2), [plain_refund("F1", 1)])).await;
    assert_eq!(fields(&warnings), [format!("{REFUND}.identifier"), format!("{REFUND}.refund_line_items[0].identifier")]);
    assert_eq!(shop.returnable(0).await, 1);
    for order in ["A-0", "A-1"] {
        assert_eq!(shop.merchant.looks_up(order).await.body["refunds"].as_array().unwrap().len(), 1, "{order}");
    }
}

#[tokio::test]
async fn the_refund_of_a_cancelled_unit_uses_up_no_shipped_one_and_closes_no_return() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let reduced = |refunds: &[Value]| {
        let mut order = refunded(sold("A-1", 3), refunds.to_vec());
        (order["items"][0]["quantity_shipped"], order["items"][0]["quantity_canceled"]) = (2.into(), 1.into());
        order["items"][0]["product_amount_cents"] = 10_000.into();
        (order["product_amount_cents"], order["total_amount_cents"]) = (10_000.into(), 11_200.into());
        order
    };
    assert_eq!(shop.publishes(reduced(&[])).await, []);
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    shop.receives().await;
    assert_eq!(shop.publishes(reduced(&[plain_refund("F1", 1)])).await, []);
    assert_eq!((shop.stands(&rma).await.as_str(), shop.returnable(0).await), ("CREATED: -", 1));
    assert_eq!(shop.publishes(reduced(&[plain_refund("F1", 1), plain_refund("F2", 1)])).await, []);
    assert_eq!((shop.stands(&rma).await.as_str(), shop.returnable(0).await), ("REFUNDED: F2", 1), "the next one is for the return");
    assert_eq!(shop.receives_events().await, ["rma.refunded"]);
}

#[tokio::test]
async fn a_merchant_may_have_the_first_refund_close_the_return() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.has_policy(&Policy { refund_closes: RefundCloses::Any, ..Policy::default() }).await;
    shop.merchant.sells("A-1", 5).await;
    let (named, plain) = (shop.merchant.starts_a_return("A-1", 2).await, shop.merchant.starts_a_return("A-1", 2).await);
    shop.receives().await;
    assert_eq!(shop.publishes(refunded(sold("A-1", 5), [refund_for(&named, "F1", 1)])).await, []);
    assert_eq!((shop.stands(&named).await.as_str(), shop.stands(&plain).await.as_str()), ("REFUNDED: F1 F1", "CREATED: - -"));
    assert_eq!(shop.publishes(refunded(sold("A-1", 5), [refund_for(&named, "F1", 1), plain_refund("F2", 1)])).await, []);
    assert_eq!((shop.stands(&plain).await.as_str(), shop.returnable(0).await), ("REFUNDED: F2 F2", 1));
    assert_eq!(shop.receives_events().await, ["rma.refunded"; 2]);
}

#[tokio::test]
async fn every_unit_has_its_share_of_a_discount_on_the_whole_order() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let mut order = two_lines(&[]);
    order["discount_amount_cents"] = 4_000.into();
    order["total_amount_cents"] = 17_600.into();
    order["items"][1]["discount_amount_cents"] = 1_000.into();
    assert_eq!(shop.publishes(order).await, []);
    let wanted = json!({ "order_identifier": "A-1", "return_method": "mail-back", "items": [
        { "order_line_item_identifier": "L1", "quantity": 2, "return_reason": "NOT_GIVEN" },
        { "order_line_item_identifier": "L2", "quantity": 2, "return_reason": "NOT_GIVEN" },
    ] });
    let started = shop.merchant.starts(&wanted).await;
    let amounts = |name: &str| {
        let items = started.body["items"].as_array().unwrap().iter();
        items.map(|item| item["money"][name].as_i64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(amounts("discount_cents"), [750, 750, 1_250, 1_250]);
    assert_eq!(amounts("estimated_refund_amount_cents").iter().sum::<i64>(), 17_600, "all units together are the order's total");
}

#[tokio::test]
async fn a_line_discount_is_deducted_once_when_the_units_are_shipped_one_by_one() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let mut deducted = 0;
    for shipped in [1, 2] {
        let mut order = sold("A-1", 2);
        order["status"] = if shipped == 2 { "Shipped" } else { "Created" }.into();
        order["updated_at"] = format!("2026-02-2{shipped}T09:00:00Z").into();
        let line = &mut order["items"][0];
        (line["quantity_shipped"], line["discount_amount_cents"]) = (shipped.into(), 1_000.into());
        (line["product_amount_cents"], line["tax_amount_cents"]) = ((5_000 * shipped).into(), (400 * shipped).into());
        assert_eq!(shop.merchant.publishes(&message([order])).await.status, 200);
        let rma = shop.merchant.starts_a_return("A-1", 1).await;
        deducted += shop.merchant.looks_at(&rma).await["items"][0]["money"]["discount_cents"].as_i64().unwrap();
    }
    assert_eq!(deducted, 1_000);
}
