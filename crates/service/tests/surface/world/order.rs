//! Consistent orders for tests to modify.

use serde_json::{Value, json};

/// A message with these orders.
pub fn message(orders: impl IntoIterator<Item = Value>) -> Value {
    json!({ "returns_portal_order": { "orders": orders.into_iter().collect::<Vec<_>>() } })
}

/// A shipped order of two units on one line, with correct sums.
pub fn order(identifier: &str) -> Value {
    json!({
        "identifier": identifier,
        "raw_status": "COMPLETE",
        "status": "Shipped",
        "total_amount_cents": 10_800,
        "product_amount_cents": 10_000,
        "tax_amount_cents": 800,
        "discount_amount_cents": 0,
        "shipping_amount_cents": 0,
        "shipping_tax_amount_cents": 0,
        "currency": "USD",
        "tags": ["online"],
        "created_at": "2026-01-05T10:00:00Z",
        "updated_at": "2026-01-06T10:00:00Z",
        "items": [line("L1", 2)],
        "customer": { "identifier": "C1", "first_name": "Pat", "last_name": "Doe", "email": "pat@example.com", "phone": "555-0100" },
        "shipping_address": address(),
        "billing_address": address(),
        "transactions": [],
        "refunds": [],
        "discounts": [],
    })
}

fn address() -> Value {
    json!({ "name": "Pat Doe", "street1": "1 Main St", "city": "Springfield", "state": "NY", "zip_code": "10001", "country_code": "US", "phone": "555-0100" })
}

/// A shipped line of `quantity` units at 50.00 with 4.00 tax each.
pub fn line(identifier: &str, quantity: u32) -> Value {
    json!({
        "identifier": identifier,
        "sku": "SHOE-42",
        "upc": "012345678905",
        "quantity": quantity,
        "quantity_shipped": quantity,
        "quantity_canceled": 0,
        "tracking_number": "1Z0000000000000000",
        "shipped_date": "2026-01-06T09:00:00Z",
        "product_identifier": "P-42",
        "variant_identifier": "V-SHOE",
        "title": "Running shoe",
        "tags": [],
        "product_amount_cents": 5_000 * quantity,
        "tax_amount_cents": 400 * quantity,
        "discount_amount_cents": 0,
        "unit_price_amount_cents": 5_000,
        "image_url": "https://example.com/shoe.png",
        "weight": 1.5,
    })
}

/// A refund without its `rma_identifier`.
pub fn plain_refund(identifier: &str, units: u32) -> Value {
    let mut refund = refund(identifier, units);
    refund["rma_identifier"] = Value::Null;
    refund
}

/// A refund of `units` units of the line `L1`.
pub fn refund(identifier: &str, units: u32) -> Value {
    json!({
        "identifier": identifier,
        "total_refund_amount_cents": 5_400 * units,
        "refund_line_items": [{ "identifier": format!("{identifier}-1"), "quantity": units, "order_item_identifier": "L1" }],
        "note": "by card",
        "created_at": "2026-02-01T10:00:00Z",
        "rma_identifier": "R-AAAA-BBBB",
    })
}
