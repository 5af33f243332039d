//! Sample requests: what an order system, a returns portal, a carrier and a warehouse send to the service.
//!
//! Each has only what is needed, with made-up values, so that a developer can change any of it. Names are made from the `name` that is
//! passed in.

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use serde_json::{Value, json};

/// The SKU of the sample goods, and the next size. The simulated merchant has both.
const SKU: &str = "RUN-42";
const NEXT_SIZE: &str = "RUN-43";
/// The price of a unit, and the tax on it.
const CENTS: u32 = 8_900;
const TAX_CENTS: u32 = 712;

fn time(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// The identifier of the only line of an order or of its only item.
fn line_of(name: &str) -> String {
    format!("{name}-1")
}

/// An order of `units` pairs of shoes that was shipped yesterday.
#[must_use]
pub fn order(name: &str, units: u32, now: DateTime<Utc>) -> Value {
    let (placed, shipped) = (time(now - TimeDelta::days(3)), time(now - TimeDelta::days(1)));
    json!({
        "identifier": name, "status": "Shipped", "currency": "USD",
        "total_amount_cents": (CENTS + TAX_CENTS) * units, "product_amount_cents": CENTS * units, "tax_amount_cents": TAX_CENTS * units,
        "created_at": placed, "updated_at": shipped,
        "customer": { "identifier": "pat@example.com", "email": "pat@example.com" },
        "shipping_address": {
            "name": "Pat Example", "street1": "9 Example Street", "city": "Exampleton", "state": "OH", "zip_code": "43001",
            "country_code": "US",
        },
        "items": [{
            "identifier": line_of(name), "sku": SKU, "title": "Running shoe", "variant_identifier": "RUN",
            "quantity": units, "quantity_shipped": units, "shipped_date": shipped, "unit_price_amount_cents": CENTS,
            "product_amount_cents": CENTS * units, "tax_amount_cents": TAX_CENTS * units, "weight": 0.8,
        }],
        "transactions": [], "refunds": [], "discounts": [],
    })
}

/// A refund of one unit of an order, for its return.
#[must_use]
pub fn refund(name: &str, order: &str, rma: &str, now: DateTime<Utc>) -> Value {
    json!({
        "identifier": name, "total_refund_amount_cents": CENTS + TAX_CENTS, "rma_identifier": rma, "created_at": time(now),
        "refund_line_items": [{ "identifier": line_of(name), "quantity": 1, "order_item_identifier": line_of(order) }],
    })
}

/// The order with these refunds, as the order system sends it at `now`.
#[must_use]
pub fn refunded(mut order: Value, refunds: &[Value], now: DateTime<Utc>) -> Value {
    if let Some(fields) = order.as_object_mut() {
        fields.insert("updated_at".to_owned(), time(now).into());
        fields.insert("refunds".to_owned(), refunds.into());
    }
    order
}

/// A request to return `units` units of an order.
#[must_use]
pub fn return_of(order: &str, units: u32, method: &str, reason: &str) -> Value {
    let item = json!({ "order_line_item_identifier": line_of(order), "quantity": units, "return_reason": reason });
    json!({ "order_identifier": order, "return_method": method, "items": [item] })
}

/// A request to exchange one unit of an order for the next size.
#[must_use]
pub fn exchange_of(order: &str, method: &str, reason: &str) -> Value {
    let item = json!({ "order_line_item_identifier": line_of(order), "return_reason": reason, "exchange_sku": NEXT_SIZE });
    json!({ "order_identifier": order, "return_method": method, "items": [item] })
}

/// A carrier's report on the parcel of a return.
#[must_use]
pub fn carrier_event(event: &str, rma: &str, tracking_number: &str, now: DateTime<Utc>) -> Value {
    json!({ "event": event, "rma_identifier": rma, "tracking_number": tracking_number, "occurred_at": time(now) })
}

/// An ASN of one unit for a warehouse.
#[must_use]
pub fn inbound_asn(name: &str) -> Value {
    json!({
        "asn_number": name, "shipment_identifier": format!("PO-{name}"),
        "from": { "identifier": "STORE-7", "type": "store" }, "to": { "identifier": "MAIN", "type": "warehouse" },
        "cartons": [{ "identifier": format!("BOX-{name}"), "details": [{ "line_identifier": "1", "sku": SKU, "quantity": 1 }] }],
    })
}

/// The message that announces these ASNs.
#[must_use]
pub fn inbound_asns(asns: &[Value]) -> String {
    json!({ "inbound_asns": asns }).to_string()
}

/// The message that these units have arrived.
#[must_use]
pub fn receipts(units: &[Value]) -> String {
    json!({ "units": units }).to_string()
}

/// A unit that arrives at a warehouse for an ASN.
#[must_use]
pub fn receipt(unit: &str, asn: &str, warehouse: &str) -> Value {
    json!({ "asn_number": asn, "unit_identifier": unit, "warehouse_identifier": warehouse, "sku": SKU, "condition": "A" })
}

/// A unit that arrives at a warehouse for a return of an order.
#[must_use]
pub fn receipt_for(unit: &str, rma: &str, order: &str, warehouse: &str) -> Value {
    let line = line_of(order);
    json!({ "rma_identifier": rma, "unit_identifier": unit, "warehouse_identifier": warehouse, "line_identifier": line, "condition": "A" })
}

/// A shipment from a warehouse to a vendor.
#[must_use]
pub fn shipment(name: &str, warehouse: &str, vendor: i64, now: DateTime<Utc>) -> Value {
    json!({
        "asn_number": name, "kind": "vendor", "from_warehouse": warehouse, "to_vendor": vendor, "channel": "RTV",
        "shipment_identifier": format!("PO-{name}"), "carrier": "Example Freight", "carrier_payment_type": "collect",
        "tracking_numbers": [format!("PRO-{name}")], "bol_number": format!("BOL-{name}"), "ship_date": time(now + TimeDelta::days(1)),
    })
}

/// The units of such a shipment: one.
#[must_use]
pub fn shipment_units(name: &str) -> Value {
    let unit = json!({ "line_identifier": "1", "program_identifier": "RTV", "unit_identifier": format!("LP-{name}"), "sku": SKU, "condition": "A" });
    json!({ "cartons": [{ "identifier": format!("PALLET-{name}"), "details": [unit] }] })
}

/// A shipment's new ship date.
#[must_use]
pub fn postponement(now: DateTime<Utc>) -> Value {
    json!({ "ship_date": time(now + TimeDelta::days(4)) })
}

/// A shipment's new carrier.
#[must_use]
pub fn other_transport(name: &str) -> Value {
    json!({ "carrier": "Other Freight", "tracking_numbers": [format!("PRO-{name}-2")] })
}

/// A drop-ship order of two units.
#[must_use]
pub fn drop_ship_order(name: &str) -> Value {
    json!({
        "client_identifier": name, "channel": "webshop",
        "shipping_address": {
            "name": "Pat Example", "street": "9 Example Street", "city": "Exampleton", "state": "OH", "zip_code": "43001", "country": "US",
        },
        "order_items": [{ "client_identifier": line_of(name), "sku": SKU, "quantity": 2, "price_cents": CENTS }],
    })
}

/// A warehouse's report that `units` units of a drop-ship order were shipped.
#[must_use]
pub fn drop_shipment(name: &str, units: u32) -> Value {
    let items = json!([{ "client_identifier": line_of(name), "quantity": units }]);
    json!({ "shipment_identifier": format!("SHIP-{name}"), "shipment_items": items })
}

/// A warehouse's report that a drop-ship order was cancelled or rejected.
#[must_use]
pub fn drop_ship_end(reason: &str) -> Value {
    json!({ "reject_reason": reason })
}

/// A warehouse's report that one unit of a drop-ship order was cancelled.
#[must_use]
pub fn cancelled_unit(name: &str) -> Value {
    let items = json!([{ "client_identifier": line_of(name), "quantity": 1 }]);
    json!({ "cancellation_identifier": format!("CANCEL-{name}"), "order_items": items })
}
