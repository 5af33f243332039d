//! Merchants whose goods go to a warehouse, and the warehouse that receives them.

use backhaul::flow::messages::configure_endpoint::{EndpointChange, set_endpoint};
use backhaul::flow::warehouse::configure_place::{WarehouseChange, set_warehouse};
use domain::merchants::access::{Scope, Scopes};
use domain::messages::message::Interface;
use reqwest::Method;
use sandbox::merchant::{Merchant as Systems, Received};
use serde_json::{Value, json};

use super::warehouse::address;
use super::{Merchant, Reply, World};

/// The warehouse of every merchant with a yard.
pub const WAREHOUSE: &str = "WH-1";
const PATH: &str = "/inventory_receipt";

/// An ASN of one carton with these lines, numbered `1`, `2` and so on unless they have identifiers.
pub fn asn(number: &str, lines: &[Value]) -> Value {
    let named = |(at, line): (usize, &Value)| {
        let mut line = line.clone();
        if line["line_identifier"].is_null() {
            line["line_identifier"] = (at + 1).to_string().into();
        }
        line
    };
    json!({
        "asn_number": number, "shipment_identifier": "SHIP-1",
        "from": { "identifier": "STORE-7", "type": "store" }, "to": { "identifier": "MAIN", "type": "warehouse" },
        "cartons": [{ "details": lines.iter().enumerate().map(named).collect::<Vec<_>>() }],
    })
}

/// A line of `quantity` units of a SKU.
pub fn units_of(sku: &str, quantity: u32) -> Value {
    json!({ "sku": sku, "quantity": quantity })
}

/// A line of one identified unit.
pub fn the_unit(unit: &str) -> Value {
    json!({ "unit_identifier": unit, "sku": "SHOE" })
}

/// A scan of a unit that arrives for an ASN, identified by its license plate alone.
pub fn scan(number: &str, unit: &str) -> Value {
    json!({ "asn_number": number, "unit_identifier": unit, "warehouse_identifier": WAREHOUSE, "condition": "A" })
}

/// A scan of a unit that arrives for the line `L1` of a return, without an ASN.
pub fn scan_for(rma: &str, unit: &str) -> Value {
    let mut scanned = scan("", unit);
    scanned["asn_number"] = Value::Null;
    scanned["rma_identifier"] = rma.into();
    scanned["line_identifier"] = "L1".into();
    scanned
}

impl Merchant<'_> {
    pub async fn posts_asns(&self, asns: &[Value]) -> Reply {
        self.calls(Method::POST, "/v1/inbound_asns", |request| request.json(&json!({ "inbound_asns": asns }))).await
    }

    /// Announces an ASN with these lines.
    pub async fn announces(&self, number: &str, lines: &[Value]) {
        let reply = self.posts_asns(&[asn(number, lines)]).await;
        assert_eq!(reply.status, 201, "{}", reply.text);
    }

    pub async fn changes_asn(&self, number: &str, to: &Value) -> Reply {
        self.calls(Method::PUT, &format!("/v1/inbound_asns/{number}"), |request| request.json(to)).await
    }

    pub async fn cancels_asn(&self, number: &str) -> Reply {
        self.calls(Method::POST, &format!("/v1/inbound_asns/{number}/cancel"), |request| request).await
    }

    pub async fn closes_asn(&self, number: &str) -> Reply {
        self.calls(Method::POST, &format!("/v1/inbound_asns/{number}/close"), |request| request).await
    }

    /// The current state of an ASN.
    pub async fn looks_at_asn(&self, number: &str) -> Value {
        let reply = self.calls(Method::GET, &format!("/v1/inbound_asns/{number}"), |request| request).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.body
    }

    pub async fn posts_receipts(&self, units: &[Value]) -> Reply {
        self.calls(Method::POST, "/v1/receipts", |request| request.json(&json!({ "units": units }))).await
    }

    /// Receives units, and returns `result line` or `exception reason` for each.
    pub async fn scans(&self, units: &[Value]) -> Vec<String> {
        let reply = self.posts_receipts(units).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        let summary = |unit: &Value| {
            let more = ["line_identifier", "exception"].map(|name| unit[name].as_str()).into_iter().flatten().next().unwrap();
            format!("{} {more}", unit["result"].as_str().unwrap())
        };
        reply.body["units"].as_array().unwrap().iter().map(summary).collect()
    }

    /// Receives these units for the line `L1` of a return.
    pub async fn receives_for(&self, rma: &str, units: &[&str]) {
        let scanned: Vec<Value> = units.iter().map(|unit| scan_for(rma, unit)).collect();
        assert_eq!(self.scans(&scanned).await, vec!["received L1"; units.len()]);
    }

    pub async fn closes_return(&self, rma: &str) -> Reply {
        self.calls(Method::POST, &format!("/v1/expected_returns/{rma}/close"), |request| request).await
    }

    /// The expected returns.
    pub async fn expects(&self, query: &str) -> Value {
        let reply = self.calls(Method::GET, &format!("/v1/expected_returns{query}"), |request| request).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.body
    }

    /// The exceptions as `reason asn-or-return-or-parcel unit-or-line quantity settled`, sorted.
    pub async fn exceptions(&self, query: &str) -> Vec<String> {
        let reply = self.calls(Method::GET, &format!("/v1/receiving_exceptions{query}"), |request| request).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        let summary = |of: &Value| {
            let text = |name: &str| of[name].as_str().unwrap_or_default().to_owned();
            let about = if of["unit_identifier"].is_null() { text("line_identifier") } else { text("unit_identifier") };
            let settled = if of["resolved_at"].is_null() { "open" } else { "settled" };
            let target = ["asn_number", "rma_identifier", "tracking_number"].map(text).concat();
            format!("{} {target} {about} {} {settled}", text("exception"), of["quantity"])
        };
        let mut exceptions: Vec<String> = reply.body["items"].as_array().unwrap().iter().map(summary).collect();
        exceptions.sort();
        exceptions
    }

    /// Adds the warehouse [`WAREHOUSE`].
    pub async fn has_a_warehouse(&self) {
        let change = WarehouseChange { name: Some("Reno".to_owned()), address: Some(address("Dock 4")), ..WarehouseChange::default() };
        set_warehouse(&self.world.app, "test", self.id, &WAREHOUSE.parse().unwrap(), change).await.unwrap();
    }
}

/// A merchant with a warehouse and an endpoint for receipts.
pub struct Yard<'w> {
    pub merchant: Merchant<'w>,
    pub systems: Systems,
}

impl World {
    pub async fn yard(&self, handle: &str) -> Yard<'_> {
        let merchant = self.merchant(handle).await;
        self.yard_of(merchant).await
    }

    pub async fn yard_of<'w>(&'w self, merchant: Merchant<'w>) -> Yard<'w> {
        merchant.has_a_warehouse().await;
        let systems = Systems::start().await.unwrap();
        let change = EndpointChange { url: Some(systems.url(PATH)), per_second: Some(100_000), ..EndpointChange::default() };
        set_endpoint(&self.app, "test", merchant.id, Interface::InventoryReceipt, change).await.unwrap();
        Yard { merchant, systems }
    }

    /// A token of `merchant` with only this scope.
    pub async fn token_for(&self, merchant: &Merchant<'_>, scope: Scope) -> String {
        use backhaul::flow::merchants::configure_merchant::{Terms, issue_credential};
        use secrecy::ExposeSecret as _;
        let credential = issue_credential(&self.app, "test", merchant.id, &Terms::open(Scopes::from_iter([scope]), "")).await.unwrap();
        let secret = credential.client_secret.expose_secret();
        let body = json!({ "grant_type": "client_credentials", "client_id": credential.client_id, "client_secret": secret });
        self.asks_for_a_token(&body).await.body["access_token"].as_str().unwrap().to_owned()
    }
}

impl Yard<'_> {
    /// Delivers everything due, and returns the receipts since the last call.
    pub async fn gets(&self) -> Vec<Received> {
        self.merchant.world.deliver_all_due().await;
        let received = self.systems.received_at(PATH);
        self.systems.clear();
        received
    }

    /// The `unit line` of the same, sorted.
    pub async fn receives_events(&self) -> Vec<String> {
        let text = |body: &Value, name: &str| body[name].as_str().unwrap().to_owned();
        let receipts = self.gets().await.into_iter().map(|received| received.json());
        let mut receipts: Vec<String> =
            receipts.map(|body| format!("{} {}", text(&body, "unit_identifier"), text(&body, "line_identifier"))).collect();
        receipts.sort();
        receipts
    }
}
