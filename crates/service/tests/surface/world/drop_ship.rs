//! Merchants whose orders a warehouse ships to the shopper.

use backhaul::flow::messages::configure_endpoint::{EndpointChange, set_endpoint};
use domain::messages::message::Interface;
use reqwest::Method;
use sandbox::merchant::{Merchant as Systems, Received};
use serde_json::{Value, json};

use super::{Merchant, Reply, World};

/// A drop-ship order with an item `L<n>` for each quantity, and otherwise only the required fields.
pub fn drop_ship(client_identifier: &str, quantities: &[u32]) -> Value {
    let item =
        |(at, quantity): (usize, &u32)| json!({ "client_identifier": format!("L{}", at + 1), "sku": "SHOE-42", "quantity": quantity });
    json!({
        "client_identifier": client_identifier,
        "shipping_address": { "name": "Pat Example", "street": "9 Example Street", "city": "Exampleton", "country": "US" },
        "order_items": quantities.iter().enumerate().map(item).collect::<Vec<_>>(),
    })
}

/// The same with every field that a merchant can set.
pub fn drop_ship_in_full(client_identifier: &str) -> Value {
    let mut order = drop_ship(client_identifier, &[2, 1]);
    let more = json!({
        "brand": "Acme", "channel": "webshop", "shipping_method": "GROUND", "price_cents": 15_000, "tax_cents": 1_200,
        "processing_fee_cents": 250, "shipping_cost_cents": 700, "shipping_tax_cents": 56, "comments": "Leave at the door.",
        "expected_delivery_date": "2026-03-09", "signature_required": true, "packing_slip_identifier": "PS-1",
        "billing_address": {
            "name": "Sam Example", "company": "Example Ltd", "telephone_number": "+1-555-0100", "street": "1 Example Road",
            "street2": "Floor 2", "city": "Exampleton", "state": "OH", "zip_code": "43001", "country": "US",
        },
    });
    let more_of_item = json!({
        "brand": "Acme", "condition": "N", "price_cents": 5_000, "tax_cents": 400, "shipping_cost_cents": 300,
        "shipping_tax_cents": 24, "comments": "In its box.",
    });
    order.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    order["order_items"][0].as_object_mut().unwrap().extend(more_of_item.as_object().unwrap().clone());
    order
}

fn units(units: &[(&str, u32)]) -> Value {
    units.iter().map(|(item, quantity)| json!({ "client_identifier": item, "quantity": quantity })).collect()
}

/// A report that these units were shipped.
pub fn shipment(identifier: &str, of: &[(&str, u32)]) -> Value {
    json!({ "shipment_identifier": identifier, "shipment_items": units(of) })
}

/// A report that these units were cancelled.
pub fn cancelled_items(identifier: &str, of: &[(&str, u32)]) -> Value {
    json!({ "cancellation_identifier": identifier, "order_items": units(of) })
}

impl Merchant<'_> {
    /// Submits drop-ship orders.
    pub async fn gives(&self, orders: &Value) -> Reply {
        self.calls(Method::POST, "/v1/drop_ship_orders", |request| request.json(orders)).await
    }

    /// Submits a new drop-ship order with an item for each quantity.
    pub async fn has_shipped(&self, client_identifier: &str, quantities: &[u32]) {
        let reply = self.gives(&drop_ship(client_identifier, quantities)).await;
        assert_eq!(reply.status, 201, "{}", reply.text);
    }

    /// Sends the warehouse's report on a drop-ship order: `ship`, `cancel`, `reject` or `cancel_items`.
    pub async fn warehouse_reports(&self, client_identifier: &str, what: &str, report: &Value) -> Reply {
        self.calls(Method::POST, &format!("/v1/drop_ship_orders/{client_identifier}/{what}"), |request| request.json(report)).await
    }

    /// The current state of a drop-ship order.
    pub async fn looks_at_drop_ship(&self, client_identifier: &str) -> Value {
        let reply = self.calls(Method::GET, &format!("/v1/drop_ship_orders/{client_identifier}"), |request| request).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.body
    }
}

/// A merchant with an endpoint for messages about drop-ship orders.
pub struct DropShipper<'w> {
    pub merchant: Merchant<'w>,
    pub systems: Systems,
}

impl World {
    pub async fn drop_shipper(&self, handle: &str) -> DropShipper<'_> {
        let merchant = self.merchant(handle).await;
        let systems = Systems::start().await.unwrap();
        for interface in
            [Interface::DropShipmentConfirmation, Interface::DropShipmentCancellation, Interface::DropShipmentPartialCancellation]
        {
            let change = EndpointChange { url: Some(systems.url(interface.path())), per_second: Some(10_000), ..EndpointChange::default() };
            set_endpoint(&self.app, "test", merchant.id, interface, change).await.unwrap();
        }
        DropShipper { merchant, systems }
    }
}

impl DropShipper<'_> {
    /// Delivers everything due, and returns the requests since the last call, by sequence.
    pub async fn receives(&self) -> Vec<Received> {
        self.merchant.world.deliver_all_due().await;
        let mut received = self.systems.received();
        self.systems.clear();
        received.sort_by_key(Received::sequence);
        received
    }

    /// The `path event sequence` of the same.
    pub async fn receives_events(&self) -> Vec<String> {
        let text = |received: &Received, name: &str| received.header(name).unwrap().to_owned();
        let line = |received: &Received| {
            format!("{} {} {}", received.path(), text(received, "x-service-event"), text(received, "x-service-sequence"))
        };
        self.receives().await.iter().map(line).collect()
    }
}
