//! Summaries of messages, as a merchant's system reads them.

use serde_json::Value;

use crate::merchant::Received;

/// The summary of a message about a return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The event, such as `rma.created`.
    pub event: String,
    pub rma: String,
    pub status: String,
    /// Set once there is a label.
    pub tracking_number: Option<String>,
    /// The tracking status, once there is a label.
    pub parcel: Option<String>,
    /// Set once the exchange order is placed.
    pub exchange_order: Option<String>,
}

impl Told {
    /// Reads a message. `None` if it is not about a return.
    #[must_use]
    pub fn read(received: &Received) -> Option<Self> {
        let body = received.json();
        let word = |value: &Value| value.as_str().map(str::to_owned);
        let of_first = |name: &str| body.pointer(&format!("/items/0/{name}")).and_then(word);
        Some(Self {
            event: received.header("x-service-event")?.to_owned(),
            rma: body.get("rma_identifier").and_then(word)?,
            status: body.get("status").and_then(word)?,
            tracking_number: of_first("tracking_number"),
            parcel: of_first("package_tracking_status"),
            exchange_order: of_first("exchange_order_identifier"),
        })
    }
}

/// The summary of a message about a drop-ship order, a received unit or an outbound shipment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldOfGoods {
    /// The event, such as `drop_shipment.confirmed`.
    pub event: String,
    /// The order or the ASN.
    pub subject: String,
    /// The status of the order or shipment, the tracking number of a drop shipment, or the received unit.
    pub what: String,
}

impl ToldOfGoods {
    /// Reads a message. `None` if it is about something else.
    #[must_use]
    pub fn read(received: &Received) -> Option<Self> {
        let body = received.json();
        let (object, subject, what) = match (body.get("shipment"), body.get("order")) {
            (Some(shipment), _) => (shipment, "client_identifier", "tracking_number"),
            (None, Some(order)) => (order, "client_identifier", "status"),
            (None, None) if body.get("unit_identifier").is_some() => (&body, "asn_number", "unit_identifier"),
            (None, None) => (&body, "asn_number", "status"),
        };
        let word = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self { event: received.header("x-service-event")?.to_owned(), subject: word(subject)?, what: word(what).unwrap_or_default() })
    }
}

/// The summary of a request for an exchange order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldOfExchange {
    /// Always `exchange_order.requested`.
    pub event: String,
    pub rma: String,
    /// The SKU of the first item.
    pub sku: String,
}

impl ToldOfExchange {
    /// Reads a message. `None` if it does not request an exchange order.
    #[must_use]
    pub fn read(received: &Received) -> Option<Self> {
        let body = received.json();
        let word = |at: &str| body.pointer(at).and_then(Value::as_str).map(str::to_owned);
        body.get("original_order_id")?;
        Some(Self { event: received.header("x-service-event")?.to_owned(), rma: word("/rma_identifier")?, sku: word("/items/0/sku")? })
    }
}
