//! Competing snapshots of an order, and the one that wins.

use serde_json::{Value, json};

use crate::world::{Merchant, World, line, message, order, refund};

/// An order as of `updated_at`, distinguished from others by `raw_status`.
fn snapshot(identifier: &str, updated_at: &str, raw_status: &str) -> Value {
    let mut order = order(identifier);
    order["updated_at"] = updated_at.into();
    order["raw_status"] = raw_status.into();
    order
}

async fn stored(merchant: &Merchant<'_>, identifier: &str) -> String {
    merchant.looks_up(identifier).await.body["order"]["raw_status"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_newest_snapshot_wins() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    assert_eq!(merchant.publishes(&message([snapshot("1", "2026-01-02T00:00:00Z", "two")])).await.results(), ["created"]);
    assert_eq!(merchant.publishes(&message([snapshot("1", "2026-01-03T00:00:00Z", "three")])).await.results(), ["updated"]);
    assert_eq!(merchant.publishes(&message([snapshot("1", "2026-01-01T00:00:00Z", "one")])).await.results(), ["stale"]);
    assert_eq!(stored(&merchant, "1").await, "three");
    assert_eq!(merchant.looks_up("1").await.body["revision"], 2);
}

#[tokio::test]
async fn of_two_with_the_same_time_the_later_arrival_wins() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.publishes(&message([snapshot("1", "2026-01-02T00:00:00Z", "first")])).await;
    assert_eq!(merchant.publishes(&message([snapshot("1", "2026-01-02T00:00:00Z", "second")])).await.results(), ["updated"]);
    assert_eq!(stored(&merchant, "1").await, "second");
    let the_same_time_elsewhere = snapshot("1", "2026-01-02T05:30:00+05:30", "third");
    assert_eq!(merchant.publishes(&message([the_same_time_elsewhere])).await.results(), ["updated"]);
}

#[tokio::test]
async fn the_same_content_again_changes_nothing() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.publishes(&message([snapshot("1", "2026-01-02T00:00:00Z", "one")])).await;
    let before = merchant.looks_up("1").await.text;
    assert_eq!(merchant.publishes(&message([snapshot("1", "2026-01-02T00:00:00Z", "one")])).await.results(), ["unchanged"]);
    assert_eq!(merchant.looks_up("1").await.text, before);
}

#[tokio::test]
async fn the_same_content_in_another_spelling_changes_nothing() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut order = snapshot("1", "2026-01-02T00:00:00Z", "one");
    order["items"][0]["weight"] = json!(2);
    order["extra"] = json!({ "b": [1, 2.50], "a": "Köln/Straße" });
    let message = message([order]);
    merchant.publishes(&message).await;
    let before = merchant.looks_up("1").await.text;
    let compact = message.to_string();
    for (how, spelled) in [
        ("white space", serde_json::to_string_pretty(&message).unwrap()),
        ("names in another order", backwards(&message)),
        ("numbers", compact.replace("\"weight\":2", "\"weight\":2.0").replace("10800", "1.08e4").replace("2.5]", "25E-1]")),
        ("characters", compact.replace('/', "\\/").replace('ö', "\\u00f6").replace("one", "\\u006fne")),
    ] {
        assert_ne!(spelled, compact, "{how}");
        assert_eq!(merchant.publishes_text(spelled.clone()).await.results(), ["unchanged"], "{how}");
        // A message with refunds, or only checked, takes another way.
        let checked = merchant
            .calls(reqwest::Method::POST, "/returns_portal_orders?validate_only=true", |request| {
                request.header("Content-Type", "application/json").body(spelled)
            })
            .await;
        assert_eq!(checked.results(), ["unchanged"], "{how}");
    }
    assert_eq!(merchant.looks_up("1").await.text, before);
    for (how, changed) in [
        ("a number", compact.replace("\"weight\":2", "\"weight\":2.01")),
        ("an unknown field", compact.replace("Köln", "Bonn")),
        ("the order of a list", compact.replace("[1,2.5]", "[2.5,1]")),
        ("one that no number type can hold", compact.replace("2.5]", "1e-99999]")),
    ] {
        assert_ne!(changed, compact, "{how}");
        assert_eq!(merchant.publishes_text(changed).await.results(), ["updated"], "{how}");
    }
}

/// The value with the names of every object in reverse order.
fn backwards(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().rev().map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), backwards(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        }
        Value::Array(elements) => format!("[{}]", elements.iter().map(backwards).collect::<Vec<_>>().join(",")),
        other => other.to_string(),
    }
}

#[tokio::test]
async fn an_order_twice_in_one_message_is_taken_in_the_order_of_the_message() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let orders = [
        snapshot("1", "2026-01-02T00:00:00Z", "second"),
        snapshot("2", "2026-01-01T00:00:00Z", "other"),
        snapshot("1", "2026-01-01T00:00:00Z", "first"),
        snapshot("1", "2026-01-02T00:00:00Z", "second"),
        snapshot("1", "2026-01-02T00:00:00Z", "third"),
    ];
    let reply = merchant.publishes(&message(orders)).await;
    assert_eq!(reply.results(), ["created", "created", "stale", "unchanged", "updated"]);
    assert_eq!(stored(&merchant, "1").await, "third");
}

#[tokio::test]
async fn an_order_is_given_back_exactly_as_it_was_sent() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let text = order("1").to_string().replacen('{', "{ \"zz_unknown\" : [1.50, {\"b\":1, \"a\":\"\\u00e9\\ud83d\\ude00\"}] ,\n\t", 1);
    let sent = format!("{{\"returns_portal_order\": {{\"orders\": [ {text} ]}}}}");
    assert_eq!(merchant.publishes_text(sent).await.results(), ["created"]);
    let reply = merchant.looks_up("1").await;
    assert!(reply.text.contains(&text), "{}", reply.text);
    assert_eq!(reply.body["received_at"], "2026-03-01T12:00:00Z");
    assert_eq!(reply.body["warnings"], json!([]));
}

/// A kind of event, and its change to the order.
type Event = (&'static str, fn(&mut Value));

#[tokio::test]
async fn history_and_every_kind_of_event_come_as_snapshots() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut sent = snapshot("1", "2025-09-01T10:00:00Z", "NEW");
    sent["created_at"] = "2025-09-01T10:00:00Z".into();
    sent["status"] = "Created".into();
    sent["items"] = json!([line("L1", 2), line("L2", 1)]);
    (sent["items"][0]["quantity_shipped"], sent["items"][1]["quantity_shipped"]) = (json!(0), json!(0));
    assert_eq!(merchant.publishes(&message([sent.clone()])).await.results(), ["created"], "history");
    let events: [Event; 6] = [
        ("shipment", |order| order["items"][0]["quantity_shipped"] = json!(2)),
        ("fulfilment", |order| (order["status"], order["items"][1]["quantity_shipped"]) = (json!("Shipped"), json!(1))),
        ("transaction", |order| order["transactions"] = json!([{ "identifier": "T1", "amount_cents": 15_000, "type": "capture" }])),
        ("adjustment", |order| (order["discount_amount_cents"], order["total_amount_cents"]) = (json!(500), json!(14_500))),
        ("line modification", |order| order["items"] = json!([line("L1", 3)])),
        ("refund", |order| order["refunds"] = json!([refund("F1", 1)])),
    ];
    for (day, (kind, happens)) in (1..).zip(events) {
        happens(&mut sent);
        sent["updated_at"] = format!("2026-02-0{day}T10:00:00Z").into();
        assert_eq!(merchant.publishes(&message([sent.clone()])).await.results(), ["updated"], "{kind}");
        assert_eq!(merchant.looks_up("1").await.body["order"], sent, "{kind}");
    }
    assert_eq!(merchant.looks_up("1").await.body["refunds"][0]["identifier"], "F1");
}

#[tokio::test]
async fn a_later_snapshot_replaces_the_whole_order() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.publishes(&message([order("1")])).await.results();
    let mut later = snapshot("1", "2026-02-01T10:00:00Z", "");
    later.as_object_mut().unwrap().retain(|name, _| name != "raw_status" && name != "shipping_address");
    later["items"] = json!([line("L2", 1)]);
    assert_eq!(merchant.publishes(&message([later.clone()])).await.results(), ["updated"]);
    assert_eq!(merchant.looks_up("1").await.body["order"], later, "nothing of the previous snapshot remains");
    let part = json!({ "identifier": "1", "status": "Cancelled", "updated_at": "2026-02-02T10:00:00Z" });
    merchant.publishes(&message([part])).await.faults();
    assert_eq!(merchant.looks_up("1").await.body["order"], later, "a partial order is refused");
}

#[tokio::test]
async fn an_identifier_may_hold_any_character() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    for identifier in ["a/b", "ü ñ", "pat@example.com", "100%", "#1", "a\"b\\c"] {
        assert_eq!(merchant.publishes(&message([order(identifier)])).await.results(), ["created"], "{identifier}");
        let path: String = identifier.bytes().map(|byte| format!("%{byte:02X}")).collect::<Vec<_>>().concat();
        let reply = merchant.looks_up(&path).await;
        assert_eq!((reply.status.as_u16(), &reply.body["identifier"]), (200, &json!(identifier)), "{path}");
    }
    assert_eq!(merchant.looks_up("a%00b").await.status, 404);
}

#[tokio::test]
async fn merchants_may_use_the_same_identifiers() {
    let world = World::new().await;
    let (acme, zeta) = (world.merchant("acme").await, world.merchant("zeta").await);
    acme.publishes(&message([snapshot("1", "2026-01-02T00:00:00Z", "acme's")])).await;
    assert_eq!(zeta.publishes(&message([snapshot("1", "2026-01-01T00:00:00Z", "zeta's")])).await.results(), ["created"]);
    assert_eq!((stored(&acme, "1").await, stored(&zeta, "1").await), ("acme's".to_owned(), "zeta's".to_owned()));
}

#[tokio::test]
async fn the_columns_that_are_searched_follow_the_snapshot() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut sent = order("1");
    sent["status"] = "Canceled".into();
    sent["items"] = json!([line("L1", 2)]);
    merchant.publishes(&message([sent])).await;
    let mut connection = world.database.connect().await;
    let row: (String, String, Vec<u8>, Vec<u8>) =
        sqlx::query_as("select status, placed_at::date::text, email_fingerprint, zip_fingerprint from customer_order")
            .fetch_one(&mut connection)
            .await
            .unwrap();
    assert_eq!((row.0.as_str(), row.1.as_str()), ("Cancelled", "2026-01-05"));
    assert_eq!(row.2, world.app.fingerprints.email("PAT@example.com "));
    assert_eq!(row.3, world.app.fingerprints.zip("10001-4321", Some("US")));
}
