//! The orders that shoppers return: one line of several units, bought yesterday.

use std::net::SocketAddr;

use anyhow::{Context as _, ensure};
use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use serde_json::{Value, json};

use crate::orders::load::Connection;
use crate::stage::Stage;

/// The postal code of every order.
pub(super) const POSTCODE: &str = "10001";
/// Units of an order's only line: more than one, so that a second return is not refused for lack of units.
const SOLD: i64 = 3;
/// Orders per request.
const AT_ONCE: usize = 50;

/// The e-mail address of the shopper of an order.
pub(super) fn email(order: &str) -> String {
    format!("pat.{}@example.com", order.to_lowercase())
}

/// Publishes these orders of the stage's merchant `shop`.
pub(super) async fn publish(stage: &Stage, address: SocketAddr, shop: usize, orders: &[String]) -> anyhow::Result<()> {
    let token = stage.tokens.get(shop).context("there is no such merchant")?;
    let began = backhaul::platform::clock::Clock::system().now();
    let mut connection = Connection::open(address).await.context("the service cannot be reached")?;
    for chunk in orders.chunks(AT_ONCE) {
        let orders: Vec<Value> = chunk.iter().map(|order| sold(order, began)).collect();
        let body = json!({"returns_portal_order": {"orders": orders}}).to_string();
        let request = format!(
            "POST /returns_portal_orders HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nAccept: application/json\r\nApi-Version: 3\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let status = connection.exchange(request.as_bytes()).await;
        ensure!(status == Some(200), "publishing orders was answered with {status:?}: {}", String::from_utf8_lossy(connection.body()));
    }
    Ok(())
}

fn sold(identifier: &str, began: DateTime<Utc>) -> Value {
    let time = |time: DateTime<Utc>| time.to_rfc3339_opts(SecondsFormat::Secs, true);
    let bought = time(began - TimeDelta::days(1));
    let line = json!({
        "identifier": "L1", "sku": "SHOE-42", "quantity": SOLD, "quantity_shipped": SOLD, "quantity_canceled": 0,
        "shipped_date": bought, "title": "Running shoe", "tags": [], "product_amount_cents": 5_000 * SOLD,
        "tax_amount_cents": 400 * SOLD, "discount_amount_cents": 0, "unit_price_amount_cents": 5_000,
    });
    let address = json!({
        "name": "Pat Doe", "street1": "1 Main Street", "city": "Springfield", "state": "NY", "zip_code": POSTCODE,
        "country_code": "US", "phone": "555-0100",
    });
    json!({
        "identifier": identifier, "raw_status": "COMPLETE", "status": "Shipped", "total_amount_cents": 5_400 * SOLD,
        "product_amount_cents": 5_000 * SOLD, "tax_amount_cents": 400 * SOLD, "discount_amount_cents": 0, "shipping_amount_cents": 0,
        "shipping_tax_amount_cents": 0, "currency": "USD", "tags": [], "created_at": bought, "updated_at": time(began),
        "items": [line], "shipping_address": address,
        "customer": {"identifier": "C1", "first_name": "Pat", "last_name": "Doe", "email": email(identifier)},
        "transactions": [], "refunds": [], "discounts": [],
    })
}
