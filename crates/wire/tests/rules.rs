//! The rules of orders as merchants see them: the faults, the warnings, and their texts.

#![expect(clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "a test may end in a panic")]

use domain::orders::order::Status;
use domain::orders::refund::Remark;
use insta::assert_snapshot;
use serde_json::{Map, Value, json};
use wire::fault::{Code, Fault, MOST_TOLD, Path};
use wire::orders::order::{self, MOST_ENTRIES, MOST_ORDERS, Received, Refusal, read};

/// An order in which everything adds up: two lines, 3 + 2 units, one of them refunded.
fn order() -> Value {
    json!({
        "identifier": "A-1",
        "status": "Shipped",
        "total_amount_cents": 4_350,
        "product_amount_cents": 4_000,
        "tax_amount_cents": 300,
        "discount_amount_cents": 500,
        "shipping_amount_cents": 500,
        "shipping_tax_amount_cents": 50,
        "currency": "USD",
        "created_at": "2026-01-10T09:00:00Z",
        "updated_at": "2026-01-20T09:00:00Z",
        "items": [
            line("A-1-1", json!({"quantity": 3, "unit_price_amount_cents": 1_000, "product_amount_cents": 3_000, "tax_amount_cents": 200})),
            line("A-1-2", json!({"quantity": 2, "unit_price_amount_cents": 500, "product_amount_cents": 1_000, "tax_amount_cents": 100})),
        ],
        "customer": { "identifier": "shopper-1", "email": "shopper@example.com" },
        "transactions": [],
        "refunds": [refund("F-1", 500, &[("F-1-1", "A-1-2", 1)])],
        "discounts": [],
    })
}

fn line(identifier: &str, more: Value) -> Value {
    let mut line = json!({ "identifier": identifier, "sku": "SKU", "quantity": 1, "unit_price_amount_cents": 1 });
    merge(&mut line, more);
    line
}

fn refund(identifier: &str, total: i64, lines: &[(&str, &str, u32)]) -> Value {
    let lines: Vec<Value> = lines
        .iter()
        .map(|(identifier, of, quantity)| json!({ "identifier": identifier, "order_item_identifier": of, "quantity": quantity }))
        .collect();
    json!({ "identifier": identifier, "total_refund_amount_cents": total, "created_at": "2026-01-20", "refund_line_items": lines })
}

/// Sets fields of `value`; null removes a field.
fn merge(value: &mut Value, fields: Value) {
    let (Value::Object(value), Value::Object(fields)) = (value, fields) else { panic!("only objects are merged") };
    for (name, field) in fields {
        if field.is_null() {
            value.remove(&name);
        } else {
            value.insert(name, field);
        }
    }
}

/// The default order with some fields replaced.
fn order_with(fields: Value) -> Value {
    let mut order = order();
    merge(&mut order, fields);
    order
}

fn message(orders: &[Value]) -> String {
    json!({ "returns_portal_order": { "orders": orders } }).to_string()
}

fn one(order: Value) -> String {
    message(&[order])
}

fn accepted(text: &str) -> Received<'_> {
    read(text.as_bytes()).unwrap_or_else(|refusal| panic!("{refusal:?}"))
}

fn faults(text: &str) -> Vec<Fault> {
    match read(text.as_bytes()) {
        Ok(_) => panic!("it is accepted"),
        Err(Refusal::Malformed(malformed)) => panic!("{malformed:?}"),
        Err(Refusal::Faulty(faults)) => faults.faults,
    }
}

/// The faults, one per line, without the common prefix of the paths.
fn in_words(faults: &[Fault]) -> String {
    let line = |fault: &Fault| {
        let code = serde_json::to_value(fault.code).expect("a code is a word");
        format!("{}: {} - {}", fault.field, code.as_str().unwrap_or_default(), fault.message)
    };
    faults.iter().map(line).collect::<Vec<_>>().join("\n").replace("returns_portal_order.orders[", "…[")
}

/// The faults of a message with this one order.
fn refused(order: Value) -> String {
    in_words(&faults(&one(order)))
}

/// The warnings about a message with this one order.
fn warned(order: Value) -> String {
    let text = one(order);
    let warnings = &accepted(&text).orders[0].warnings;
    let lines: Vec<String> = warnings.iter().map(|warning| format!("{}: {}", warning.field, warning.message)).collect();
    lines.join("\n").replace("returns_portal_order.orders[", "…[")
}

#[test]
fn an_order_that_adds_up_is_taken_without_a_word() {
    assert_eq!(warned(order()), "");
}

#[test]
fn a_shopper_needs_an_identifier_or_an_address() {
    let under_both_names = |customer: &Value| {
        message(&[order_with(json!({ "customer": customer })), order_with(json!({ "customer": null, "the service": customer }))])
    };
    let told = in_words(&faults(&under_both_names(&json!({}))));
    assert_snapshot!(told, @"
    …[0].customer.identifier: missing_field - is required unless the customer has an e-mail address; the e-mail address may serve as the identifier
    …[1].customer.identifier: missing_field - is required unless the customer has an e-mail address; the e-mail address may serve as the identifier
    ");
    for customer in [json!({ "identifier": null, "email": "" }), json!({ "identifier": " ", "first_name": "Ann" })] {
        assert_eq!(in_words(&faults(&under_both_names(&customer))), told);
    }
    for customer in [json!({ "identifier": "7" }), json!({ "email": "a@b.example" }), json!({ "identifier": "", "email": "a@b.example" })] {
        assert_eq!(accepted(&under_both_names(&customer)).orders.len(), 2);
    }
}

#[test]
fn two_lines_cannot_share_an_identifier() {
    let items = json!([line("x", json!({})), line("X", json!({})), line("x", json!({})), line("x", json!({}))]);
    assert_snapshot!(refused(order_with(json!({ "items": items, "refunds": [] }))), @"
    …[0].items[2].identifier: invalid - must be unique among the lines of the order
    …[0].items[3].identifier: invalid - must be unique among the lines of the order
    ");
}

#[test]
fn no_more_units_are_shipped_and_cancelled_than_ordered() {
    let units = |ordered: u32, shipped: u32, cancelled: u32| {
        line(
            &format!("{ordered}-{shipped}-{cancelled}"),
            json!({ "quantity": ordered, "quantity_shipped": shipped, "quantity_canceled": cancelled }),
        )
    };
    let items = json!([units(2, 1, 1), units(2, 2, 1), units(2, 3, 0), units(0, 0, 0), units(1_000, 1_000, 1_000)]);
    assert_snapshot!(refused(order_with(json!({ "items": items, "refunds": [] }))), @"
    …[0].items[1].quantity_shipped: invalid - shipped and cancelled units together must not exceed quantity
    …[0].items[2].quantity_shipped: invalid - shipped and cancelled units together must not exceed quantity
    …[0].items[4].quantity_shipped: invalid - shipped and cancelled units together must not exceed quantity
    ");
    let only_cancelled = line("x", json!({ "quantity": 2, "quantity_canceled": 3 }));
    let told = refused(order_with(json!({ "items": [only_cancelled], "refunds": [] })));
    assert_snapshot!(told, @"…[0].items[0].quantity_shipped: invalid - shipped and cancelled units together must not exceed quantity");
}

#[test]
fn two_refunds_cannot_share_an_identifier() {
    let refunds = json!([refund("F", 1, &[]), refund("G", 1, &[]), refund("F", 1, &[])]);
    let told = refused(order_with(json!({ "refunds": refunds })));
    assert_snapshot!(told, @"…[0].refunds[2].identifier: invalid - must be unique across all refunds");
}

#[test]
fn a_refund_of_a_line_that_is_not_in_the_order_is_warned_about() {
    let refunds = json!([refund("F", 1, &[("x", "A-1-1", 1), ("y", "A-9-9", 1)]), refund("G", 1, &[("z", "a-1-1", 1)])]);
    assert_snapshot!(warned(order_with(json!({ "refunds": refunds }))), @"
    …[0].refunds[0].refund_line_items[1].order_item_identifier: is not a line of this order; the refund is recorded all the same
    …[0].refunds[1].refund_line_items[0].order_item_identifier: is not a line of this order; the refund is recorded all the same
    ");
}

#[test]
fn more_units_refunded_than_sold_in_sum_are_warned_about() {
    let refunds = json!([refund("F", 1, &[("x", "A-1-1", 2), ("y", "A-1-2", 3)]), refund("G", 1, &[("z", "A-1-1", 1), ("w", "A-1-1", 1)])]);
    assert_snapshot!(warned(order_with(json!({ "refunds": refunds }))), @"
    …[0].refunds[0].refund_line_items[1].quantity: brings the refunded units of the line above its quantity; units count up to what was sold
    …[0].refunds[1].refund_line_items[1].quantity: brings the refunded units of the line above its quantity; units count up to what was sold
    ");
}

#[test]
fn a_total_that_is_not_the_sum_of_its_parts_is_warned_about() {
    let told = warned(order_with(json!({ "total_amount_cents": 4_351 })));
    assert_snapshot!(told, @"…[0].total_amount_cents: differs from product − discount + tax + shipping + shipping tax, which is 4350");
    // Parts that were left out count as 0, and without a product amount there is nothing to add up.
    let parts = ["tax_amount_cents", "discount_amount_cents", "shipping_amount_cents", "shipping_tax_amount_cents"];
    let bare: Value = parts.iter().map(|part| ((*part).to_owned(), Value::Null)).collect::<Map<_, _>>().into();
    let told = warned(order_with(bare.clone()));
    assert_snapshot!(told, @"…[0].total_amount_cents: differs from product − discount + tax + shipping + shipping tax, which is 4000");
    let mut bare = order_with(bare);
    merge(&mut bare, json!({ "product_amount_cents": null }));
    assert_eq!(warned(bare), "");
}

#[test]
fn a_total_below_zero_is_told_as_it_is() {
    let order = order_with(json!({ "discount_amount_cents": 1_000_000, "total_amount_cents": 0, "refunds": [] }));
    let told = warned(order);
    assert_snapshot!(told, @"…[0].total_amount_cents: differs from product − discount + tax + shipping + shipping tax, which is -995150");
}

#[test]
fn amounts_that_are_not_the_sum_of_the_lines_are_warned_about() {
    let told = warned(order_with(json!({ "product_amount_cents": 4_001, "total_amount_cents": 4_351 })));
    assert_snapshot!(told, @"…[0].product_amount_cents: differs from the sum of the lines' product_amount_cents, which is 4000");
    let told = warned(order_with(json!({ "tax_amount_cents": 299, "total_amount_cents": 4_349 })));
    assert_snapshot!(told, @"…[0].tax_amount_cents: differs from the sum of the lines' tax_amount_cents, which is 300");
}

#[test]
fn a_line_amount_that_is_not_price_times_shipped_is_warned_about() {
    let mut order = order();
    merge(&mut order["items"][1], json!({ "quantity_shipped": 1 }));
    let told = warned(order);
    assert_snapshot!(told, @"…[0].items[1].product_amount_cents: differs from unit_price_amount_cents × quantity_shipped, which is 500");
}

#[test]
fn a_full_refund_of_another_amount_is_warned_about() {
    let everything: &[(&str, &str, u32)] = &[("x", "A-1-1", 3), ("y", "A-1-2", 1), ("z", "A-1-2", 1)];
    assert_eq!(warned(order_with(json!({ "refunds": [refund("F", 4_350, everything)] }))), "");
    let told = warned(order_with(json!({ "refunds": [refund("F", 4_349, everything)] })));
    assert_snapshot!(told, @"…[0].refunds[0].total_refund_amount_cents: differs from the order's total_amount_cents, although every unit is refunded");
}

#[test]
fn more_paid_back_than_paid_is_warned_about() {
    let refunds = json!([refund("F", 4_350, &[]), refund("G", 1, &[]), refund("H", 0, &[])]);
    assert_snapshot!(warned(order_with(json!({ "refunds": refunds }))), @"
    …[0].refunds[1].total_refund_amount_cents: brings the refunds above the order's total_amount_cents
    …[0].refunds[2].total_refund_amount_cents: brings the refunds above the order's total_amount_cents
    ");
}

#[test]
fn a_refund_before_the_order_is_warned_about() {
    let mut order = order();
    merge(&mut order["refunds"][0], json!({ "created_at": "2026-01-10T09:59:59+01:00" }));
    assert_snapshot!(warned(order.clone()), @"…[0].refunds[0].created_at: is before the order's created_at");
    // Any other date is fine, also one that is still to come.
    for date in ["2026-01-10T10:00:00+01:00", "2999-01-01"] {
        merge(&mut order["refunds"][0], json!({ "created_at": date }));
        assert_eq!(warned(order.clone()), "");
    }
}

#[test]
fn warnings_stand_with_their_own_order() {
    let text = message(&[order(), order_with(json!({ "total_amount_cents": 4_351 })), order()]);
    let received = accepted(&text);
    let warnings: Vec<usize> = received.orders.iter().map(|order| order.warnings.len()).collect();
    assert_eq!(warnings, [0, 1, 0]);
    assert_eq!(received.orders[1].warnings[0].field, "returns_portal_order.orders[1].total_amount_cents");
}

#[test]
fn rules_are_not_tried_before_the_shape_is_right() {
    let rule = order_with(json!({ "customer": {} }));
    let shape = order_with(json!({ "currency": "dollars", "status": 1 }));
    assert_snapshot!(in_words(&faults(&message(&[rule.clone(), shape]))), @"
    …[1].currency: invalid - must be three letters, such as USD
    …[1].status: invalid_type - must be a string
    ");
    let told = in_words(&faults(&message(&[rule.clone(), order(), rule])));
    assert_snapshot!(told, @"
    …[0].customer.identifier: missing_field - is required unless the customer has an e-mail address; the e-mail address may serve as the identifier
    …[2].customer.identifier: missing_field - is required unless the customer has an e-mail address; the e-mail address may serve as the identifier
    ");
}

#[test]
fn what_is_left_out_has_its_default() {
    let text = r#"{"returns_portal_order": {"orders": [{
        "identifier": "A-1", "status": "Shipped", "total_amount_cents": 900, "currency": "usd",
        "created_at": "2026-01-10", "updated_at": "2026-01-10",
        "items": [
            {"identifier": "1", "sku": "S", "quantity": 3, "unit_price_amount_cents": 100},
            {"identifier": "2", "sku": "S", "quantity": 3, "unit_price_amount_cents": 100, "quantity_canceled": 1},
            {"identifier": "3", "sku": "S", "quantity": 3, "unit_price_amount_cents": 100, "quantity_canceled": 1, "quantity_shipped": 0}
        ],
        "customer": {"email": "a@example.com"}, "transactions": [], "refunds": [], "discounts": []
    }]}}"#;
    for (status, shipped) in [("Shipped", [3, 2, 0]), ("Created", [0, 0, 0]), ("Cancelled", [0, 0, 0]), ("Canceled", [0, 0, 0])] {
        let text = text.replace("Shipped", status);
        let received = accepted(&text);
        let order = &received.orders[0].order;
        assert!(received.orders[0].warnings.is_empty());
        assert_eq!(order.currency.0, "USD");
        assert!(order.tags.is_none() && order.items.0[0].tags.is_none());
        let facts = order.facts();
        assert_eq!([facts.discount, facts.shipping, facts.shipping_tax, facts.lines[0].tax].map(domain::money::Cents::get), [0; 4]);
        assert_eq!((facts.product, facts.tax, facts.lines[0].product), (None, None, None));
        assert_eq!(facts.lines.iter().map(|line| line.shipped).collect::<Vec<_>>(), shipped, "{status}");
        assert_eq!(facts.lines.iter().map(|line| line.cancelled).collect::<Vec<_>>(), [0, 1, 1]);
        assert_eq!(facts.status == Status::Cancelled, status.starts_with("Cancel"));
    }
}

#[test]
fn null_is_the_same_as_left_out() {
    let mut order = order();
    let optional = [
        "raw_status",
        "product_amount_cents",
        "tax_amount_cents",
        "discount_amount_cents",
        "shipping_amount_cents",
        "tags",
        "shipping_address",
    ];
    for name in optional {
        order[name] = Value::Null;
    }
    for name in ["upc", "quantity_shipped", "shipped_date", "tags", "product_amount_cents", "weight"] {
        order["items"][0][name] = Value::Null;
    }
    let text = one(order);
    let received = accepted(&text);
    let facts = received.orders[0].order.facts();
    assert_eq!((facts.product, facts.tax, facts.discount.get(), facts.lines[0].shipped), (None, None, 0, 3));
}

#[test]
fn a_message_carries_one_to_a_hundred_orders() {
    let most: Vec<Value> = (0..MOST_ORDERS).map(|at| order_with(json!({ "identifier": at.to_string() }))).collect();
    assert_eq!(accepted(&message(&most)).orders.len(), 100);
    let one_more: Vec<Value> = most.into_iter().chain([order()]).collect();
    let told = in_words(&faults(&message(&one_more)));
    assert_snapshot!(told, @"returns_portal_order.orders: invalid - must have at most 100 elements");
    let told = in_words(&faults(&message(&[])));
    assert_snapshot!(told, @"returns_portal_order.orders: invalid - must have at least 1 element");
}

#[test]
fn an_order_has_one_to_a_thousand_lines() {
    let lines = |count: usize| (0..count).map(|at| line(&at.to_string(), json!({}))).collect::<Vec<_>>();
    let with = |count: usize| order_with(json!({ "items": lines(count), "refunds": [] }));
    assert_eq!(accepted(&one(with(MOST_ENTRIES))).orders[0].order.items.0.len(), 1_000);
    assert_snapshot!(refused(with(MOST_ENTRIES + 1)), @"…[0].items: invalid - must have at most 1000 elements");
    assert_snapshot!(refused(with(0)), @"…[0].items: invalid - must have at least 1 element");
}

#[test]
fn every_other_list_ends_at_a_thousand_too() {
    for count in [MOST_ENTRIES, MOST_ENTRIES + 1] {
        let refunds: Vec<Value> = (0..count).map(|at| refund(&at.to_string(), 0, &[])).collect();
        let full = order_with(json!({
            "tags": vec!["x"; count], "transactions": vec![json!({}); count], "discounts": vec![json!({}); count], "refunds": refunds,
        }));
        if count == MOST_ENTRIES {
            assert_eq!(warned(full), "");
        } else {
            assert_snapshot!(refused(full), @"
            …[0].discounts: invalid - must have at most 1000 elements
            …[0].refunds: invalid - must have at most 1000 elements
            …[0].tags: invalid - must have at most 1000 elements
            …[0].transactions: invalid - must have at most 1000 elements
            ");
        }
    }
}

#[test]
fn unknown_fields_are_ignored_and_kept() {
    let mut order = order();
    order["gift_message"] = json!("for you");
    order["items"][0]["bundle"] = json!({ "parts": [1, { "of": null }] });
    order["customer"]["loyalty"] = json!({ "tier": "gold" });
    order["refunds"][0]["by"] = json!(["ann", 7.5]);
    order["refunds"][0]["refund_line_items"][0]["why"] = json!("torn");
    let text = json!({ "sent_by": "oms", "returns_portal_order": { "batch": 7, "orders": [order] } }).to_string();
    let received = accepted(&text);
    assert!(received.orders[0].warnings.is_empty());
    assert_eq!(serde_json::from_str::<Value>(received.orders[0].text).expect("it is JSON"), order);
}

#[test]
fn an_order_is_told_from_others_by_its_content() {
    let order = order().to_string();
    let (spaced, other) = (order.replacen(':', ": ", 1), order.replacen("shopper-1", "shopper-2", 1));
    assert_ne!(order, other);
    let text = format!(r#"{{"returns_portal_order": {{"orders": [ {order} , {order},{spaced},{other} ]}}}}"#);
    let received = accepted(&text);
    assert_eq!(received.orders[0].text, order);
    assert_eq!(received.orders[0].version(), received.orders[1].version());
    assert_eq!(received.orders[0].version(), received.orders[2].version(), "spaces say nothing");
    assert_ne!(received.orders[0].version(), received.orders[3].version());
    assert_eq!(wire::time::write(received.orders[0].version().updated_at), "2026-01-20T09:00:00Z");
}

#[test]
fn broken_rules_are_listed_order_by_order() {
    let mut broken = order_with(json!({ "customer": { "phone": "1" } }));
    merge(&mut broken["items"][0], json!({ "identifier": "A-1-2", "quantity_canceled": 1, "quantity_shipped": 3 }));
    broken["refunds"] = json!([refund("F", 1, &[("x", "A-1-1", 1)]), refund("F", 1, &[("x", "A-1-2", 3)])]);
    assert_snapshot!(in_words(&faults(&message(&[broken.clone(), order(), broken]))), @"
    …[0].items[0].quantity_shipped: invalid - shipped and cancelled units together must not exceed quantity
    …[0].items[1].identifier: invalid - must be unique among the lines of the order
    …[0].customer.identifier: missing_field - is required unless the customer has an e-mail address; the e-mail address may serve as the identifier
    …[0].refunds[1].identifier: invalid - must be unique across all refunds
    …[2].items[0].quantity_shipped: invalid - shipped and cancelled units together must not exceed quantity
    …[2].items[1].identifier: invalid - must be unique among the lines of the order
    …[2].customer.identifier: missing_field - is required unless the customer has an e-mail address; the e-mail address may serve as the identifier
    …[2].refunds[1].identifier: invalid - must be unique across all refunds
    ");
}

#[test]
fn faults_of_shape_are_listed_order_by_order() {
    let mut wrong = order_with(json!({ "currency": "\0", "total_amount_cents": null, "discounts": [[]] }));
    wrong["items"] = json!([{ "sku": "" }, line("\0", json!({ "quantity": 1_001 }))]);
    wrong["refunds"][0]["refund_line_items"] = json!([0]);
    let orders = [json!(1), wrong, order(), json!({ "identifier": "A-1", "status": "Lost" })];
    let text = json!({ "a\0": 1, "returns_portal_order": { "orders": orders, "z": "\0" } }).to_string();
    assert_snapshot!(in_words(&faults(&text)), @r#"
    ["a\u0000"]: invalid - must not contain a NUL character
    returns_portal_order.z: invalid - must not contain a NUL character
    …[0]: invalid_type - must be an object
    …[1].currency: invalid - must not contain a NUL character
    …[1].items[1].identifier: invalid - must not contain a NUL character
    …[1].total_amount_cents: missing_field - is required
    …[1].currency: invalid - must be three letters, such as USD
    …[1].discounts[0]: invalid_type - must be an object
    …[1].items[0].identifier: missing_field - is required
    …[1].items[0].quantity: missing_field - is required
    …[1].items[0].unit_price_amount_cents: missing_field - is required
    …[1].items[0].sku: invalid - must not be empty
    …[1].items[1].quantity: invalid - must be at most 1000
    …[1].refunds[0].refund_line_items[0]: invalid_type - must be an object
    …[3].total_amount_cents: missing_field - is required
    …[3].currency: missing_field - is required
    …[3].created_at: missing_field - is required
    …[3].updated_at: missing_field - is required
    …[3].items: missing_field - is required
    …[3].transactions: missing_field - is required
    …[3].refunds: missing_field - is required
    …[3].discounts: missing_field - is required
    …[3].status: invalid - must be one of ["Created","Shipped","Cancelled","Canceled"]
    …[3].customer: missing_field - is required
    "#);
}

#[test]
fn of_very_many_faults_the_first_are_told() {
    let nothing = vec![json!({}); MOST_ORDERS];
    let told = faults(&message(&nothing));
    assert_eq!(told.len(), MOST_TOLD);
    assert!(told[0].field.starts_with("returns_portal_order.orders[0]."));
    assert_eq!(told[MOST_TOLD - 1].field, "returns_portal_order.orders[90].discounts");

    let unnamed = order_with(json!({ "customer": {}, "items": vec![line("x", json!({})); 30], "refunds": [] }));
    let told = faults(&message(&vec![unnamed; MOST_ORDERS]));
    assert_eq!(told.len(), MOST_TOLD);
    assert!(told.iter().all(|fault| fault.code != Code::InvalidType));
}

#[test]
fn no_message_can_be_so_wrong_that_its_faults_fill_the_memory() {
    let wrong = [
        ("items", "{},".repeat(200_000) + "{}"),
        ("refunds", format!(r#"{{"refund_line_items": [{}{{}}]}}"#, "{},".repeat(200_000))),
        ("transactions", "0,".repeat(400_000) + "0"),
        ("tags", r#""\u0000","#.repeat(400_000) + "0"),
    ];
    for (name, elements) in wrong {
        let told = faults(&format!(r#"{{"returns_portal_order": {{"orders": [{{"{name}": [{elements}]}}]}}}}"#));
        assert_eq!(told.len(), MOST_TOLD, "{name}");
    }
    let deep = format!(r#"{{"{}": [{}0]}}"#, "x".repeat(1_000_000), r#""\u0000","#.repeat(1_000));
    assert!(faults(&deep).iter().all(|fault| fault.field.len() < 100));
}

#[test]
fn a_refused_message_names_its_orders_as_far_as_they_have_names() {
    let identifiers = |text: &str| match read(text.as_bytes()) {
        Err(Refusal::Faulty(faults)) => faults.identifiers,
        _ => panic!("it is refused for its faults"),
    };
    let names = [json!("A-1"), json!(7), json!(""), json!("nul\0"), json!("x".repeat(256)), json!("A-2")];
    let orders: Vec<Value> = names.iter().map(|name| json!({ "identifier": name })).collect();
    assert_eq!(identifiers(&message(&orders)), ["A-1", "A-2"]);
    assert_eq!(identifiers(&one(order_with(json!({ "customer": {} })))), ["A-1"]);
    assert!(identifiers("[]").is_empty());
}

#[test]
fn bytes_that_are_no_json_are_told_from_faults() {
    let malformed = |body: &[u8]| match read(body) {
        Err(Refusal::Malformed(malformed)) => malformed.0,
        _ => panic!("it is no JSON"),
    };
    assert_snapshot!(malformed(b""), @"the body ends unexpectedly (line 1, column 0)");
    assert_snapshot!(malformed(b"{\n  \"a\": nope}"), @"the body is not well-formed JSON (line 2, column 9)");
    assert_snapshot!(malformed(b"{\"a\": \"\xff\"}"), @"the body is not valid UTF-8 from byte 7 on");
    let told = malformed("[".repeat(40).as_bytes());
    assert_snapshot!(told, @"the body exceeds the limit of 32 nesting levels");
    let told = malformed(format!("[0{}]", ",0".repeat(600_000)).as_bytes());
    assert_snapshot!(told, @"the body exceeds the limit of 500000 values");
}

#[test]
fn what_only_the_records_show_is_told_in_the_same_way() {
    let at = accepted(&one(order())).orders.remove(0).path();
    let remarks = [
        Remark::TotalCorrected,
        Remark::UnitsAdded { line: 4 },
        Remark::UnitsMissing,
        Remark::OtherRma,
        Remark::CountedBefore { line: 5 },
        Remark::IdentifierReused { line: 6 },
    ];
    let others = [
        order::overrefunded(&at, 6, 7),
        order::refund_of_another_order(&at, 7),
        order::refund_by_amount(&at, 8),
        order::units_not_in_rma(&at, 9),
        order::refunded_again(&at, 10),
        order::rma_not_live(&at, 11),
    ];
    let warnings = remarks.into_iter().enumerate().map(|(refund, remark)| order::remark(&at, refund, remark)).chain(others);
    let lines: Vec<String> = warnings.map(|warning| format!("{}: {}", warning.field, warning.message)).collect();
    assert_snapshot!(lines.join("\n").replace("returns_portal_order.orders[", "…["), @"
    …[0].refunds[0].total_refund_amount_cents: differs from the refund received before; the new value replaces it
    …[0].refunds[1].refund_line_items[4].quantity: is more than the refund received before; the added units count from now on
    …[0].refunds[2].refund_line_items: have fewer units than the refund received before; the missing units stay counted
    …[0].refunds[3].rma_identifier: differs from the refund received before; the earlier value is kept
    …[0].refunds[4].refund_line_items[5].identifier: was received before for the same line of the order; it counts once
    …[0].refunds[5].refund_line_items[6].identifier: must be unique across all refunds; it was received before for another line, and both count
    …[0].refunds[6].refund_line_items[7].quantity: brings the refunded units of the line above its quantity; units count up to what was sold
    …[0].refunds[7].identifier: must be unique across all refunds; a refund of another order has it too, and both count
    …[0].refunds[8].refund_line_items: is empty; the refund settles all units of its RMA that are to be refunded
    …[0].refunds[9].refund_line_items: has units that are not in the RMA; they count as refunded outside of any RMA
    …[0].refunds[10].refund_line_items: has units of the RMA that were refunded before
    …[0].refunds[11].rma_identifier: is not an RMA of this order, or the RMA is cancelled; the refund is processed as if it named no RMA
    ");
    assert_eq!(at, Path::root().field("returns_portal_order").field("orders").index(0));
}
