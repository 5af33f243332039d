//! The test message that an operator sends to an endpoint: a trial.
//!
//! Its body has the shape of the interface's real messages, with made-up values, so that a system that reads it the usual way does not
//! stumble over it. That it is a trial is in the headers.

use chrono::{DateTime, Utc};
use domain::messages::message::Interface;

/// The event of a test message.
pub const EVENT: &str = "endpoint.test";

/// The value of the header that marks a test message.
pub const TRIAL: &str = "true";

/// The body of a test message at this time. An interface that is only queried gets none.
#[must_use]
pub fn body(interface: Interface, now: DateTime<Utc>) -> String {
    let sample = match interface {
        Interface::Rma => include_str!("endpoint_test/rma.json"),
        Interface::ExchangeOrder => include_str!("endpoint_test/exchange_order.json"),
        Interface::ExchangeVariants => "{}",
        Interface::OutboundAsn => include_str!("endpoint_test/outbound_asn.json"),
        Interface::InventoryReceipt => include_str!("endpoint_test/inventory_receipt.json"),
        Interface::DropShipmentConfirmation => include_str!("endpoint_test/drop_shipment_confirmation.json"),
        Interface::DropShipmentCancellation => include_str!("endpoint_test/drop_shipment_cancellation.json"),
        Interface::DropShipmentPartialCancellation => include_str!("endpoint_test/drop_shipment_partial_cancellation.json"),
    };
    let on_one_line: String = sample.lines().map(str::trim_start).collect();
    on_one_line.replace("{now}", &crate::time::write(now))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::messages::webhook::{schemas, webhooks};

    #[test]
    fn a_trial_has_the_shape_of_the_interfaces_messages_and_is_plainly_made_up() {
        for interface in Interface::ALL.into_iter().filter(|interface| !interface.is_asked()) {
            let text = body(interface, DateTime::UNIX_EPOCH);
            let sample: Value = serde_json::from_str(&text).unwrap();
            let hook = &webhooks()[interface.as_str()]["post"]["requestBody"]["content"]["application/json"]["schema"];
            let schema = json!({ "$ref": hook["$ref"], "components": { "schemas": schemas() } });
            let validator = jsonschema::validator_for(&schema).unwrap();
            let faults: Vec<String> = validator.iter_errors(&sample).map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
            assert_eq!(faults, Vec::<String>::new(), "{interface}");
            assert!(text.contains("TRIAL-") && !text.contains("{now}"), "{text}");
        }
    }
}
