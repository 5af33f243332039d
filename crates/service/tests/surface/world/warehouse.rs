//! Merchants whose goods leave a warehouse.

use backhaul::flow::messages::configure_endpoint::{EndpointChange, set_endpoint};
use backhaul::flow::warehouse::configure_place::{TextChange, WarehouseChange, add_vendor, set_warehouse};
use domain::messages::message::Interface;
use domain::warehouse::place::Address;
use reqwest::Method;
use sandbox::merchant::Merchant as Systems;
use serde_json::{Value, json};

use super::{Merchant, Reply, World};

/// The path of the endpoint.
const PATH: &str = "/outbound_asn";

/// A merchant with the warehouses `WH-1` and `WH-2`, the vendor 1, and an endpoint for Outbound ASN messages.
pub struct Dock<'w> {
    pub merchant: Merchant<'w>,
    pub systems: Systems,
}

pub fn address(name: &str) -> Address {
    let word = |text: &str| text.to_owned();
    Address {
        name: word(name),
        company: None,
        street: word("7 Dock Rd"),
        street2: None,
        city: word("Reno"),
        state: word("NV"),
        zip: word("89501"),
    }
}

/// A freight shipment from `WH-1` to `WH-2`.
pub fn freight(number: &str) -> Value {
    json!({
        "asn_number": number,
        "kind": "freight",
        "from_warehouse": "WH-1",
        "to_warehouse": "WH-2",
        "channel": "RTS",
        "shipment_identifier": format!("PO-{number}"),
        "carrier": "Example Freight",
        "carrier_payment_type": "collect",
        "tracking_numbers": ["PRO-1", "PRO-2"],
        "bol_number": "BOL-1",
        "ship_date": "2026-03-04T08:00:00Z",
    })
}

/// The same as a stock transfer.
pub fn transfer(number: &str) -> Value {
    let mut wanted = freight(number);
    wanted["kind"] = "stock_transfer".into();
    wanted
}

/// The same to the vendor 1.
pub fn to_vendor(number: &str) -> Value {
    let mut wanted = freight(number);
    wanted["kind"] = "vendor".into();
    wanted["to_warehouse"] = Value::Null;
    wanted["to_vendor"] = 1.into();
    wanted
}

/// The unit `LP-<number>` on the line with that number.
pub fn unit(number: u32) -> Value {
    json!({
        "line_identifier": number.to_string(),
        "program_identifier": "P-1",
        "unit_identifier": format!("LP-{number}"),
        "sku": "SHOE-1",
        "condition": "N",
    })
}

/// A carton with these units.
pub fn carton(identifier: &str, units: impl IntoIterator<Item = u32>) -> Value {
    json!({ "identifier": identifier, "details": units.into_iter().map(unit).collect::<Vec<_>>() })
}

impl World {
    pub async fn dock(&self, handle: &str) -> Dock<'_> {
        let merchant = self.merchant(handle).await;
        let systems = Systems::start().await.unwrap();
        let change = EndpointChange { url: Some(systems.url(PATH)), per_second: Some(10_000), ..EndpointChange::default() };
        set_endpoint(&self.app, "test", merchant.id, Interface::OutboundAsn, change).await.unwrap();
        merchant.has_places().await;
        Dock { merchant, systems }
    }
}

impl Merchant<'_> {
    /// Adds the warehouses `WH-1` and `WH-2` and the vendor 1.
    pub async fn has_places(&self) {
        let app = &self.world.app;
        for (id, external, transfers) in [("WH-1", "0042", None), ("WH-2", "0043", Some("ST-43"))] {
            let change = WarehouseChange {
                name: Some(id.to_owned()),
                external_identifier: TextChange::Set(external.to_owned()),
                stock_transfer_identifier: transfers.map_or(TextChange::Keep, |word| TextChange::Set(word.to_owned())),
                address: Some(address(id)),
            };
            set_warehouse(app, "test", self.id, &id.parse().unwrap(), change).await.unwrap();
        }
        add_vendor(app, "test", self.id, "Bolt Co".to_owned(), address("Returns")).await.unwrap();
    }

    /// Requests a shipment.
    pub async fn ships(&self, wanted: &Value) -> Reply {
        self.calls(Method::POST, "/v1/outbound_shipments", |request| request.json(wanted)).await
    }

    /// Creates a freight shipment.
    pub async fn makes(&self, number: &str) {
        let reply = self.ships(&freight(number)).await;
        assert_eq!(reply.status, 201, "{}", reply.text);
    }

    /// Requests that units are added to a shipment.
    pub async fn packs(&self, number: &str, cartons: impl IntoIterator<Item = Value>) -> Reply {
        let body = json!({ "cartons": cartons.into_iter().collect::<Vec<_>>() });
        self.calls(Method::POST, &format!("/v1/outbound_shipments/{number}/units"), |request| request.json(&body)).await
    }

    /// Adds units to the carton `C-1` of a shipment, in as many calls as it takes.
    pub async fn adds(&self, number: &str, units: std::ops::Range<u32>) {
        let all: Vec<u32> = units.collect();
        for some in all.chunks(500) {
            let reply = self.packs(number, [carton("C-1", some.iter().copied())]).await;
            assert_eq!(reply.status, 200, "{}", reply.text);
        }
    }

    /// Requests `verb` of a shipment: announce, ship, deliver or cancel.
    pub async fn asks_to(&self, verb: &str, number: &str) -> Reply {
        self.calls(Method::POST, &format!("/v1/outbound_shipments/{number}/{verb}"), |request| request).await
    }

    /// The same, and expects it to succeed.
    pub async fn does(&self, verb: &str, number: &str) -> Value {
        let reply = self.asks_to(verb, number).await;
        assert_eq!(reply.status, 200, "{verb}: {}", reply.text);
        reply.body
    }

    /// Requests that a shipment ships, with what is known of its transport.
    pub async fn ships_with(&self, number: &str, said: &Value) -> Reply {
        self.calls(Method::POST, &format!("/v1/outbound_shipments/{number}/ship"), |request| request.json(said)).await
    }

    /// Requests another ship date or transport.
    pub async fn changes(&self, number: &str, change: &Value) -> Reply {
        self.calls(Method::PATCH, &format!("/v1/outbound_shipments/{number}"), |request| request.json(change)).await
    }

    /// Requests another ship date.
    pub async fn postpones(&self, number: &str, ship_date: &str) -> Reply {
        self.changes(number, &json!({ "ship_date": ship_date })).await
    }

    /// The current state of a shipment.
    pub async fn looks_at_shipment(&self, number: &str) -> Value {
        let reply = self.calls(Method::GET, &format!("/v1/outbound_shipments/{number}"), |request| request).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.body
    }
}

/// A message that arrived.
pub struct AsnMessage {
    pub event: String,
    pub sequence: String,
    pub version: String,
    pub text: String,
    pub body: Value,
}

impl Dock<'_> {
    /// Delivers everything due, and returns the messages since the last call, by number and sequence.
    pub async fn receives(&self) -> Vec<AsnMessage> {
        self.merchant.world.deliver_all_due().await;
        let received = self.systems.received_at(PATH);
        self.systems.clear();
        let mut messages: Vec<AsnMessage> = received
            .iter()
            .map(|received| AsnMessage {
                event: received.header("x-service-event").unwrap().to_owned(),
                sequence: received.header("x-service-sequence").unwrap().to_owned(),
                version: received.header("x-service-api-version").unwrap().to_owned(),
                text: String::from_utf8(received.body().to_vec()).unwrap(),
                body: received.json(),
            })
            .collect();
        let suffix = |message: &AsnMessage| {
            message.body["asn_number"].as_str().unwrap().rsplit('_').next().and_then(|last| last.parse::<u32>().ok())
        };
        messages.sort_by_key(|message| (message.sequence.parse::<i64>().unwrap(), suffix(message)));
        messages
    }

    /// The `number status sequence` of the same.
    pub async fn receives_events(&self) -> Vec<String> {
        let text = |message: &AsnMessage, name: &str| message.body[name].as_str().unwrap().to_owned();
        self.receives()
            .await
            .iter()
            .map(|message| format!("{} {} {}", text(message, "asn_number"), text(message, "status"), message.sequence))
            .collect()
    }
}

/// The units in a message, line by line.
pub fn lines(body: &Value) -> Vec<String> {
    let details = body["cartons"].as_array().unwrap().iter().flat_map(|carton| carton["details"].as_array().unwrap());
    details.map(|detail| detail["unit_identifier"].as_str().unwrap().to_owned()).collect()
}
