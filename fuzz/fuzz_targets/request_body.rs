//! Reads arbitrary bytes as the body of every other request. Accepted bodies fit the published schema; refusals name a fault.

#![no_main]

use std::collections::HashMap;
use std::sync::LazyLock;

use jsonschema::Validator;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use wire::orders::order::Refusal;
use wire::returns::{api, carrier};
use wire::warehouse::{drop_ship, inbound, outbound_shipment, receiving};
use wire::{schema, time};

static SCHEMAS: LazyLock<HashMap<String, Validator>> = LazyLock::new(|| {
    let components = schema::components();
    let validator = |name: &String| {
        let document = json!({ "$ref": format!("#/components/schemas/{name}"), "components": { "schemas": components } });
        jsonschema::options()
            .with_format("date-time", |text: &str| time::read(text).is_some())
            .with_format("date", |text: &str| time::read_day(text).is_some())
            .should_validate_formats(true)
            .build(&document)
            .expect("a published schema")
    };
    components.keys().map(|name| (name.clone(), validator(name))).collect()
});

/// Removes fields with an empty text, which count as left out.
fn leave_out_empty(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| field.as_str() != Some(""));
            fields.values_mut().for_each(leave_out_empty);
        }
        Value::Array(elements) => elements.iter_mut().for_each(leave_out_empty),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn check<T>(body: &[u8], shape: &str, read: Result<T, Refusal>) -> Option<T> {
    match read {
        Ok(message) => {
            let body = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body);
            let mut value: Value = serde_json::from_slice(body).expect("an accepted body is JSON");
            leave_out_empty(&mut value);
            assert!(SCHEMAS[shape].is_valid(&value), "a body that does not fit {shape} was accepted");
            Some(message)
        }
        // Every refusal must name a fault, or the sender could not fix the message.
        Err(Refusal::Faulty(faults)) => {
            assert!(!faults.faults.is_empty(), "{shape} was refused without a fault");
            None
        }
        Err(Refusal::Malformed(_)) => None,
    }
}

fuzz_target!(|body: &[u8]| {
    if let Some(wanted) = check(body, "StartReturn", api::read(body)) {
        assert_eq!(wanted.choice().items.len(), wanted.items.0.len());
    }
    check(body, "CarrierEvent", carrier::read(body));
    check(body, "Receipts", receiving::read(body));
    check(body, "AnnounceInboundAsns", inbound::read(body));
    check(body, "CreateShipment", outbound_shipment::read_create(body));
    check(body, "ShipmentUnits", outbound_shipment::read_units(body));
    check(body, "ShipmentChange", outbound_shipment::read_change(body));
    check(body, "DropShipOrderOrOrders", drop_ship::read(body));
    check(body, "DropShipmentReport", drop_ship::read_ship(body));
    check(body, "DropShipCancelReport", drop_ship::read_cancel(body));
    check(body, "DropShipRejectReport", drop_ship::read_reject(body));
    check(body, "DropShipCancelItemsReport", drop_ship::read_cancel_items(body));
});
