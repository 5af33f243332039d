//! The exact JSON of messages about received units, key by key.

use sandbox::merchant::Received;
use serde_json::{Value, json};

use crate::world::{World, Yard, asn, scan, the_unit, units_of};

/// Every key of the contract, in its order.
const KEYS: &str = "program_identifier asn_number shipment_identifier from to carton_identifier reference line_identifier \
    reference_line_identifier unit_identifier sku upc serial_number initial_condition initial_channel return_reason user_login merchant \
    concept asin tracking_number location_identifier client_unit_identifier reject_reason";

impl Yard<'_> {
    /// The only message that arrived, one key per line.
    async fn message(&self) -> String {
        let received = self.gets().await;
        assert_eq!(received.len(), 1);
        let text = String::from_utf8(received[0].body().to_vec()).unwrap();
        let body: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(body.as_object().unwrap().len(), KEYS.split_whitespace().count());
        let mut from = 0;
        for key in KEYS.split_whitespace() {
            from += text[from..].find(&format!("\"{key}\":")).unwrap_or_else(|| panic!("{key} is missing or out of order: {text}")) + 1;
        }
        text.replace(",\"", ",\n\"").replace("{\"", "{\n\"")
    }
}

/// True for strings, null, and objects of only these.
fn only_strings(value: &Value) -> bool {
    match value {
        Value::String(_) | Value::Null => true,
        Value::Object(fields) => fields.values().all(only_strings),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => false,
    }
}

#[tokio::test]
async fn a_receipt_of_which_everything_is_known() {
    let world = World::new().await;
    let yard = world.yard("acme").await;
    let mut full = asn("A-1", &[the_unit("U-1")]);
    let more = json!({
        "reference_line_identifier": "L1", "client_unit_identifier": "C-1", "upc": "0001", "merchant": "Acme", "concept": "Acme Home",
        "asin": "B000000001", "serial_number": "SN-0", "return_reason": "TOO_SMALL",
    });
    full["cartons"][0]["details"][0].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    full["cartons"][0]["identifier"] = "BOX-1".into();
    full["cartons"][0]["reference"] = json!({ "type": "RA", "identifier": "RA-1", "alternate_identifier": "RA-1b" });
    for (name, value) in [("program_identifier", "P-1"), ("channel", "RTV"), ("tracking_number", "1Z1")] {
        full[name] = value.into();
    }
    assert_eq!(yard.merchant.posts_asns(&[full]).await.status, 201);
    let mut unit = scan("A-1", "LP-1");
    unit["client_unit_identifier"] = "C-1".into();
    for (name, value) in [
        ("channel", "Outlet"),
        ("condition", "TT"),
        ("serial_number", "SN-1"),
        ("return_reason", "DAMAGED"),
        ("reject_reason", "BROKEN"),
        ("user_login", "kim"),
        ("tracking_number", "1Z2"),
        ("location_identifier", "AISLE-3"),
    ] {
        unit[name] = value.into();
    }
    assert_eq!(yard.merchant.scans(&[unit]).await, ["received 1"]);
    insta::assert_snapshot!(yard.message().await);
}

#[tokio::test]
async fn a_receipt_of_which_little_is_known() {
    let world = World::new().await;
    let yard = world.yard("acme").await;
    yard.merchant.announces("A-1", &[units_of("SOCK", 1)]).await;
    let mut unit = scan("A-1", "LP-1");
    unit["sku"] = "SOCK".into();
    assert_eq!(yard.merchant.scans(&[unit]).await, ["received 1"]);
    insta::assert_snapshot!(yard.message().await);
}

#[tokio::test]
async fn what_was_announced_is_told_where_nothing_else_was_collected() {
    let world = World::new().await;
    let yard = world.yard("acme").await;
    let mut announced =
        asn("A-1", &[json!({ "unit_identifier": "U-1", "sku": "SHOE", "serial_number": "SN-0", "program_identifier": "P-2" })]);
    for (name, value) in [("program_identifier", "P-1"), ("channel", "RTV"), ("tracking_number", "1Z1")] {
        announced[name] = value.into();
    }
    assert_eq!(yard.merchant.posts_asns(&[announced]).await.status, 201);
    yard.merchant.scans(&[scan("A-1", "U-1")]).await;
    let body = yard.gets().await[0].json();
    let expected = [
        ("program_identifier", "P-2"),
        ("initial_channel", "RTV"),
        ("tracking_number", "1Z1"),
        ("serial_number", "SN-0"),
        ("unit_identifier", "U-1"),
    ];
    for (name, value) in expected {
        assert_eq!(body[name], value, "{name}");
    }
    assert!(only_strings(&body), "identifiers are strings: {body}");
}

#[tokio::test]
async fn every_condition_is_told_as_it_was_scanned() {
    let world = World::new().await;
    let yard = world.yard("acme").await;
    let conditions = ["N", "R", "A", "B", "C", "X", "TT"];
    yard.merchant.announces("A-1", &[units_of("SOCK", 7)]).await;
    let unit = |condition: &str| {
        let mut unit = scan("A-1", condition);
        unit["sku"] = "SOCK".into();
        unit["condition"] = condition.into();
        unit
    };
    yard.merchant.scans(&conditions.map(unit)).await;
    let bodies = yard.gets().await.iter().map(Received::json).collect::<Vec<_>>();
    assert_eq!(bodies.len(), 7);
    assert!(bodies.iter().all(|body| body["initial_condition"] == body["unit_identifier"]));
}
