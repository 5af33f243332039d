//! The list of the published JSON Schemas of inbound messages.

use serde_json::{Map, Value, json};

use crate::orders::order::OrderMessage;
use crate::returns::api::{ConvertExchangeIn, StartReturnIn};
use crate::returns::carrier::CarrierEventIn;
use crate::returns::exchange_order::PlacedOrderIn;
use crate::returns::portal_link::PortalLinkIn;
use crate::shape::Shape as _;
use crate::warehouse::drop_ship::{self, CancelIn, CancelItemsIn, DropShipOrdersIn, RejectIn, ShipIn};
use crate::warehouse::inbound::InboundAsnsIn;
use crate::warehouse::outbound_shipment::{CreateShipmentIn, ShipmentChangeIn, UnitsIn};
use crate::warehouse::receiving::ReceiptsIn;

/// The schemas of inbound messages by name, for `components.schemas` of the OpenAPI document.
#[must_use]
pub fn components() -> Map<String, Value> {
    let mut components = Map::new();
    OrderMessage::define(&mut components);
    StartReturnIn::define(&mut components);
    PlacedOrderIn::define(&mut components);
    ConvertExchangeIn::define(&mut components);
    PortalLinkIn::define(&mut components);
    CarrierEventIn::define(&mut components);
    DropShipOrdersIn::define(&mut components);
    components.insert("DropShipOrderOrOrders".to_owned(), drop_ship::either());
    ShipIn::define(&mut components);
    CancelIn::define(&mut components);
    RejectIn::define(&mut components);
    CancelItemsIn::define(&mut components);
    CreateShipmentIn::define(&mut components);
    UnitsIn::define(&mut components);
    ShipmentChangeIn::define(&mut components);
    InboundAsnsIn::define(&mut components);
    ReceiptsIn::define(&mut components);
    components.values_mut().for_each(allow_empty);
    components
}

/// Adds to every optional field that it may be an empty text, which counts as absent.
fn allow_empty(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(allow_empty);
            let optional = fields.get("type").and_then(Value::as_array).is_some_and(|kinds| kinds.iter().any(|kind| kind == "null"));
            if optional && !is_any_text(fields) {
                let description = fields.remove("description");
                *schema = json!({ "anyOf": [fields, { "const": "" }] });
                if let (Some(schema), Some(description)) = (schema.as_object_mut(), description) {
                    schema.insert("description".to_owned(), description);
                }
            }
        }
        Value::Array(parts) => parts.iter_mut().for_each(allow_empty),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// True if an empty text is allowed already: a text without any rule.
fn is_any_text(fields: &Map<String, Value>) -> bool {
    let text = fields.get("type").and_then(Value::as_array).is_some_and(|kinds| kinds.iter().any(|kind| kind == "string"));
    text && fields.keys().all(|rule| ["type", "description", "maxLength"].contains(&rule.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_optional_field_may_be_an_empty_text_in_the_published_schema_too() {
        let schema = json!({ "$ref": "#/components/schemas/Order", "components": { "schemas": components() } });
        let published = jsonschema::validator_for(&schema).expect("a schema");
        let order = |product: Value, address: Value| {
            json!({
                "identifier": "1", "raw_status": "", "status": "Shipped", "total_amount_cents": 1, "product_amount_cents": product,
                "currency": "USD", "created_at": "2026-01-05T10:00:00Z", "updated_at": "2026-01-05T10:00:00Z",
                "customer": { "email": "pat@example.com" }, "billing_address": address, "transactions": [], "refunds": [],
                "discounts": [], "items": [{
                    "identifier": "1-1", "sku": "S", "quantity": 1, "unit_price_amount_cents": 1, "shipped_date": "", "weight": "", "tags": "",
                }],
            })
        };
        for order in [order("".into(), "".into()), order(Value::Null, Value::Null), order(1.into(), json!({ "city": "" }))] {
            assert!(
                published.is_valid(&order),
                "{order}: {:?}",
                published.iter_errors(&order).map(|error| error.to_string()).collect::<Vec<_>>()
            );
            assert!(crate::orders::order::read_one(order.to_string().as_bytes()).is_ok(), "{order}");
        }
        assert!(!published.is_valid(&order(" ".into(), Value::Null)), "any other text is no amount");
    }
}
