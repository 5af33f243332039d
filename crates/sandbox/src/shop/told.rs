//! What a merchant's system understands of a message.

use serde_json::Value;

use crate::merchant::Received;

/// What a message on a return said, in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Why it was sent, such as `rma.created`.
    pub event: String,
    /// The return.
    pub rma: String,
    /// Where the return stands.
    pub status: String,
    /// The carrier's number, once there is a label.
    pub tracking_number: Option<String>,
    /// Where the parcel is, once there is a label.
    pub parcel: Option<String>,
    /// The exchange order, once it is placed.
    pub exchange_order: Option<String>,
}

impl Told {
    /// Reads a message; nothing if it is not about a return.
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

/// What a warehouse's message said, in short: on a drop-ship order, on a unit that came in or on goods that leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldOfGoods {
    /// Why it was sent, such as `drop_shipment.confirmed`.
    pub event: String,
    /// The order, or the ASN.
    pub subject: String,
    /// The status of the order or of the shipment, the carrier's number of a drop shipment, or the unit that came in.
    pub what: String,
}

impl ToldOfGoods {
    /// Reads a message; nothing if it is about something else.
    #[must_use]
    pub fn read(received: &Received) -> Option<Self> {
        let body = received.json();
        let (told, subject, what) = match (body.get("shipment"), body.get("order")) {
            (Some(shipment), _) => (shipment, "client_identifier", "tracking_number"),
            (None, Some(order)) => (order, "client_identifier", "status"),
            (None, None) if body.get("unit_identifier").is_some() => (&body, "asn_number", "unit_identifier"),
            (None, None) => (&body, "asn_number", "status"),
        };
        let word = |name: &str| told.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self { event: received.header("x-service-event")?.to_owned(), subject: word(subject)?, what: word(what).unwrap_or_default() })
    }
}

/// What a request for an exchange order said, in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldOfExchange {
    /// Why it was sent: `exchange_order.requested`.
    pub event: String,
    /// The return.
    pub rma: String,
    /// What is to be sent or credited first.
    pub sku: String,
}

impl ToldOfExchange {
    /// Reads a message; nothing if it does not ask for an exchange order.
    #[must_use]
    pub fn read(received: &Received) -> Option<Self> {
        let body = received.json();
        let word = |at: &str| body.pointer(at).and_then(Value::as_str).map(str::to_owned);
        body.get("original_order_id")?;
        Some(Self { event: received.header("x-service-event")?.to_owned(), rma: word("/rma_identifier")?, sku: word("/items/0/sku")? })
    }
}
