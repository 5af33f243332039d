//! The test message that an operator sends to an endpoint.

use chrono::{DateTime, Utc};
use domain::messages::message::Interface;
use serde_json::json;

/// The event of a test message.
pub const EVENT: &str = "endpoint.test";

/// The body of a test message.
#[must_use]
pub fn body(interface: Interface, now: DateTime<Utc>) -> String {
    json!({ "event": EVENT, "interface": interface.as_str(), "sent_at": crate::time::write(now) }).to_string()
}
