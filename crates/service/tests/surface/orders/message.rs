//! The order message: accepted and refused fields, and the faults that describe them.

use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Reply, World, line, mail_back, message, order, plain_refund, refund};

const ORDER: &str = "returns_portal_order.orders[0]";

/// An order with a refund and a delivery.
fn full() -> Value {
    let mut order = order("1");
    order["refunds"] = json!([refund("F1", 1)]);
    order["items"][0]["delivered_date"] = "2026-01-08T15:00:00Z".into();
    order
}

/// A message of one order, changed at `pointer`.
fn bent(pointer: &str, value: Value) -> Value {
    let mut order = full();
    *order.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value;
    message([order])
}

fn without(pointer: &str) -> Value {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let mut order = full();
    order.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(name).unwrap_or_else(|| panic!("{pointer}"));
    message([order])
}

/// The path `/items/0/sku` as the service writes it.
fn path(pointer: &str) -> String {
    pointer.split('/').skip(1).fold(ORDER.to_owned(), |path, step| match step.parse::<usize>() {
        Ok(index) => format!("{path}[{index}]"),
        Err(_) => format!("{path}.{step}"),
    })
}

const STRINGS: [&str; 35] = [
    "/identifier",
    "/raw_status",
    "/status",
    "/currency",
    "/created_at",
    "/updated_at",
    "/items/0/identifier",
    "/items/0/sku",
    "/items/0/upc",
    "/items/0/tracking_number",
    "/items/0/shipped_date",
    "/items/0/delivered_date",
    "/items/0/product_identifier",
    "/items/0/variant_identifier",
    "/items/0/title",
    "/items/0/image_url",
    "/customer/identifier",
    "/customer/first_name",
    "/customer/last_name",
    "/customer/email",
    "/customer/phone",
    "/shipping_address/name",
    "/shipping_address/street1",
    "/shipping_address/city",
    "/shipping_address/state",
    "/shipping_address/zip_code",
    "/shipping_address/country_code",
    "/shipping_address/phone",
    "/billing_address/zip_code",
    "/refunds/0/identifier",
    "/refunds/0/note",
    "/refunds/0/created_at",
    "/refunds/0/rma_identifier",
    "/refunds/0/refund_line_items/0/identifier",
    "/refunds/0/refund_line_items/0/order_item_identifier",
];
const INTEGERS: [&str; 15] = [
    "/total_amount_cents",
    "/product_amount_cents",
    "/tax_amount_cents",
    "/discount_amount_cents",
    "/shipping_amount_cents",
    "/shipping_tax_amount_cents",
    "/items/0/quantity",
    "/items/0/quantity_shipped",
    "/items/0/quantity_canceled",
    "/items/0/product_amount_cents",
    "/items/0/tax_amount_cents",
    "/items/0/discount_amount_cents",
    "/items/0/unit_price_amount_cents",
    "/refunds/0/total_refund_amount_cents",
    "/refunds/0/refund_line_items/0/quantity",
];
const ARRAYS: [&str; 7] = ["/tags", "/items", "/items/0/tags", "/transactions", "/refunds", "/discounts", "/refunds/0/refund_line_items"];
const OBJECTS: [&str; 6] =
    ["/customer", "/shipping_address", "/billing_address", "/items/0", "/refunds/0", "/refunds/0/refund_line_items/0"];
const REQUIRED: [&str; 22] = [
    "/identifier",
    "/status",
    "/total_amount_cents",
    "/currency",
    "/created_at",
    "/updated_at",
    "/items",
    "/customer",
    "/transactions",
    "/refunds",
    "/discounts",
    "/items/0/identifier",
    "/items/0/sku",
    "/items/0/quantity",
    "/items/0/unit_price_amount_cents",
    "/refunds/0/identifier",
    "/refunds/0/total_refund_amount_cents",
    "/refunds/0/refund_line_items",
    "/refunds/0/created_at",
    "/refunds/0/refund_line_items/0/identifier",
    "/refunds/0/refund_line_items/0/quantity",
    "/refunds/0/refund_line_items/0/order_item_identifier",
];

#[tokio::test]
async fn every_field_has_its_type() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let wrong = [
        (&STRINGS[..], vec![json!(1), json!(true), json!([]), json!({})]),
        (&INTEGERS[..], vec![json!("1"), json!(1.5), json!(true), json!([])]),
        (&ARRAYS[..], vec![json!("x"), json!({}), json!(1)]),
        (&OBJECTS[..], vec![json!("x"), json!([]), json!(1)]),
        (&["/items/0/weight"][..], vec![json!("1.5"), json!([])]),
    ];
    for (fields, values) in wrong {
        for field in fields {
            for value in &values {
                let reply = merchant.checks(&bent(field, value.clone())).await;
                assert_eq!(reply.faults(), [format!("{} invalid_type", path(field))], "{field} = {value}");
            }
        }
    }
}

#[tokio::test]
async fn a_missing_required_field_is_named() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    for field in REQUIRED {
        assert_eq!(merchant.checks(&without(field)).await.faults(), [format!("{} missing_field", path(field))], "{field}");
        // The field is present, but null is the wrong type.
        assert_eq!(merchant.checks(&bent(field, Value::Null)).await.faults(), [format!("{} invalid_type", path(field))], "{field}");
    }
    assert_eq!(merchant.checks(&json!({})).await.faults(), ["returns_portal_order missing_field"]);
    assert_eq!(merchant.checks(&json!({ "returns_portal_order": {} })).await.faults(), ["returns_portal_order.orders missing_field"]);
}

#[tokio::test]
async fn every_other_field_may_be_left_out_null_or_empty() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    for field in STRINGS.iter().chain(&INTEGERS).chain(&ARRAYS).chain(&OBJECTS).chain(&["/items/0/weight"]) {
        let element = field.rsplit('/').next().is_some_and(|last| last.parse::<usize>().is_ok());
        if REQUIRED.contains(field) || element {
            continue;
        }
        assert_eq!(merchant.checks(&without(field)).await.status, 200, "{field}");
        let null = merchant.checks(&bent(field, Value::Null)).await;
        assert_eq!(null.status, 200, "{field}");
        // An empty text says the same, whatever the type of the field.
        let empty = merchant.checks(&bent(field, json!(""))).await;
        assert_eq!((empty.status, &empty.body), (null.status, &null.body), "{field}");
    }
    let smallest = json!({
        "identifier": "1", "status": "Created", "total_amount_cents": 0, "currency": "eur", "created_at": "2026-01-01", "updated_at": "2026-01-01",
        "items": [{ "identifier": "L", "sku": "S", "quantity": 1, "unit_price_amount_cents": 0 }],
        "customer": { "email": "pat@example.com" }, "transactions": [], "refunds": [], "discounts": [],
    });
    let reply = merchant.publishes(&message([smallest])).await;
    assert_eq!((reply.results(), reply.warnings().len()), (vec!["created"], 0));
}

#[tokio::test]
async fn what_is_left_out_counts_as_its_default() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    for field in [
        "/tax_amount_cents",
        "/discount_amount_cents",
        "/shipping_amount_cents",
        "/shipping_tax_amount_cents",
        "/items/0/product_amount_cents",
        "/items/0/tax_amount_cents",
        "/items/0/discount_amount_cents",
    ] {
        // An omitted amount is not checked itself, but counts as 0 in every sum.
        let others = |reply: &Reply| {
            let warnings = reply.body["warnings"].as_array().unwrap().iter();
            warnings.filter(|warning| warning["field"] != path(field)).cloned().collect::<Vec<_>>()
        };
        let (left_out, zero) = (merchant.checks(&without(field)).await, merchant.checks(&bent(field, json!(0))).await);
        assert_eq!(others(&left_out), others(&zero), "{field}");
    }
    let reply = merchant.checks(&without("/tax_amount_cents")).await;
    assert_eq!(reply.body["warnings"][0]["message"], "differs from product − discount + tax + shipping + shipping tax, which is 10000");
    for field in ["/tags", "/items/0/tags"] {
        let (left_out, empty) = (merchant.checks(&without(field)).await, merchant.checks(&bent(field, json!([]))).await);
        assert_eq!((left_out.results(), &left_out.body), (vec!["created"], &empty.body), "{field}");
    }
}

#[tokio::test]
async fn times_may_have_the_basic_form_of_iso_8601() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let as_of = |updated_at: &str, raw_status: &str| {
        let mut order = order("1");
        order["updated_at"] = updated_at.into();
        order["raw_status"] = raw_status.into();
        message([order])
    };
    assert_eq!(merchant.publishes(&as_of("2026-01-02T00:00:00Z", "one")).await.results(), ["created"]);
    for (updated_at, raw_status, result) in [
        ("20260102T000000Z", "the same time", "updated"),
        ("20260101T235959Z", "a second before", "stale"),
        ("20260102T0101+0100", "a minute later", "updated"),
        ("20260102T000200,5Z", "another minute later", "updated"),
        ("2026-01-02T00:02:00.400Z", "a little before", "stale"),
    ] {
        assert_eq!(merchant.publishes(&as_of(updated_at, raw_status)).await.results(), [result], "{raw_status}");
    }
}

#[tokio::test]
async fn a_byte_order_mark_before_a_body_is_skipped() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let marked = |body: &Value| format!("\u{feff}{body}");
    assert_eq!(merchant.publishes_text(marked(&message([order("1")]))).await.results(), ["created"]);
    assert_eq!(merchant.publishes(&message([order("1")])).await.results(), ["unchanged"]);
    assert_eq!(merchant.imports_text("", marked(&order("2"))).await.body["accepted"]["created"], 1);
    let posts = |path: &'static str, body: String| {
        merchant.calls(Method::POST, path, move |request| request.header("Content-Type", "application/json").body(body))
    };
    assert_eq!(posts("/oauth/token", marked(&merchant.credentials())).await.status, 200);
    assert_eq!(posts("/v1/returns", marked(&mail_back("2", 1))).await.status, 422, "it is read: the window is over");
    assert_eq!(posts("/v1/returns", format!("{}\u{feff}", mail_back("2", 1))).await.status, 400, "only before the body");
}

#[tokio::test]
async fn amounts_are_minor_units_of_whatever_currency() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    for (identifier, currency) in [("1", "USD"), ("2", "JPY"), ("3", "KWD")] {
        let mut sent = order(identifier);
        sent["currency"] = currency.into();
        sent["refunds"] = json!([plain_refund(&format!("F{identifier}"), 1)]);
        let reply = merchant.publishes(&message([sent])).await;
        assert_eq!((reply.results(), reply.warnings().len()), (vec!["created"], 0), "{currency}");
        assert_eq!(merchant.looks_up(identifier).await.body["refunds"][0]["total_refund_amount_cents"], 5_400, "{currency}");
    }
}

#[tokio::test]
async fn values_beyond_their_rule_are_invalid() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut cases: Vec<(&str, Value)> = INTEGERS.iter().map(|field| (*field, json!(-1))).collect();
    cases.extend([
        ("/total_amount_cents", json!(1_000_000_000_001_i64)),
        ("/items/0/quantity", json!(1_001)),
        ("/items/0/quantity", json!(1e300)),
        ("/items/0/weight", json!(-0.5)),
        ("/status", json!("shipped")),
        ("/status", json!("Returned")),
        ("/currency", json!("US")),
        ("/currency", json!("USDX")),
        ("/currency", json!("U$D")),
        ("/created_at", json!("yesterday")),
        ("/updated_at", json!("2026-02-30T00:00:00Z")),
        ("/items/0/shipped_date", json!("soon")),
        ("/items/0/delivered_date", json!("soon")),
        ("/refunds/0/created_at", json!("soon")),
        ("/identifier", json!("")),
        ("/identifier", json!("x".repeat(256))),
        ("/items", json!([])),
        ("/identifier", json!("a\u{0}b")),
        ("/items/0/title", json!("\u{0}")),
        ("/customer/email", json!("pat\u{0}@example.com")),
    ]);
    for (field, value) in cases {
        let reply = merchant.checks(&bent(field, value.clone())).await;
        assert_eq!(reply.faults(), [format!("{} invalid", path(field))], "{field} = {value}");
    }
}

#[tokio::test]
async fn nul_characters_are_refused_wherever_they_are() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut sent = order("1");
    sent["x"] = json!({ "y": ["\u{0}"], "a\u{0}": 1 });
    let mut faults = merchant.publishes(&message([sent])).await.faults();
    faults.sort();
    assert_eq!(faults, [format!("{ORDER}.x.y[0] invalid"), format!(r#"{ORDER}.x["a\u0000"] invalid"#)]);
    assert_eq!(merchant.looks_up("1").await.status, 404);
}

#[tokio::test]
async fn every_fault_is_told_at_once_and_rules_only_once_the_shape_is_right() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut first = order("1");
    first["items"][0].as_object_mut().unwrap().remove("sku");
    first["total_amount_cents"] = "x".into();
    first["items"][0]["quantity_shipped"] = json!(3);
    let mut second = order("2");
    second["status"] = "?".into();
    let reply = merchant.publishes(&message([first, second])).await;
    let mut faults = reply.faults();
    faults.sort();
    assert_eq!(
        faults,
        [
            "returns_portal_order.orders[0].items[0].sku missing_field",
            "returns_portal_order.orders[0].total_amount_cents invalid_type",
            "returns_portal_order.orders[1].status invalid",
        ]
    );
    assert_eq!(reply.body["message"], "The message has 3 faults, so nothing was stored. See errors for what to fix.");
    let fault = reply.body["errors"].as_array().unwrap().iter().find(|fault| fault["code"] == "invalid").unwrap();
    assert_eq!(fault["message"], r#"must be one of ["Created","Shipped","Cancelled","Canceled"]"#);

    let mut broken = order("1");
    broken["items"] = json!([line("L1", 2), line("L1", 2)]);
    broken["items"][1]["quantity_canceled"] = json!(1);
    broken["customer"] = json!({ "first_name": "Pat" });
    broken["refunds"] = json!([refund("F1", 3), refund("F1", 3)]);
    assert_eq!(
        merchant.publishes(&message([broken])).await.faults(),
        [
            "returns_portal_order.orders[0].items[1].identifier invalid",
            "returns_portal_order.orders[0].items[1].quantity_shipped invalid",
            "returns_portal_order.orders[0].customer.identifier missing_field",
            "returns_portal_order.orders[0].refunds[1].identifier invalid",
        ]
    );
}

#[tokio::test]
async fn the_customer_may_come_under_the_name_of_the_contract() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut sent = order("1");
    let customer = sent.as_object_mut().unwrap().remove("customer").unwrap();
    sent["the service"] = customer.clone();
    assert_eq!(merchant.publishes(&message([sent.clone()])).await.results(), ["created"]);
    sent["customer"] = customer;
    assert_eq!(merchant.publishes(&message([sent.clone()])).await.faults(), [format!("{ORDER}.customer invalid")]);
    sent.as_object_mut().unwrap().retain(|name, _| name != "customer");
    sent["the service"]["email"] = json!(5);
    assert_eq!(merchant.publishes(&message([sent])).await.faults(), [format!(r#"{ORDER}["the service"].email invalid_type"#)]);
}

#[tokio::test]
async fn both_spellings_of_cancelled_are_understood() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    for (identifier, status) in [("1", "Created"), ("2", "Shipped"), ("3", "Cancelled"), ("4", "Canceled")] {
        let mut sent = order(identifier);
        sent["status"] = status.into();
        assert_eq!(merchant.publishes(&message([sent])).await.results(), ["created"], "{status}");
    }
}

#[tokio::test]
async fn what_does_not_add_up_is_warned_about_and_stored() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut sent = order("1");
    sent["total_amount_cents"] = json!(10_799);
    sent["items"] = json!([line("L1", 2)]);
    sent["items"][0]["product_amount_cents"] = json!(9_999);
    sent["items"][0]["tax_amount_cents"] = json!(799);
    let mut full = plain_refund("F1", 2);
    full["total_refund_amount_cents"] = json!(10_900);
    sent["refunds"] = json!([full]);
    let reply = merchant.publishes(&message([sent])).await;
    assert_eq!(reply.results(), ["created"]);
    let warnings: Vec<String> = reply.body["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|warning| format!("{}: {}", warning["field"].as_str().unwrap(), warning["message"].as_str().unwrap()))
        .collect();
    insta::assert_snapshot!(warnings.join("\n"), @r"
    returns_portal_order.orders[0].total_amount_cents: differs from product − discount + tax + shipping + shipping tax, which is 10800
    returns_portal_order.orders[0].product_amount_cents: differs from the sum of the lines' product_amount_cents, which is 9999
    returns_portal_order.orders[0].tax_amount_cents: differs from the sum of the lines' tax_amount_cents, which is 799
    returns_portal_order.orders[0].items[0].product_amount_cents: differs from unit_price_amount_cents × quantity_shipped, which is 10000
    returns_portal_order.orders[0].refunds[0].total_refund_amount_cents: differs from the order's total_amount_cents, although every unit is refunded
    returns_portal_order.orders[0].refunds[0].total_refund_amount_cents: brings the refunds above the order's total_amount_cents
    ");
    assert_eq!(merchant.looks_up("1").await.body["warnings"], reply.body["warnings"]);
}

#[tokio::test]
async fn elements_of_transactions_and_discounts_are_free_objects() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut sent = order("1");
    sent["transactions"] = json!([{
        "identifier": "T1", "parent_identifier": null, "amount_cents": 10_800, "status": "success", "type": "capture", "gateway": "card",
        "created_at": "2026-01-05T10:00:00Z", "anything": ["else"],
    }, {}]);
    sent["discounts"] =
        json!([{ "identifier": "D1", "code": "SPRING", "amount_cents": 0, "type": "code", "created_at": "2026-01-05T10:00:00Z" }]);
    assert_eq!(merchant.publishes(&message([sent.clone()])).await.results(), ["created"]);
    sent["transactions"] = json!([{}, 5]);
    sent["discounts"] = json!(["SPRING"]);
    let mut faults = merchant.publishes(&message([sent])).await.faults();
    faults.sort();
    assert_eq!(faults, [format!("{ORDER}.discounts[0] invalid_type"), format!("{ORDER}.transactions[1] invalid_type")]);
}

#[tokio::test]
async fn malformed_json_is_a_bad_request_that_says_where() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let whole = message([order("1")]).to_string();
    let lone = whole.replace("Running shoe", "\\ud800");
    for (malformed, expected) in [
        ("", "ends unexpectedly"),
        ("{\"returns_portal_order\": ", "ends unexpectedly"),
        ("{'a': 1}", "not well-formed JSON (line 1, column 2)"),
        (&format!("{whole}x"), "not well-formed JSON"),
        (&lone, "not well-formed JSON"),
        (&"[".repeat(33), "exceeds the limit of 32 nesting levels"),
        (&format!("[{}0]", "0,".repeat(500_000)), "exceeds the limit of 500000 values"),
    ] {
        let reply = merchant.publishes_text(malformed).await;
        assert_eq!(reply.status, 400, "{}", reply.text);
        assert!(reply.body["message"].as_str().unwrap().contains(expected), "{}", reply.text);
        assert_eq!(reply.body["errors"], json!([]));
    }
    let latin = merchant.calls(Method::POST, "/returns_portal_orders", |request| request.body(b"{\"a\": \"\xe9\"}".to_vec())).await;
    assert_eq!(latin.status, 400);
    assert!(latin.text.contains("not valid UTF-8 from byte 7 on"), "{}", latin.text);
}

#[tokio::test]
async fn a_name_given_twice_is_refused() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let twice = message([order("1")]).to_string().replace(r#""currency":"USD""#, r#""currency":"USD","currency":"EUR""#);
    assert_eq!(merchant.publishes_text(twice).await.faults(), [format!("{ORDER}.currency invalid")]);
}

#[tokio::test]
async fn limits_are_named_when_they_are_exceeded() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let orders = |count: usize| message((0..count).map(|at| order(&at.to_string())));
    assert_eq!(merchant.checks(&orders(100)).await.results().len(), 100);
    let reply = merchant.checks(&orders(101)).await;
    assert_eq!(reply.faults(), ["returns_portal_order.orders invalid"]);
    assert_eq!(reply.body["errors"][0]["message"], "must have at most 100 elements");

    let lines = |count: usize| {
        let mut sent = order("1");
        sent["items"] = (0..count).map(|at| line(&at.to_string(), 1)).collect();
        message([sent])
    };
    assert_eq!(merchant.checks(&lines(1_000)).await.status, 200);
    let reply = merchant.checks(&lines(1_001)).await;
    assert_eq!(reply.faults(), [format!("{ORDER}.items invalid")]);
    assert_eq!(reply.body["errors"][0]["message"], "must have at most 1000 elements");

    let padded = |bytes: usize| {
        let text = message([order("1")]).to_string();
        format!("{text}{}", " ".repeat(bytes - text.len()))
    };
    assert_eq!(merchant.publishes_text(padded(5 * 1024 * 1024)).await.status, 200);
    let reply = merchant.publishes_text(padded(5 * 1024 * 1024 + 1)).await;
    assert_eq!(reply.status, 413);
    assert!(reply.body["message"].as_str().unwrap().contains("5 MiB"), "{}", reply.text);
}

#[tokio::test]
async fn of_very_many_faults_the_first_thousand_are_told() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let lines: Vec<Value> = (0..1_000).map(|_| json!({})).collect();
    let mut sent = order("1");
    sent["items"] = lines.into();
    let reply = merchant.checks(&message([sent.clone(), sent])).await;
    assert_eq!(reply.faults().len(), 1_000);
}

#[tokio::test]
async fn a_mere_check_stores_nothing() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut sent = order("1");
    sent["refunds"] = json!([refund("F1", 1)]);
    let reply = merchant.checks(&message([sent])).await;
    assert_eq!(reply.results(), ["created"]);
    assert_eq!(reply.body["message"], "1 order checked, nothing stored.");
    assert_eq!(merchant.looks_up("1").await.status, 404);
    merchant.checks(&json!({})).await.faults();
    let mut connection = world.database.connect().await;
    for table in ["customer_order", "refund", "refund_line", "intake_refusal"] {
        let rows: i64 =
            sqlx::query_scalar(sqlx::AssertSqlSafe(format!("select count(*) from {table}"))).fetch_one(&mut connection).await.unwrap();
        assert_eq!(rows, 0, "{table}");
    }
    let reply = merchant.calls(Method::POST, "/returns_portal_orders?validate_only=perhaps", |request| request.json(&json!({}))).await;
    assert_eq!(reply.status, 400);
}

#[tokio::test]
async fn a_message_is_stored_whole_or_not_at_all() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut wrong = order("2");
    wrong["currency"] = "dollars".into();
    merchant.publishes(&message([order("1"), wrong])).await.faults();
    assert_eq!(merchant.looks_up("1").await.status, 404);
}

#[tokio::test]
async fn the_answer_says_what_became_of_each_order() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let reply = merchant.publishes(&message([order("1"), order("2")])).await;
    assert_eq!(
        reply.body,
        json!({
            "message": "2 orders accepted.",
            "orders": [{ "identifier": "1", "result": "created" }, { "identifier": "2", "result": "created" }],
            "warnings": [],
        })
    );
    assert_eq!(reply.header("content-type"), "application/json");
}

#[tokio::test]
async fn a_request_with_the_headers_of_the_contract_is_taken() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let json = [("Content-Type", "application/json"), ("Accept", "application/json")];
    let with = |request: reqwest::RequestBuilder| json.into_iter().fold(request, |request, (name, value)| request.header(name, value));
    let reply = world.ask(Method::POST, "/oauth/token", |request| with(request).body(merchant.credentials().to_string())).await;
    assert_eq!((reply.status.as_u16(), reply.header("content-type")), (200, "application/json"));
    let token = format!("bearer {}", reply.body["access_token"].as_str().unwrap());
    let sent = message([order("1")]).to_string();
    let reply = world
        .ask(Method::POST, "/returns_portal_orders", |request| {
            with(request).header("Authorization", token).header("Api-Version", "3").body(sent)
        })
        .await;
    assert_eq!((reply.results(), reply.header("content-type")), (vec!["created"], "application/json"));
}

#[tokio::test]
async fn only_version_3_is_spoken() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let with = |version: &'static str| {
        let merchant = &merchant;
        async move {
            let sent = message([order("1")]);
            merchant.calls(Method::POST, "/returns_portal_orders", |request| request.header("Api-Version", version).json(&sent)).await
        }
    };
    assert_eq!(with("3").await.status, 200);
    for other in ["1", "2", "4", "3.0", "", "three"] {
        let reply = with(other).await;
        assert_eq!((reply.status.as_u16(), reply.header("api-version")), (400, "3"), "{other:?}");
    }
    let without = merchant.calls(Method::POST, "/returns_portal_orders", |request| request.json(&message([order("1")]))).await;
    assert_eq!((without.status.as_u16(), without.header("api-version")), (200, "3"), "the default version");
    let unauthorised = world.ask(Method::POST, "/returns_portal_orders", |request| request).await;
    assert_eq!((unauthorised.status.as_u16(), unauthorised.header("api-version")), (401, "3"), "on every response");
    assert_eq!(merchant.publishes(&json!({})).await.header("api-version"), "3");
}

#[tokio::test]
async fn refusals_are_kept_for_support() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut wrong = order("77");
    wrong["currency"] = "dollars".into();
    wrong["customer"]["email"] = "canary@example.com".into();
    let refused = merchant.publishes(&message([wrong])).await;
    let malformed = merchant.publishes_text("{").await;
    let kept = store::orders::refusals::list(world.app.cell(), merchant.id, None, 10).await.unwrap();
    let mut requests: Vec<&str> = kept.iter().map(|refusal| refusal.request_id.as_str()).collect();
    let mut answered = [refused.header("x-request-id"), malformed.header("x-request-id")];
    requests.sort_unstable();
    answered.sort_unstable();
    assert_eq!(requests, answered);
    let faulty = kept.iter().find(|refusal| refusal.request_id == refused.header("x-request-id")).unwrap();
    assert_eq!(faulty.order_identifiers, ["77"]);
    assert_eq!(serde_json::from_str::<Value>(&faulty.faults).unwrap(), refused.body["errors"]);
    assert!(!format!("{kept:?}").contains("canary"), "the message itself is not stored");
    assert_eq!(world.metric(r#"backhaul_order_messages_refused_total{result="faulty"}"#).await, 1);
    assert_eq!(world.metric(r#"backhaul_order_messages_refused_total{result="malformed"}"#).await, 1);
}
