//! The calls to merchants' systems as OpenAPI webhooks, one for each interface.

use domain::messages::message::Interface;
use serde_json::{Map, Value, json};
use utoipa::OpenApi;

use crate::examples;
use crate::messages::headers;
use crate::returns::exchange_order::ExchangeOrderMessage;
use crate::returns::rma::RmaMessage;
use crate::warehouse::drop_shipment::{DropShipmentCancellation, DropShipmentConfirmation, DropShipmentPartialCancellation};
use crate::warehouse::inventory_receipt::InventoryReceipt;
use crate::warehouse::outbound_asn::OutboundAsnMessage;

/// The messages, which no handler refers to.
#[derive(OpenApi)]
#[openapi(components(schemas(
    RmaMessage<'_>,
    ExchangeOrderMessage<'_>,
    OutboundAsnMessage<'_>,
    InventoryReceipt<'_>,
    DropShipmentConfirmation<'_>,
    DropShipmentCancellation<'_>,
    DropShipmentPartialCancellation<'_>,
)))]
struct Messages;

/// Keys that are omitted if they have no value; all others are always present.
const LEFT_OUT: [&str; 1] = ["giftee_email"];

/// The schemas of all messages, by name.
#[must_use]
pub fn schemas() -> Map<String, Value> {
    let document = serde_json::to_value(Messages::openapi()).unwrap_or_default();
    let schemas = document.pointer("/components/schemas").and_then(Value::as_object).cloned().unwrap_or_default();
    schemas.into_iter().map(|(name, schema)| (name, whole(schema))).collect()
}

/// Makes every key required; a key without a value is null.
fn whole(mut schema: Value) -> Value {
    let keys: Option<Vec<String>> =
        schema.get("properties").and_then(Value::as_object).map(|properties| properties.keys().cloned().collect());
    if let (Some(schema), Some(keys)) = (schema.as_object_mut(), keys) {
        let required: Vec<String> = keys.into_iter().filter(|key| !LEFT_OUT.contains(&key.as_str())).collect();
        schema.insert("required".to_owned(), required.into());
    }
    schema
}

/// The `webhooks` of the OpenAPI document: one per interface.
#[must_use]
pub fn webhooks() -> Value {
    Interface::ALL.into_iter().map(|interface| (interface.as_str().to_owned(), webhook(interface))).collect::<Map<_, _>>().into()
}

fn webhook(interface: Interface) -> Value {
    let path = interface.path();
    let mut called = match interface {
        Interface::Rma => posted("A return was started or has changed.", "RmaMessage"),
        Interface::ExchangeVariants => return json!({ "get": asked(interface) }),
        Interface::ExchangeOrder => {
            let mut operation =
                posted("A shopper takes another variant, a gift card, or both, instead of a refund.", "ExchangeOrderMessage");
            if let Some(ok) = operation.pointer_mut("/responses/200").and_then(Value::as_object_mut) {
                ok.insert(
                    "description".to_owned(),
                    "Placed. Any other 2xx counts too, with or without a body; name the order if you can.".into(),
                );
                ok.insert("content".to_owned(), json!({ "application/json": { "schema": placed(), "examples": example("PlacedOrder") } }));
            }
            operation
        }
        Interface::OutboundAsn => posted("A shipment out of the warehouse was announced or has changed.", "OutboundAsnMessage"),
        Interface::InventoryReceipt => posted("A unit was received against an inbound ASN.", "InventoryReceipt"),
        Interface::DropShipmentConfirmation => posted("A drop-ship order, or a part of it, was shipped.", "DropShipmentConfirmation"),
        Interface::DropShipmentCancellation => posted("A drop-ship order was cancelled or rejected.", "DropShipmentCancellation"),
        Interface::DropShipmentPartialCancellation => {
            posted("Units of a drop-ship order were cancelled.", "DropShipmentPartialCancellation")
        }
    };
    if let Some(called) = called.as_object_mut() {
        called.insert(
            "description".to_owned(),
            format!("Posted to `{path}` below the merchant's base URL, unless another URL has been agreed.").into(),
        );
        called.insert("operationId".to_owned(), operation_id(interface).into());
    }
    json!({ "post": called })
}

fn posted(summary: &str, schema: &str) -> Value {
    let header = |(name, description): &(&str, &str)| json!({ "name": name, "in": "header", "required": true, "description": description, "schema": { "type": "string" } });
    let headers = [
        (headers::ID, "Message id: the same in every attempt. Use it to recognise duplicates."),
        (headers::TIMESTAMP, "Time of the attempt, in seconds since 1970."),
        (headers::SIGNATURE, "Standard Webhooks: HMAC-SHA256 over `id.timestamp.body`."),
        (headers::EVENT, "Event name."),
        (headers::SEQUENCE, "Position within the subject. Apply a message only if it is higher than that of the last message you applied."),
        (headers::ATTEMPT, "Attempt number, from 1."),
    ];
    let trial = json!({ "name": headers::TRIAL, "in": "header", "required": false, "description": "`true` if the message is a trial, whose body is made up: accept it and do nothing. Absent otherwise.", "schema": { "type": "string" } });
    json!({
        "summary": summary,
        "tags": ["webhooks"],
        "parameters": headers.iter().map(header).chain([trial]).collect::<Vec<_>>(),
        "requestBody": {
            "required": true,
            "content": { "application/json": { "schema": { "$ref": format!("#/components/schemas/{schema}") }, "examples": example(schema) } },
        },
        "responses": {
            "200": { "description": "Accepted. Any other 2xx counts too; the body is stored for debugging." },
            "default": { "description": "Not accepted: retried five times, with exponential backoff." },
        },
    })
}

/// The name by which generated servers know the call, such as `receive_rma`.
fn operation_id(interface: Interface) -> String {
    let verb = if interface.is_asked() { "answer" } else { "receive" };
    format!("{verb}_{interface}")
}

/// A reference to an example.
fn example(name: &str) -> Value {
    json!({ "example": { "$ref": format!("#/components/examples/{name}") } })
}

/// The call that asks for variants.
fn asked(interface: Interface) -> Value {
    let path = interface.path();
    let variant = json!({
        "type": "object",
        "required": ["sku", "unit_price_amount_cents", "quantity_in_stock"],
        "properties": {
            "sku": { "type": "string" },
            "title": { "type": ["string", "null"] },
            "attributes": { "type": ["array", "null"], "items": { "type": "object", "required": ["name", "value"] } },
            "unit_price_amount_cents": { "type": "integer" },
            "quantity_in_stock": { "type": "integer" },
            "image_url": { "type": ["string", "null"] },
            "product_url": { "type": ["string", "null"] },
        },
    });
    let list = json!({ "type": "array", "items": variant });
    let object = json!({ "type": "object", "required": ["variants"], "properties": { "variants": list } });
    json!({
        "operationId": operation_id(interface),
        "summary": "Asks for the variants to offer a shopper for an even exchange.",
        "description": format!("Sent to `{path}` below the merchant's base URL, unless another template has been agreed. The answer must arrive within 3 seconds."),
        "tags": ["webhooks"],
        "parameters": [{
            "name": "variant_identifier", "in": "path", "required": true, "description": "Variant identifier of the order line.",
            "schema": { "type": "string" }, "example": examples::parameter("/sku/{variant_identifier}", "variant_identifier"),
        }],
        "responses": {
            "200": { "description": "The variants.", "content": { "application/json": { "schema": { "oneOf": [list, object] }, "examples": example("ExchangeVariants") } } },
            "default": { "description": "Nothing is offered; the call is not retried." },
        },
    })
}

/// The schema of a merchant's answer to an exchange order. It need not have a body.
fn placed() -> Value {
    let cents = json!({ "type": "integer" });
    json!({
        "type": "object",
        "properties": {
            "order_identifier": { "type": ["string", "integer"] },
            "total_amount_cents": cents, "product_amount_cents": cents, "tax_amount_cents": cents,
        },
    })
}
