//! What merchants' systems are called with is published, and every message that a test has written down holds to it.

use std::collections::BTreeSet;
use std::path::Path;

use domain::messages::message::Interface;
use serde_json::{Value, json};

/// Which message the written-down messages of a test file are.
const WRITTEN_DOWN: [(&str, &str); 5] = [
    ("returns__messages", "rma"),
    ("returns__exchanges_messages", "exchange_order"),
    ("warehouse__outbound_messages", "outbound_asn"),
    ("warehouse__inbound_messages", "inventory_receipt"),
    ("warehouse__drop_ship_messages", ""),
];

fn document() -> Value {
    serde_json::from_str(backhaul::http::openapi::text()).unwrap()
}

/// The schema of a message, with all that it refers to.
fn schema(document: &Value, interface: &str) -> jsonschema::Validator {
    let pointer = format!("/webhooks/{interface}/post/requestBody/content/application~1json/schema");
    let mut schema = document.pointer(&pointer).unwrap_or_else(|| panic!("{interface} is not published")).clone();
    schema["components"] = document["components"].clone();
    jsonschema::validator_for(&schema).unwrap()
}

/// The interface of a written-down message on drop shipping, by what it is named.
fn drop_shipment(file: &str) -> &'static str {
    match file {
        _ if file.contains("confirmation") => "drop_shipment_confirmation",
        _ if file.contains("partial_cancellation") => "drop_shipment_partial_cancellation",
        _ => "drop_shipment_cancellation",
    }
}

/// The messages in a file; several stand one after the other, with a word on each between them.
fn messages(text: &str) -> Vec<Value> {
    let (_, text) = text.trim_start_matches("---").split_once("\n---\n").unwrap();
    let mut messages = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("{\n") {
        let mut stream = serde_json::Deserializer::from_str(&rest[at..]).into_iter::<Value>();
        match stream.next() {
            Some(Ok(message)) => {
                let read = stream.byte_offset();
                messages.push(message);
                rest = &rest[at + read..];
            }
            _ => rest = &rest[at + 1..],
        }
    }
    messages
}

#[test]
fn every_interface_of_the_contract_is_published() {
    let document = document();
    let published: BTreeSet<&str> = document["webhooks"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(published, Interface::ALL.iter().map(|interface| interface.as_str()).collect());
    assert_eq!(published.len(), 8);
    for interface in Interface::ALL.into_iter().filter(|interface| *interface != Interface::ExchangeVariants) {
        let faults: Vec<String> = schema(&document, interface.as_str()).iter_errors(&json!({})).map(|fault| fault.to_string()).collect();
        assert!(!faults.is_empty(), "{interface}: an empty message is none");
    }
}

#[test]
fn every_message_that_is_written_down_holds_to_its_published_schema() {
    let document = document();
    let mut seen = BTreeSet::new();
    let surface = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/surface");
    let folders = ["returns/snapshots", "warehouse/snapshots"].map(|folder| surface.join(folder));
    for entry in folders.iter().flat_map(|folder| folder.read_dir().unwrap()) {
        let (name, path) = (entry.as_ref().unwrap().file_name().into_string().unwrap(), entry.unwrap().path());
        let Some((of, interface)) = WRITTEN_DOWN.iter().find(|(of, _)| name.starts_with(&format!("surface__{of}__"))) else { continue };
        let interface = if interface.is_empty() { drop_shipment(&name) } else { interface };
        let schema = schema(&document, interface);
        let messages = messages(&std::fs::read_to_string(path).unwrap());
        assert!(!messages.is_empty(), "{name} has no message");
        for message in messages {
            let faults: Vec<String> = schema.iter_errors(&message).map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
            assert!(faults.is_empty(), "{name}: {faults:?}\n{message:#}");
        }
        seen.insert((*of, interface));
    }
    let of: BTreeSet<&str> = seen.iter().map(|(of, _)| *of).collect();
    assert_eq!(of.len(), WRITTEN_DOWN.len(), "every kind is written down: {seen:?}");
    assert_eq!(seen.len(), 7, "every message that is posted is written down: {seen:?}");
}
