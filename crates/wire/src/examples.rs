//! Examples of requests, answers and messages, for the OpenAPI document and the pages that are made of it. All are made up.
//!
//! Each area keeps its own in `examples.json`, by the name of their schema.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The examples of each area.
static AREAS: [&str; 5] = [
    include_str!("merchants/examples.json"),
    include_str!("messages/examples.json"),
    include_str!("orders/examples.json"),
    include_str!("returns/examples.json"),
    include_str!("warehouse/examples.json"),
];

/// Examples of the parameters in paths, by the parts of the path that they stand behind, the first that fits.
const PARAMETERS: [(&str, &str); 13] = [
    ("/v1/outbound_shipments/{asn_number}", "ASN-1042"),
    ("/v1/inbound_asns/{asn_number}", "ASN-1001"),
    ("/v1/expected_returns/{rma_identifier}", "R-7KQ4-XM92"),
    ("/v1/returns/{rma_identifier}", "R-F779-W5W2"),
    ("/v1/orders/{identifier}/lines/{line}", "2001-1"),
    ("/v1/orders/{identifier}", "2001"),
    ("/v1/drop_ship_orders/{client_identifier}", "4711"),
    ("/v1/exchange_orders/{original_order_id}", "A-1"),
    ("/v1/messages/{message_id}", "019caa00-5c00-7c3e-9d0f-0d3b1c2a4e5f"),
    ("/v1/order_imports/{import_id}", "01a1dcf7-7a80-7623-bd50-decb2c687a09"),
    ("/v1/work_items/{work_item_id}", "01a1ded7-1610-791f-a4ea-53ed39d4a816"),
    ("/v1/carrier_webhooks/{account}", "01a1ded7-2f75-721b-b3e3-760e69a5b4ec"),
    ("/sku/{variant_identifier}", "V-SHOE"),
];

/// The examples, by the name of their schema.
#[must_use]
pub fn all() -> Map<String, Value> {
    AREAS.iter().flat_map(|area| serde_json::from_str::<Map<String, Value>>(area).unwrap_or_default()).collect()
}

/// The example of a schema as people read it: its keys are in the order of the contract.
#[must_use]
pub fn text(schema: &str) -> Option<String> {
    let found = AREAS.iter().find_map(|area| serde_json::from_str::<BTreeMap<String, &RawValue>>(area).ok()?.remove(schema))?;
    // In its file it stands one level deeper.
    Some(found.get().replace("\n  ", "\n"))
}

/// An example of the parameter `name` of a path.
#[must_use]
pub fn parameter(path: &str, name: &str) -> Option<&'static str> {
    let placed = format!("{{{name}}}");
    let fits = |place: &str| place.ends_with(&placed) && path.starts_with(place);
    PARAMETERS.iter().find(|(place, _)| fits(place)).map(|(_, example)| *example)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_area_can_be_read_and_no_schema_has_two_examples() {
        let areas = AREAS.iter().map(|area| serde_json::from_str::<Map<String, Value>>(area).unwrap());
        let each: usize = areas.map(|area| area.len()).sum();
        assert!(each > 50);
        assert_eq!(all().len(), each);
    }

    #[test]
    fn an_example_is_shown_as_it_is_written() {
        assert_eq!(text("CarrierEventTaken").unwrap(), "{\n  \"result\": \"moved\",\n  \"rma_identifier\": \"R-F779-W5W2\"\n}");
        assert_eq!(text("Nothing"), None);
        for (name, example) in all() {
            assert_eq!(serde_json::from_str::<Value>(&text(&name).unwrap()).unwrap(), example, "{name}");
        }
    }

    #[test]
    fn a_parameter_is_known_by_its_place_in_the_path() {
        assert_eq!(parameter("/v1/outbound_shipments/{asn_number}/ship", "asn_number"), Some("ASN-1042"));
        assert_eq!(parameter("/v1/orders/{identifier}/lines/{line}/exchange_options", "line"), Some("2001-1"));
        assert_eq!(parameter("/v1/orders/{identifier}/lines/{line}/exchange_options", "identifier"), Some("2001"));
        assert_eq!(parameter("/v1/orders", "identifier"), None);
    }
}
